import { describe, expect, it } from "vitest";
import { HoldGesture } from "#features/chat/voice/hold-gesture.ts";

const at = (timeStamp: number, clientX = 300, clientY = 700) => ({ timeStamp, clientX, clientY });

describe("a finger on the microphone", () => {
  it("sends when lifted where it was put down, or slightly beside", () => {
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(3_000))).toBe("send");
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(3_000, 270, 670))).toBe("send");
    expect(new HoldGesture(at(1_000)).getDragAction(at(2_000, 340, 710))).toBe("none");
  });

  it("counts as a tap when lifted at once, wherever the tap ends", () => {
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(1_080))).toBe("tap");
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(1_200, 100))).toBe("tap");
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(1_400))).toBe("send");
  });

  it("locks upwards and cancels towards the trash, even without move events in between", () => {
    expect(new HoldGesture(at(1_000)).getDragAction(at(2_000, 300, 600))).toBe("lock");
    expect(new HoldGesture(at(1_000)).getDragAction(at(2_000, 180))).toBe("cancel");
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(2_000, 300, 600))).toBe("lock");
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(2_000, 180))).toBe("cancel");
    expect(new HoldGesture(at(1_000)).getReleaseAction(at(2_000, 150, 600))).toBe("cancel"); // more sideways than up
  });
});
