import { describe, expect, it } from "vitest";
import type { StoredBody } from "#contract/conversations.ts";
import { areNamesLoaded, listPresentMessages } from "#features/chat/list/announced-messages.ts";
import type { GroupMembers } from "#features/chat/message/senders.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

const makeItem = (seq: number, sender = 1, body: StoredBody = { type: "text", text: `text ${seq}` }): ChatItem => ({
  key: `${seq}`,
  seq,
  mine: false,
  sender,
  at: seq,
  body,
  status: "read",
});

const { seq: _, ...waiting } = makeItem(9);
const unsent: ChatItem = { ...waiting, key: "unsent", mine: true, status: "sending" };

describe("what a screen reader was told", () => {
  it("stays in the order in which it came while the chat shows it", () => {
    const items = [unsent, makeItem(4), makeItem(3), makeItem(2)];
    expect(listPresentMessages([2, 4], items).map(({ seq }) => seq)).toEqual([2, 4]);
  });

  it("goes with a message that is deleted for everybody", () => {
    const items = [makeItem(4), makeItem(3, 1, { type: "deleted" }), makeItem(2)];
    expect(listPresentMessages([2, 3, 4], items).map(({ seq }) => seq)).toEqual([2, 4]);
  });

  it("goes when the chat is cleared, or its group is gone but for what was not sent", () => {
    expect(listPresentMessages([2, 3], [])).toEqual([]);
    expect(listPresentMessages([2, 3], [unsent])).toEqual([]);
  });
});

describe("a line of a chat", () => {
  const author = { user: "u", name: "Ana", avatar: null, phone: "", me: false };
  const members: GroupMembers = { ownNumber: 7, profiles: { 1: author } };

  it("waits in a group for the name of its author and of those it speaks of", () => {
    expect(areNamesLoaded(makeItem(1, 1), members)).toBe(true);
    expect(areNamesLoaded(makeItem(1, 2), members)).toBe(false);
    expect(areNamesLoaded(makeItem(1, 1, { type: "event", event: "added", who: [7] }), members)).toBe(true);
    expect(areNamesLoaded(makeItem(1, 1, { type: "event", event: "added", who: [2] }), members)).toBe(false);
  });

  it("waits for nobody between two people", () => {
    expect(areNamesLoaded(makeItem(1, 2), undefined)).toBe(true);
  });
});
