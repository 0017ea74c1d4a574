import { describe, expect, it } from "vitest";
import { estimateHeight, placementOf } from "../../src/features/chat/time-line";
import type { ChatItem } from "../../src/sync/hooks";

const noon = new Date(2026, 10, 20, 12, 0).getTime();
const minute = 60_000;
const makeItem = (change: Partial<ChatItem> = {}): ChatItem => ({
  key: "k",
  seq: 1,
  mine: false,
  sender: 0,
  at: noon,
  body: { type: "text", text: "Mbote" },
  status: "read",
  ...change,
});

describe("a message and the newer one below it", () => {
  it("joins one person's messages of the same few minutes, sent or not yet", () => {
    const pending = makeItem({ mine: true, at: noon + minute });
    delete pending.sender;
    const joined = { endsDay: false, endsGroup: false };
    expect(placementOf(makeItem({ mine: true, sender: 1 }), pending)).toEqual(joined);
    expect(placementOf(makeItem(), makeItem({ at: noon + minute }))).toEqual(joined);
  });

  it("stands apart from another person, after a pause and at the end", () => {
    const apart = { endsDay: false, endsGroup: true };
    expect(placementOf(makeItem(), makeItem({ mine: true }))).toEqual(apart);
    expect(placementOf(makeItem(), makeItem({ sender: 2 }))).toEqual(apart);
    expect(placementOf(makeItem(), makeItem({ at: noon + 6 * minute }))).toEqual(apart);
    expect(placementOf(makeItem(), undefined)).toEqual(apart);
  });

  it("is the last of its day when the next comes after midnight, however soon", () => {
    const midnight = new Date(2026, 10, 20).getTime();
    const last = makeItem({ at: midnight - 1 });
    expect(placementOf(last, makeItem({ at: midnight }))).toEqual({ endsDay: true, endsGroup: true });
  });
});

describe("the expected height of a message", () => {
  const place = { endsDay: false, endsGroup: false };
  const heightOf = (text: string, listPx = 360) =>
    estimateHeight(makeItem({ body: { type: "text", text } }), place, listPx);

  it("grows with lines, written or wrapped, and with a narrower list", () => {
    expect(heightOf("Mbote")).toBe(40);
    expect(heightOf("un\ndeux\ntrois")).toBe(85);
    expect(heightOf("mot ".repeat(100))).toBeGreaterThan(heightOf("mot ".repeat(100), 1280));
  });
});
