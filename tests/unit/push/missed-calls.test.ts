import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { missedCallsListedMax } from "#contract/limits/conversations.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import { deriveMissedCalls, hasOnlyMissedCalls } from "#worker/objects/user-channel/inbox/missed-calls.ts";

const unread = { read: 0, hidden: 0 };
const makeMessage = (seq: number, body: StoredBody, cid?: string): Message => ({
  seq,
  sender: 1,
  at: seq,
  body,
  ...(cid === undefined ? {} : { cid }),
});
const makeCall = (seq: number, status: "missed" | "ended" = "missed", cid?: string) =>
  makeMessage(seq, { type: "call", id: createUuid(), kind: "audio", status, seconds: 0 }, cid);

test("calls that the person missed are listed, and neither answered calls, own calls nor texts", () => {
  const messages = [
    makeCall(1),
    makeCall(2, "ended"),
    makeCall(3, "missed", createUuid()),
    makeMessage(4, { type: "text", text: "Mbote" }),
    makeCall(5),
  ];
  expect(deriveMissedCalls([], unread, messages)).toEqual([1, 5]);
});

test("a missed call leaves the list when it is read, cleared or deleted, and the rest stays", () => {
  expect(deriveMissedCalls([1, 2, 3], { read: 1, hidden: 0 })).toEqual([2, 3]);
  expect(deriveMissedCalls([1, 2, 3], { read: 1, hidden: 2 })).toEqual([3]);
  expect(deriveMissedCalls([1, 2], unread, [makeMessage(2, { type: "deleted" })])).toEqual([1]);
});

test("unread messages are only missed calls if all of them are listed", () => {
  expect(hasOnlyMissedCalls({ unread: 2, missedCalls: [1, 2] })).toBe(true);
  expect(hasOnlyMissedCalls({ unread: 3, missedCalls: [1, 2] })).toBe(false);
  expect(hasOnlyMissedCalls({ unread: 0, missedCalls: [] })).toBe(false);
  const many = Array.from({ length: missedCallsListedMax + 1 }, (_, n) => makeCall(n + 1));
  const missedCalls = deriveMissedCalls([], unread, many);
  expect([missedCalls.length, missedCalls.at(-1)]).toEqual([missedCallsListedMax, many.length]);
  expect(hasOnlyMissedCalls({ unread: many.length, missedCalls })).toBe(false);
});
