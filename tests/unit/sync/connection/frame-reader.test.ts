import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { listRefs, toServerChanges } from "#sync/connection/frame-reader.ts";

const conversation = privateConversationId(createUuid(), createUuid());
const place = { counter: 1, target: 7 };
const toAck = (ref: number, seq: number) => ({ ref, seq, at: 1_003 + seq });
const toMessage = (seq: number, text: string) =>
  ({ seq, at: 1_003 + seq, sender: 1, body: { type: "text", text } }) as const;

test("an own message among new messages is inserted at its position", () => {
  const [first, third, fourth] = [createUuid(), createUuid(), createUuid()];
  const sent = new Map([first, third, fourth].map((cid, ref) => [ref, { cid, conversation }]));
  const messages = [toMessage(2, "deux"), toMessage(5, "cinq")];
  const acks = [toAck(0, 1), toAck(1, 3), toAck(2, 4)];
  expect(toServerChanges({ type: "messages", ...place, messages, acks }, sent)).toMatchObject([
    { type: "sent", cid: first, seq: 1, at: 1_004 },
    { type: "messages", target: 7, messages: [{ seq: 2, at: 1_005 }] },
    { type: "sent", cid: third, seq: 3 },
    { type: "sent", cid: fourth, seq: 4 },
    { type: "messages", target: 7, messages: [{ seq: 5 }] },
  ]);
});

test("acknowledgements of unknown refs are ignored, and the messages of the frame are stored", () => {
  const [messages, acks] = [[toMessage(2, "deux")], [toAck(9, 1)]];
  expect(toServerChanges({ type: "messages", ...place, messages, acks }, new Map())).toMatchObject([
    { type: "messages", messages: [{ seq: 2 }] },
  ]);
});

test("the acknowledged refs of a frame are read separately from its positions and times", () => {
  expect(listRefs({ type: "acknowledgement", counter: 1, acks: [toAck(4, 10), toAck(5, 11)] })).toEqual([4, 5]);
  expect(listRefs({ type: "messages", ...place, messages: [], acks: [toAck(4, 10)] })).toEqual([4]);
  expect(listRefs({ type: "messages", ...place, messages: [] })).toEqual([]);
  expect(listRefs({ type: "liveText", ...place, seq: 1, at: 1, text: "1" })).toEqual([]);
});
