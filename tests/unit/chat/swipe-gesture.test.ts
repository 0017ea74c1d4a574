import { describe, expect, it } from "vitest";
import { SwipeGesture } from "#features/chat/reply/swipe-gesture.ts";

const at = (clientX: number, clientY = 300) => ({ clientX, clientY });

describe("a swipe on a message", () => {
  it("moves the message with the finger, and is a reply from 48 pixels on", () => {
    const gesture = new SwipeGesture(at(100));
    expect(gesture.move(at(108))).toBeUndefined();
    expect(gesture.move(at(147))).toBe(47);
    expect(gesture.isReply).toBe(false);
    expect(gesture.move(at(148))).toBe(48);
    expect(gesture.isReply).toBe(true);
    expect(gesture.move(at(300))).toBe(64);
    expect(gesture.isReply).toBe(true);
    expect(gesture.move(at(110))).toBe(10);
    expect(gesture.isReply).toBe(false);
  });

  it("is a scroll if it begins more vertically, whatever follows", () => {
    const gesture = new SwipeGesture(at(100));
    expect(gesture.move(at(110, 320))).toBeUndefined();
    expect(gesture.move(at(200, 320))).toBeUndefined();
    expect(gesture.isReply).toBe(false);
  });

  it("is ignored to the left and from the edge of the screen, where the browser goes back", () => {
    const left = new SwipeGesture(at(200));
    left.move(at(100));
    const edge = new SwipeGesture(at(10));
    edge.move(at(100));
    expect([left.isReply, edge.isReply]).toEqual([false, false]);
  });
});
