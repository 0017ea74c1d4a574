import { expect, test } from "vitest";
import type { Message } from "#contract/messages/message.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { type InboxEntry, mergeNotice } from "#worker/objects/user-channel/inbox/inbox-merge.ts";

/** Notices of joining and leaving in every possible order, with duplicates: the row is the same in the end. */

const line = (seq: number): Message => ({ seq, sender: 1, at: seq * 1_000, body: { type: "text", text: `n° ${seq}` } });

/** Notice of a group at this head to a member who joined at `joined`, with this membership version. */
const makeNotice = (turn: number, roster: number, joined: number, head: number, from = joined): ConversationNotice => {
  const messages = Array.from({ length: head - from }, (_, index) => line(from + index + 1));
  const marks = { delivered: joined, read: joined };
  return {
    conversation: "g",
    epoch: "e1",
    head,
    at: head * 1_000,
    sender: 1,
    preview: line(head).body,
    whole: true,
    open: true,
    gone: false,
    membershipVersion: turn,
    group: { name: `n° ${roster}`, picture: null, count: 3, roster, role: "member", number: 2 },
    hidden: joined,
    revision: 0,
    call: null,
    callVersion: 0,
    ownReadState: marks,
    peerReadState: { delivered: joined, read: joined },
    messages,
    unread: head - joined,
  };
};

const farewell = (turn: number): ConversationNotice => ({
  ...makeNotice(turn, 0, 0, 0),
  at: 0,
  preview: null,
  open: false,
  gone: true,
  group: null,
  messages: [],
});

/** The member joined, left and rejoined while the group went on talking. */
const story = [
  makeNotice(1, 1, 0, 1),
  makeNotice(1, 1, 0, 3, 1),
  makeNotice(1, 2, 0, 4, 3),
  farewell(2),
  makeNotice(3, 5, 9, 10),
  makeNotice(3, 5, 9, 12, 10),
];

const tell = (notices: readonly ConversationNotice[]): { entry: InboxEntry; pushed: number[] } => {
  let entry: InboxEntry | undefined;
  const pushed: number[] = [];
  for (const notice of notices) {
    const merge = mergeNotice(entry, 7, notice);
    entry = merge.entry;
    pushed.push(...merge.newMessages.map(({ seq }) => seq));
  }
  if (!entry) throw new Error("there is no notice");
  return { entry, pushed };
};

const ordersOf = <T>(list: readonly T[]): T[][] =>
  list.length < 2
    ? [[...list]]
    : list.flatMap((one, index) => ordersOf(list.filter((_, other) => other !== index)).map((rest) => [one, ...rest]));

test("a member who joined, left and returned has the same row in whatever order the notices arrive", () => {
  const expected = tell(story).entry;
  expect(expected).toMatchObject({
    gone: false,
    open: true,
    head: 12,
    hidden: 9,
    unread: 3,
    membershipVersion: 3,
    group: { roster: 5 },
  });
  const orders = ordersOf(story);
  expect(orders).toHaveLength(720);
  for (const order of orders) {
    expect(tell(order).entry).toEqual(expected);
    expect(tell([...order, ...order]).entry).toEqual(expected);
  }
});

test("a former member stays removed whatever notice is late, and nothing of the group is in their row", () => {
  const roll = makeRandom(5);
  const ended = [...story, farewell(4)];
  for (let round = 0; round < 2_000; round++) {
    const order = [...ended, ...ended].map((notice) => ({ notice, at: roll() })).sort((a, b) => a.at - b.at);
    const { entry } = tell(order.map(({ notice }) => notice));
    expect(entry).toMatchObject({
      gone: true,
      open: false,
      preview: null,
      unread: 0,
      membershipVersion: 4,
      kept: false,
    });
  }
});

test("events pushed to a returned member are newer than their return, and follow their row", () => {
  for (const order of ordersOf(story)) {
    const { pushed } = tell(order);
    const back = order.findIndex(({ membershipVersion: turn }) => turn === 3);
    const later = tell(order.slice(0, back + 1));
    expect(pushed.slice(later.pushed.length).every((seq) => seq > 9)).toBe(true);
  }
  // Returning members get the row first even if nothing was written while they were away.
  const away = tell([makeNotice(1, 1, 0, 3), farewell(2)]).entry;
  expect(mergeNotice(away, 7, makeNotice(3, 3, 3, 4))).toMatchObject({
    newMessages: [],
    needsFullRow: true,
    entry: { gone: false },
  });
});
