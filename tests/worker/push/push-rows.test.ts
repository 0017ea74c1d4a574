import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { pushConversationPauseMs } from "#contract/limits/push.ts";
import { PushDevice, servePushes } from "#tests/worker/push/push-service.ts";
import { Device, waitUntil } from "#tests/worker/support/device.ts";
import { countDirectoryRows, createRowCounter } from "#tests/worker/support/row-counter.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";

test("a message to a closed device costs no row and no alarm more if it is pushed, and reads one row of the directory", async () => {
  const count = await createRowCounter();
  const { ana, ben, id } = await makePair();
  const [phone, push] = [await Device.open(ana), await PushDevice.create()];
  servePushes(() => [push]);
  let pushes = 0;
  const say = async () => {
    await phone.waitForOutcome(phone.sendText(id, "Mbote"));
    await waitUntil(() => push.received.length === pushes);
    await scheduler.wait(receiptHoldMs + 1_000);
  };
  await say();
  const withoutSubscription = await count(say);
  expect(await push.subscribe(ben)).toBe(204);
  pushes = 1;
  await say(); // loads the subscription
  await scheduler.wait(pushConversationPauseMs);
  pushes = 2;
  const pushed = await count(say);
  expect(pushed.written).toBe(withoutSubscription.written);
  expect(
    await runInDurableObject(env.USER_CHANNEL.getByName(ben.id), (_, { storage }) => storage.getAlarm()),
  ).toBeNull();
  await scheduler.wait(pushConversationPauseMs);
  pushes = 3;
  expect(await countDirectoryRows(say)).toEqual({ read: 1, written: 0 });
});
