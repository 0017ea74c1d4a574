import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { SendQueue, type SentMessage } from "#worker/objects/user-channel/commands/send-queue.ts";

test("messages to more conversations than a runtime has timers are all delivered", async () => {
  const queue = new SendQueue(
    async (_, batch) => ({ sent: batch.map(({ cid }) => ({ cid, seq: 1, at: 1 })), refused: [] }),
    { take: () => true, waitMs: () => 0 },
  );
  const send = () =>
    new Promise<SentMessage | object>((settle) => {
      const message = { cid: createUuid(), body: { type: "text", text: "Mbote" } as const, check: undefined, ref: 0 };
      queue.enqueue(createUuid(), [{ ...message, settle }]);
    });
  for (let wave = 0; wave < 13; wave++) {
    const outcomes = await Promise.all(Array.from({ length: 900 }, send));
    expect(outcomes.filter((outcome) => "error" in outcome)).toEqual([]);
  }
});
