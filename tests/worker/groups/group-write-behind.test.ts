import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { advanceClock, suspendAlarms, suspendTimers } from "#tests/worker/support/clock.ts";
import { Device, readRow, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup } from "#tests/worker/support/make-group.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0); // the maximum that write-behind defers
});
afterEach(() => {
  vi.restoreAllMocks();
});

const confirmedMs = 1_100; // a channel that wrote nothing is notified again after this

/** Stored row of a group in a person's list, without flushing deferred writes. */
const writtenHead = (user: Uuid, id: Uuid) =>
  runInDurableObject(env.USER_CHANNEL.getByName(user), (_, { storage }) => {
    const found = storage.sql.exec<{ head: number }>("SELECT head FROM inbox WHERE conversation = ?", id);
    return found.toArray()[0]?.head;
  });

const ring = (id: Uuid) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));

test("a channel writes a series of group messages once, and each at once without a connected device", async () => {
  const timers = suspendTimers(receiptHoldMs);
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  const phone = await Device.open(ben);
  await Promise.all(["un", "deux"].map((text) => sendTexts(owner, id, text)));
  await waitUntil(() => phone.seqs.at(-1) === 3);
  expect(await writtenHead(ben.id, id)).toBe(1);
  await waitUntil(async () => (await writtenHead(cleo.id, id)) === 3);
  await timers.go();
  expect(await writtenHead(ben.id, id)).toBe(3);
});

test("a channel evicted with an unwritten group message is notified again, and counts it once", async () => {
  suspendAlarms();
  suspendTimers(receiptHoldMs);
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  const phone = await Device.open(ben);
  await sendTexts(owner, id, "un", "deux");
  await waitUntil(() => phone.seqs.at(-1) === 3);
  expect(await writtenHead(ben.id, id)).toBe(1);
  await runInDurableObject(env.USER_CHANNEL.getByName(ben.id), (_, state) => state.abort("as if it had died")).catch(
    () => undefined,
  );
  expect(await writtenHead(ben.id, id)).toBe(1);
  advanceClock(confirmedMs);
  expect(await ring(id)).toBe(true);
  await waitUntil(async () => (await writtenHead(ben.id, id)) === 3);
  expect(await readRow(ben, id)).toMatchObject({ head: 3, unread: 2 });
});

test("a channel that deferred writing is notified once more to confirm it, and no other is", async () => {
  suspendAlarms();
  suspendTimers(receiptHoldMs);
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  const phone = await Device.open(ben);
  await ring(id); // left over from creating the group
  const notify = vi.spyOn(UserChannel.prototype, "notify");
  const toldTo = (user: Uuid) => notify.mock.contexts.filter((channel) => nameOf(channel) === user).length;
  await sendTexts(owner, id, "un");
  await waitUntil(() => phone.seqs.at(-1) === 2);
  advanceClock(confirmedMs);
  await ring(id);
  await waitUntil(async () => (await writtenHead(ben.id, id)) === 2);
  expect([toldTo(ben.id), toldTo(cleo.id)]).toEqual([2, 1]);
  expect(phone.seqs).toEqual([2]);
  advanceClock(confirmedMs);
  await ring(id);
  expect([toldTo(ben.id), toldTo(cleo.id)]).toEqual([2, 1]);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  expect((await readRow(ben, id)).unread).toBe(1);
});
