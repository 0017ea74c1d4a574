import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { suspendAlarms } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const ring = (id: string) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));
const die = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (_, state) => state.abort("as if the machine had died")).catch(() => undefined);

test("deferred receipts are correct again after the alarm when both objects were evicted", async () => {
  suspendAlarms();
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  for (const person of [ana, ben]) await Device.open(person); // without any, nothing is deferred
  expect(await request(ben, { type: "mark", conversation: id, delivered: 2, read: 2 })).toMatchObject({ unread: 0 });
  const { CONVERSATION, USER_CHANNEL } = env;
  const all = [USER_CHANNEL.getByName(ana.id), USER_CHANNEL.getByName(ben.id), CONVERSATION.getByName(id)];
  await Promise.all(all.map(die));
  expect(await ring(id)).toBe(true);
  await waitUntil(async () => (await readRow(ben, id)).unread === 0 && (await readRow(ana, id)).othersRead === 2);
});

test("receipts received without a connected device survive an eviction, also if the conversation does not restart", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  expect(await request(ben, { type: "mark", conversation: id, delivered: 2, read: 2 })).toMatchObject({ unread: 0 });
  await ring(id); // everybody has confirmed
  for (const { id: user } of [ana, ben]) await die(env.USER_CHANNEL.getByName(user));
  await ring(id); // no notice is to be retried
  expect(await readRow(ana, id)).toMatchObject({ othersRead: 2 });
  expect(await readRow(ben, id)).toMatchObject({ read: 2, unread: 0 });
});

test("the counter of a pushed receipt that was lost unwritten is not reused", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ben, id, "un", "deux");
  await waitUntil(async () => (await readRow(ana, id)).head === 2);
  const counters: number[] = [];
  for (const read of [1, 2]) {
    await die(env.USER_CHANNEL.getByName(ana.id));
    const phone = await Device.open(ana);
    await request(ana, { type: "mark", conversation: id, delivered: 2, read });
    await waitUntil(async () => phone.counters.length > 0);
    counters.push(...phone.counters);
  }
  expect(new Set(counters).size).toBe(counters.length);
});
