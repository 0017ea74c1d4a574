import { describe, expect, it } from "vitest";
import type { StoredBody } from "#contract/messages/body.ts";
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

describe("announcements to a screen reader", () => {
  it("stay in the order of arrival while the chat is shown", () => {
    const items = [unsent, makeItem(4), makeItem(3), makeItem(2)];
    expect(listPresentMessages([2, 4], items).map(({ seq }) => seq)).toEqual([2, 4]);
  });

  it("are removed with a message that is deleted for everybody", () => {
    const items = [makeItem(4), makeItem(3, 1, { type: "deleted" }), makeItem(2)];
    expect(listPresentMessages([2, 3, 4], items).map(({ seq }) => seq)).toEqual([2, 4]);
  });

  it("are removed when the chat is cleared, or its group is gone except for unsent messages", () => {
    expect(listPresentMessages([2, 3], [])).toEqual([]);
    expect(listPresentMessages([2, 3], [unsent])).toEqual([]);
  });
});

describe("a message of a chat", () => {
  const author = { user: "u", name: "Ana", avatar: null, phone: "", me: false };
  const members: GroupMembers = { ownNumber: 7, profiles: { 1: author } };

  it("waits in a group for the names of its author and of the people it mentions", () => {
    expect(areNamesLoaded(makeItem(1, 1), members)).toBe(true);
    expect(areNamesLoaded(makeItem(1, 2), members)).toBe(false);
    expect(areNamesLoaded(makeItem(1, 1, { type: "event", event: "added", who: [7] }), members)).toBe(true);
    expect(areNamesLoaded(makeItem(1, 1, { type: "event", event: "added", who: [2] }), members)).toBe(false);
  });

  it("waits for no name in a private chat", () => {
    expect(areNamesLoaded(makeItem(1, 2), undefined)).toBe(true);
  });
});
