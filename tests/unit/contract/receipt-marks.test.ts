import { describe, expect, test } from "vitest";
import {
  findReceiptTime,
  receiptMarksMax,
  recordReceiptMarks,
} from "#worker/objects/conversation/messages/receipt-marks.ts";

/** Marks after the delivered watermark reached each seq at its time. */
const recordDelivered = (steps: readonly (readonly [seq: number, at: number])[], from = 0): string | null => {
  let [stored, delivered]: [string | null, number] = [null, from];
  for (const [seq, at] of steps) {
    stored = recordReceiptMarks(stored, { delivered, read: 0 }, { delivered: seq, read: 0 }, at);
    delivered = seq;
  }
  return stored;
};
const find = (stored: string | null, seq: number) => findReceiptTime(stored, "delivered", seq);

describe("the time of a message's receipt", () => {
  test("is that of the first advance at or beyond it", () => {
    const stored = recordDelivered([
      [2, 100],
      [5, 200],
    ]);
    expect([1, 2, 3, 5].map((seq) => find(stored, seq))).toEqual([
      { at: 100, isExact: true },
      { at: 100, isExact: true },
      { at: 200, isExact: true },
      { at: 200, isExact: true },
    ]);
    expect(findReceiptTime(stored, "read", 1)).toEqual({ at: null, isExact: false });
  });

  test("is an upper bound for messages that were delivered before times were recorded", () => {
    const stored = recordDelivered([[5, 200]], 3);
    expect(find(stored, 3)).toEqual({ at: 200, isExact: false });
    expect(find(stored, 4)).toEqual({ at: 200, isExact: true });
  });

  test("never decreases when the clock is set back", () => {
    const stored = recordDelivered([
      [1, 500],
      [2, 400],
    ]);
    expect(find(stored, 2)).toEqual({ at: 500, isExact: true });
  });
});

describe("many advances", () => {
  const day = 86_400_000;
  // Bursts of three messages a minute apart, a burst a day.
  const steps = Array.from({ length: 90 }, (_, n) => [n + 1, Math.floor(n / 3) * day + (n % 3) * 60_000] as const);
  const stored = recordDelivered(steps);

  test("keep a bounded number of marks, of which the newest are exact", () => {
    expect((JSON.parse(stored ?? "{}") as { delivered: unknown[] }).delivered).toHaveLength(receiptMarksMax);
    for (const [seq, at] of steps.slice(-16)) expect(find(stored, seq)).toEqual({ at, isExact: true });
  });

  test("give an upper bound for merged ones, close to the time while there was little to choose from", () => {
    for (const [seq, at] of steps) {
      const time = find(stored, seq);
      expect(time.at).toBeGreaterThanOrEqual(at);
      if (!time.isExact) expect(time.at).toBeGreaterThan(at);
      else expect(time.at).toBe(at);
    }
    const lateness = (seq: number) => (find(stored, seq).at ?? 0) - (steps[seq - 1]?.[1] ?? 0);
    // Marks of one burst are merged before bursts are.
    expect(lateness(70)).toBeLessThanOrEqual(2 * 60_000);
    expect(steps.some(([seq]) => lateness(seq) > 0)).toBe(true);
  });
});
