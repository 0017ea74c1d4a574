import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type EndCardState, scheduleDismiss, shouldAskFeedback } from "#features/calls/end/end-card-timing.ts";

const short: EndCardState = { asksFeedback: shouldAskFeedback(20), stage: "asked", isPaused: false };
const long: EndCardState = { ...short, asksFeedback: shouldAskFeedback(21) };

describe("the card of an ended call", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const leavesAfter = (look: EndCardState): number | undefined => {
    let leftAt: number | undefined;
    const before = Date.now();
    const end = scheduleDismiss(look, () => {
      leftAt ??= Date.now() - before;
    });
    vi.advanceTimersByTime(120_000);
    end();
    return leftAt;
  };

  it("closes after ten seconds, or after twenty-five if it asks for feedback", () => {
    expect(leavesAfter({ ...short, asksFeedback: shouldAskFeedback(0) })).toBe(10_000);
    expect(leavesAfter(short)).toBe(10_000);
    expect(leavesAfter(long)).toBe(25_000);
    expect(leavesAfter({ ...long, stage: "judging" })).toBe(25_000);
  });

  it("stays while the user interacts with it or cannot see it, and then has its whole time", () => {
    expect(leavesAfter({ ...short, isPaused: true })).toBeUndefined();
    const leave = vi.fn();
    const touched = scheduleDismiss(long, leave);
    vi.advanceTimersByTime(24_999);
    touched();
    const released = scheduleDismiss({ ...long, isPaused: true }, leave);
    vi.advanceTimersByTime(60_000);
    released();
    scheduleDismiss(long, leave);
    vi.advanceTimersByTime(24_999);
    expect(leave).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(leave).toHaveBeenCalledOnce();
  });

  it("shows thanks for feedback for a moment, even during interaction", () => {
    for (const isHeld of [false, true])
      expect(leavesAfter({ ...long, stage: "thanked", isPaused: isHeld })).toBe(1_500);
  });
});
