import { beforeAll, beforeEach, test } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { pushConfirmMs, pushConversationPauseMs } from "#contract/limits/push.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { makeOtherSession, PushDevice, servePushes } from "#tests/worker/push/push-service.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { consumeCounts, startCounting } from "./counters.ts";
import { report } from "./report.ts";
import { evictPair, pause, SceneDevice, toConversationId } from "./scene.ts";

/** Longer than write-behind, waiting pushes and alarms take, and than the pause between pushes of a conversation. */
const settleMs = Math.max(receiptHoldMs, pushConversationPauseMs, pushConfirmMs) + 4_500;

let devices: PushDevice[] = [];

beforeAll(startCounting);
beforeEach(() => {
  devices = [];
  servePushes(() => devices);
});

const subscribe = async (person: Person): Promise<void> => {
  const device = await PushDevice.create();
  devices.push(device);
  const status = await device.subscribe(person);
  if (status !== 204) throw new Error(`The subscription was refused: ${status}`);
};

/** Counts the cost of an action and its consequences, and the pushes that it causes, after everything has settled. */
const measure = async (name: string, per: number, action: () => Promise<unknown>): Promise<void> => {
  consumeCounts();
  const before = devices.reduce((sum, { requests }) => sum + requests, 0);
  await action();
  await pause(settleMs);
  report(name, per, consumeCounts(), devices.reduce((sum, { requests }) => sum + requests, 0) - before);
};

const makeScene = async (): Promise<{ from: SceneDevice; a: Person; to: Person; chat: ConversationId }> => {
  const [a, to] = [await makePerson(), await makePerson()];
  await connectPeople(site, a, to);
  const chat = toConversationId(a, to);
  const from = await SceneDevice.connect(a);
  await from.send(chat, "Mbote");
  await pause(settleMs);
  return { from, a, to, chat };
};

test("a message to somebody who is away costs", async () => {
  const { from, a, to, chat } = await makeScene();
  const send = () => from.send(chat, "Où es-tu ?");
  await measure("away, no subscription = aim", 1, send);
  await subscribe(to);
  await measure("away, pushed for the first time", 1, send);
  await measure("away, pushed", 1, send);
  await evictPair(a, to);
  await measure("away, pushed, all objects asleep", 1, send);
  const sendMany = () => Promise.all(Array.from({ length: 16 }, (_, i) => from.send(chat, `Rafale ${i}`)));
  await measure("away, pushed, 16 messages at once", 16, sendMany);
  await subscribe(await makeOtherSession(to));
  await send();
  await pause(settleMs);
  await measure("away, pushed to two devices", 1, send);
  from.close();
});

test("a message to somebody who is there costs", async () => {
  const { from, to, chat } = await makeScene();
  const phone = await SceneDevice.connect(to);
  phone.receipts = "read";
  const exchange = async () => {
    for (let i = 0; i < 10; i++) {
      await from.send(chat, `Message ${i}`);
      await pause(500);
    }
  };
  await measure("read at once, no subscription", 10, exchange);
  await subscribe(to);
  await measure("read at once, subscribed", 10, exchange);
  phone.receipts = "delivered";
  await measure("delivered and not read, subscribed", 1, () => from.send(chat, "Où es-tu ?"));
  for (const device of [from, phone]) device.close();
});
