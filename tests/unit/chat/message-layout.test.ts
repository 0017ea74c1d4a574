import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import {
  estimateMessageHeight,
  type MessagePlacement,
  toMessagePlacement,
} from "#features/chat/message/message-layout.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

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

const alone: MessagePlacement = { endsDay: false, endsRun: true, hasAvatarColumn: false, hasSenderName: false };

describe("a message and the newer one below it", () => {
  it("groups one person's messages of the same few minutes, sent or not yet", () => {
    const pending = makeItem({ mine: true, at: noon + minute });
    delete pending.sender;
    const joined = { ...alone, endsRun: false };
    expect(toMessagePlacement(makeItem({ mine: true, sender: 1 }), pending)).toEqual(joined);
    expect(toMessagePlacement(makeItem(), makeItem({ at: noon + minute }))).toEqual(joined);
  });

  it("is separated from another person's, after a pause and at the end", () => {
    const apart = alone;
    expect(toMessagePlacement(makeItem(), makeItem({ mine: true }))).toEqual(apart);
    expect(toMessagePlacement(makeItem(), makeItem({ sender: 2 }))).toEqual(apart);
    expect(toMessagePlacement(makeItem(), makeItem({ at: noon + 6 * minute }))).toEqual(apart);
    expect(toMessagePlacement(makeItem(), undefined)).toEqual(apart);
  });

  it("is the last of its day if the next one comes after midnight, however soon", () => {
    const midnight = new Date(2026, 10, 20).getTime();
    const last = makeItem({ at: midnight - 1 });
    expect(toMessagePlacement(last, makeItem({ at: midnight }))).toEqual({ ...alone, endsDay: true });
  });
});

describe("the entry of a call", () => {
  it("is grouped like any message of its caller", () => {
    const body = { type: "call", id: createUuid(), kind: "audio", status: "missed", seconds: 0 } as const;
    expect(toMessagePlacement(makeItem({ body }), makeItem({ at: noon + minute })).endsRun).toBe(false);
    expect(toMessagePlacement(makeItem({ body }), makeItem({ mine: true })).endsRun).toBe(true);
  });
});

describe("a message in a group", () => {
  const inGroup = (older?: ChatItem) => ({ older });
  const event = makeItem({ body: { type: "event", event: "left" } });

  it("shows its author's name at the start of a group of messages, and leaves room for the picture", () => {
    expect(toMessagePlacement(makeItem(), undefined, inGroup())).toEqual({
      ...alone,
      hasAvatarColumn: true,
      hasSenderName: true,
    });
    const second = toMessagePlacement(makeItem(), undefined, inGroup(makeItem()));
    expect(second).toEqual({ ...alone, hasAvatarColumn: true, hasSenderName: false });
    expect(toMessagePlacement(makeItem(), undefined, inGroup(makeItem({ sender: 3 }))).hasSenderName).toBe(true);
  });

  it("shows neither name nor picture if it is one's own or a system message", () => {
    expect(toMessagePlacement(makeItem({ mine: true }), undefined, inGroup())).toEqual(alone);
    expect(toMessagePlacement(event, undefined, inGroup())).toEqual(alone);
  });

  it("starts a new group after a system message, and ends one before it", () => {
    expect(toMessagePlacement(makeItem(), event, inGroup(makeItem())).endsRun).toBe(true);
    expect(toMessagePlacement(makeItem(), undefined, inGroup(event)).hasSenderName).toBe(true);
  });

  it("is expected to be higher by the height of the name", () => {
    const named = estimateMessageHeight(makeItem(), { ...alone, hasAvatarColumn: true, hasSenderName: true }, 360);
    expect(named).toBe(estimateMessageHeight(makeItem(), alone, 360) + 22);
  });
});

describe("the expected height of a message", () => {
  const place = { ...alone, endsRun: false };
  const heightOf = (text: string, listPx = 360) =>
    estimateMessageHeight(makeItem({ body: { type: "text", text } }), place, listPx);

  it("grows with lines, written or wrapped, and with a narrower list", () => {
    expect(heightOf("Mbote")).toBe(40);
    expect(heightOf("un\ndeux\ntrois")).toBe(85);
    expect(heightOf("mot ".repeat(100))).toBeGreaterThan(heightOf("mot ".repeat(100), 1280));
  });

  it("is that of one large line for a few emoji, however many characters they have", () => {
    expect(heightOf("👨‍👩‍👧‍👦")).toBe(85);
    expect(heightOf("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦")).toBe(63);
    expect(heightOf("😀😀😀😀")).toBe(40);
  });

  const bodyHeight = (body: StoredBody, listPx = 360) => estimateMessageHeight(makeItem({ body }), place, listPx);
  const attached = { file: createUuid(), name: "f", mime: "image/png", size: 1 } as const;
  const picture = (width: number, height: number, text?: string): StoredBody => ({
    ...attached,
    type: "image",
    thumb: "",
    width,
    height,
    ...(text ? { text } : {}),
  });

  it("keeps room for a picture by its aspect ratio, at most one screen", () => {
    // 286 px of bubble, 4 px around the picture, 2 px to the next message.
    expect(bodyHeight(picture(1_600, 1_200))).toBe(Math.round((285.6 - 8) * 0.75 + 8 + 2));
    expect(bodyHeight(picture(1_600, 1_200), 1280)).toBe(320 * 0.75 + 8 + 2);
    expect(bodyHeight(picture(100, 10_000))).toBe(360 + 8 + 2);
    expect(bodyHeight(picture(10_000, 100), 1280)).toBe(160 + 8 + 2);
    expect(bodyHeight(picture(1_600, 1_200, "Mbote"))).toBeGreaterThan(bodyHeight(picture(1_600, 1_200)) + 20);
  });

  it("is the same for every file and voice message, plus a line if forwarded", () => {
    const file: StoredBody = { ...attached, type: "file" };
    const voice: StoredBody = { ...attached, type: "voice", ms: 1_000, waveform: "" };
    expect(bodyHeight(file)).toBe(66);
    expect(bodyHeight(voice)).toBe(66);
    expect(bodyHeight({ ...voice, forwarded: { by: createUuid(), name: "Ana" } })).toBe(88);
  });

  it("counts a long text as collapsed until it is expanded", () => {
    const item = makeItem({ body: { type: "text", text: "mot\n".repeat(200) } });
    expect(estimateMessageHeight(item, place, 360)).toBe(Math.round(20 * 22.4 + 48 + 16 + 2));
    expect(estimateMessageHeight(item, place, 360, true)).toBeGreaterThan(200 * 22);
  });

  it("is the same for every call, plus a line if a name needs it", () => {
    const call = { type: "call", id: createUuid(), kind: "audio", seconds: 0 } as const;
    for (const status of ["missed", "cancelled", "ended", "rejected"] as const)
      expect(bodyHeight({ ...call, status })).toBe(58);
    const declined = makeItem({ mine: true, body: { ...call, status: "rejected" } });
    expect(estimateMessageHeight(declined, place, 360)).toBe(79);
    expect(estimateMessageHeight(declined, place, 1280)).toBe(58);
  });

  it("is one line for a deleted message", () => {
    expect(bodyHeight({ type: "deleted" })).toBe(40);
  });
});
