import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { SendQueue, type SentMessage } from "#worker/objects/user-channel/commands/send-queue.ts";

const makeMessage = (settle: (outcome: SentMessage | object) => void = () => undefined) => ({
  cid: createUuid(),
  body: { type: "text", text: "Mbote" } as const,
  check: undefined,
  ref: 0,
  settle,
});

test("a message without room in the queue takes no token of its sender", () => {
  let taken = 0;
  const take = (tokens: number): boolean => {
    taken += tokens;
    return true;
  };
  const queue = new SendQueue(() => new Promise<never>(() => undefined), { take, waitMs: () => 0 });
  const refused: object[] = [];
  for (let i = 0; i < 1_000; i++) queue.enqueue(createUuid(), [makeMessage()]);
  expect(taken).toBe(1_000);
  queue.enqueue(createUuid(), [makeMessage((outcome) => refused.push(outcome))]);
  expect(refused).toEqual([{ error: "rate_limited", retryAfterMs: 1_000 }]);
  expect(taken).toBe(1_000);
});

test("messages to more conversations than a runtime has timers are all delivered", async () => {
  const queue = new SendQueue(
    async (_, batch) => ({ sent: batch.map(({ cid }) => ({ cid, seq: 1, at: 1 })), refused: [] }),
    { take: () => true, waitMs: () => 0 },
  );
  const send = () =>
    new Promise<SentMessage | object>((settle) => {
      queue.enqueue(createUuid(), [makeMessage(settle)]);
    });
  for (let wave = 0; wave < 13; wave++) {
    const outcomes = await Promise.all(Array.from({ length: 900 }, send));
    expect(outcomes.filter((outcome) => "error" in outcome)).toEqual([]);
  }
});
