import { describe, expect, it } from "vitest";
import { shouldOfferInstall } from "#features/install/install-policy.ts";

const dayMs = 24 * 3_600_000;
const firstUsedAt = 1_000 * dayMs;

describe("the question whether to install the app", () => {
  it("comes on the third day", () => {
    const isOffered = (days: number) =>
      shouldOfferInstall({ firstUsedAt }, { sentMessages: 0, now: firstUsedAt + days * dayMs });
    expect([0, 1, 1.99, 2, 30].map(isOffered)).toEqual([false, false, false, true, true]);
  });
  it("comes earlier with the tenth sent message", () => {
    const isOffered = (sentMessages: number) => shouldOfferInstall({ firstUsedAt }, { sentMessages, now: firstUsedAt });
    expect([9, 10, 11].map(isOffered)).toEqual([false, true, true]);
  });
  it("does not come again within 90 days of an answer", () => {
    const answeredAt = firstUsedAt + 3 * dayMs;
    const isOffered = (days: number) =>
      shouldOfferInstall({ firstUsedAt, answeredAt }, { sentMessages: 50, now: answeredAt + days * dayMs });
    expect([0, 89.99, 90].map(isOffered)).toEqual([false, false, true]);
  });
  it("does not come again while the clock shows a time before the answer", () => {
    const history = { firstUsedAt, answeredAt: firstUsedAt + 3 * dayMs };
    expect(shouldOfferInstall(history, { sentMessages: 50, now: firstUsedAt + 2.5 * dayMs })).toBe(false);
  });
});
