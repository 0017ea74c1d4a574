import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { listRefs, toServerChanges } from "#sync/connection/frame-reader.ts";

const base = { epoch: "e", counter: 0, now: 1_000 };
const conversation = privateConversationId(createUuid(), createUuid());

test("an own message among new messages is inserted at its position", () => {
  const [first, third, fourth] = [createUuid(), createUuid(), createUuid()];
  const sent = new Map([first, third, fourth].map((cid, ref) => [ref, { cid, conversation }]));
  const changes = toServerChanges(
    [
      "m",
      1,
      7,
      [
        [2, 5, 1, "deux"],
        [5, 8, 1, "cinq"],
      ],
      [0, 1, 4, 1, 3, 6, 2, 4, 7],
    ],
    base,
    sent,
  );
  expect(changes).toMatchObject([
    { type: "sent", cid: first, seq: 1, at: 1_004 },
    { type: "messages", target: 7, messages: [{ seq: 2, at: 1_005 }] },
    { type: "sent", cid: third, seq: 3 },
    { type: "sent", cid: fourth, seq: 4 },
    { type: "messages", target: 7, messages: [{ seq: 5 }] },
  ]);
});

test("acknowledgements of unknown refs are ignored, and the messages of the frame are stored", () => {
  const changes = toServerChanges(["m", 1, 7, [[2, 5, 1, "deux"]], [9, 1, 4]], base, new Map());
  expect(changes).toMatchObject([{ type: "messages", messages: [{ seq: 2 }] }]);
});

test("the acknowledged refs of a frame are read separately from its positions and times", () => {
  expect(listRefs(["a", 1, 4, 10, 100, 5, 11, 100])).toEqual([4, 5]);
  expect(listRefs(["m", 1, 7, [], [4, 10, 100]])).toEqual([4]);
  expect(listRefs(["m", 1, 7, []])).toEqual([]);
  expect(listRefs({ counter: 1, handle: 1, seq: 1, at: 1, text: "1" })).toEqual([]);
});
