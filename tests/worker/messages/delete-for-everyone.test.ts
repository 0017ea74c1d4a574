import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import type { Person } from "#tests/support/people/people.ts";
import { suspendAlarms } from "#tests/worker/support/clock.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { countFileReferences, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import * as releases from "#worker/objects/conversation/delivery/file-release-queue.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const conversationStub = (id: string) => env.CONVERSATION.getByName(id);
const quiet = () => vi.spyOn(console, "error").mockImplementation(() => {});

afterEach(() => {
  vi.restoreAllMocks();
});

const deleteForEveryone = (person: Person, conversation: string, seq: number) =>
  request(person, { type: "deleteForEveryone", conversation, seq });
const revised = (person: Person, conversation: string, since: number) =>
  request(person, { type: "revised", conversation, since });
const numbersOf = (device: Device) => device.counters.map((counter) => counter - device.base);

test("a message deleted for everybody is a tombstone on every device, by one change each", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux", "trois");
  await waitUntil(async () => (await readRow(ben, id)).unread === 3);
  const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  expect((await phone.request((ref) => ["e", ref, id, 2]))[0]).toBe("y");
  for (const device of [phone, tablet, phoneB]) {
    const frame = await device.nextOf("e");
    expect(frame.slice(3, 5)).toEqual([0, 1]);
    expect(device.decodeMessages(frame)).toMatchObject([{ seq: 2, body: { type: "deleted" } }]);
  }
  // A recipient who had it unread gets a second change with the new unread count.
  expect(await phoneB.nextOf("u")).toMatchObject({ 5: 2 });
  expect([numbersOf(phone), numbersOf(tablet), numbersOf(phoneB)]).toEqual([[1], [1], [1, 2]]);
  for (const person of [ana, ben]) {
    expect(toTexts(await readLog(person, id))).toEqual(["un", "<deleted>", "trois"]);
    expect(await readRow(person, id)).toMatchObject({ revision: 1, preview: { type: "text", text: "trois" } });
  }
  expect(JSON.stringify([await readLog(ben, id), await readRow(ben, id)])).not.toContain("deux");
});

test("a deleted message that was the newest leaves a tombstone in the lists", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  await deleteForEveryone(ana, id, 2);
  await waitUntil(async () => (await readRow(ben, id)).revision === 1 && (await readRow(ana, id)).revision === 1);
  for (const person of [ana, ben]) expect(await readRow(person, id)).toMatchObject({ preview: { type: "deleted" } });
  await evictDurableObject(conversationStub(id));
  await sendTexts(ben, id, "trois");
  await waitUntil(async () => (await readRow(ana, id)).head === 3);
  expect(await readRow(ana, id)).toMatchObject({ unread: 1, revision: 1 });
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, revision: 1 });
});

test("only an own visible message can be deleted, once", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  expect(await deleteForEveryone(ben, id, 1)).toEqual({ error: "not_your_message" });
  expect(await deleteForEveryone(ana, id, 3)).toEqual({ error: "message_not_found" });
  expect(await deleteForEveryone(ana, id, 1)).toEqual({ revision: 1 });
  expect(await deleteForEveryone(ana, id, 1)).toEqual({ revision: 1 });
  await request(ana, { type: "clearHistory", conversation: id, upTo: 2, keep: true });
  expect(await deleteForEveryone(ana, id, 2)).toEqual({ error: "message_not_found" });
  expect(toTexts(await readLog(ben, id))).toEqual(["<deleted>", "deux"]);
  const device = await Device.open(ben);
  expect(await device.request((ref) => ["e", ref, id, 2])).toEqual(["n", 1, "not_your_message"]);
  expect(await device.request((ref) => ["e", ref, id, 0])).toEqual(["n", 2, "invalid_input"]);
  expect(await device.request((ref) => ["e", ref, id, 99])).toEqual(["n", 3, "message_not_found"]);
});

test("a device that was offline requests changes, and gets each message once in its present state", async () => {
  const { ana, ben, id } = await makePair();
  const count = messagePageRows + 5;
  await sendTexts(ana, id, ...Array.from({ length: count }, (_, i) => `m${i + 1}`));
  for (let seq = count; seq > 0; seq--) await deleteForEveryone(ana, id, seq);
  const device = await Device.open(ben);
  const first = await device.request((ref) => ["v", ref, id, 0]);
  if (first[0] !== "v") throw new Error("refused");
  expect(first.slice(3, 4).concat(first[5])).toEqual([messagePageRows, true]);
  const rest = await revised(ben, id, first[3]);
  expect(rest).toMatchObject({ revision: count, more: false });
  const seqs = [...device.decodeMessages(first), ...rest.messages].map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: count }, (_, i) => count - i));
  expect(await revised(ben, id, count)).toMatchObject({ revision: count, messages: [], more: false });
  expect(await revised(ben, id, count + 7)).toMatchObject({ revision: count, messages: [], more: false });
  await request(ben, { type: "clearHistory", conversation: id, upTo: 40, keep: false });
  expect((await revised(ben, id, 0)).messages.map(({ seq }) => seq)).toEqual([45, 44, 43, 42, 41]);
});

test("too many changes at once are not pushed: the row shows that changes can be requested", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, ...Array.from({ length: 30 }, (_, i) => `m${i + 1}`));
  await waitUntil(async () => (await readRow(ben, id)).head === 30);
  const device = await Device.open(ben);
  quiet();
  const notify = vi.spyOn(UserChannel.prototype, "notify").mockImplementation(() => Promise.reject(new Error("away")));
  for (let seq = 1; seq <= 25; seq++) await deleteForEveryone(ana, id, seq);
  notify.mockRestore();
  await waitUntil(async () => {
    await runDurableObjectAlarm(conversationStub(id));
    return (await readRow(ben, id)).revision === 25;
  }, 10_000);
  const [, , wire] = await device.nextOf("i");
  expect(wire[13]).toBe(25);
  expect(device.frames.filter((frame) => Array.isArray(frame) && frame[0] === "e")).toEqual([]);
  expect((await revised(ben, id, 0)).messages).toHaveLength(25);
});

test("a deletion whose object was evicted between storing and notifying is still delivered", async () => {
  suspendAlarms();
  const { ana, ben, id } = await makePair();
  const image = await seedFile(ana.id);
  await request(ana, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: makeImageBody(image.id) }],
  });
  await waitUntil(async () => (await readRow(ben, id)).unread === 1);
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  quiet();
  const notify = vi.spyOn(UserChannel.prototype, "notify").mockImplementation(() => Promise.reject(new Error("away")));
  const stuck = vi.spyOn(releases, "releaseDeletedFiles").mockImplementation(() => Promise.reject(new Error("away")));
  expect(await deleteForEveryone(ana, id, 1)).toEqual({ revision: 1 });
  const died = runInDurableObject(conversationStub(id), (_, state) => state.abort("as if the machine had died"));
  await died.catch(() => undefined);
  notify.mockRestore();
  stuck.mockRestore();
  expect(await countFileReferences(image.id)).toBe(1);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, revision: 0 });
  expect(await runDurableObjectAlarm(conversationStub(id))).toBe(true);
  for (const device of [phoneA, phoneB]) {
    expect(device.decodeMessages(await device.nextOf("e"))).toMatchObject([{ seq: 1, body: { type: "deleted" } }]);
  }
  await waitUntil(async () => (await readRow(ben, id)).unread === 0);
  expect(await readRow(ben, id)).toMatchObject({ revision: 1, preview: { type: "deleted" } });
  await waitUntil(async () => (await countFileReferences(image.id)) === undefined);
  expect(await env.FILES.head(image.key)).toBeNull();
});

test("a file that could not be released is released by the alarm", async () => {
  const { ana, id } = await makePair();
  const image = await seedFile(ana.id);
  await request(ana, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: makeImageBody(image.id) }],
  });
  quiet();
  const stuck = vi.spyOn(releases, "releaseDeletedFiles").mockImplementation(() => Promise.reject(new Error("away")));
  await deleteForEveryone(ana, id, 1);
  await waitUntil(() => stuck.mock.calls.length > 0);
  stuck.mockRestore();
  await waitUntil(async () => {
    await runDurableObjectAlarm(conversationStub(id));
    return (await countFileReferences(image.id)) === undefined;
  });
});

test("a count requested before a deletion does not undo the deletion's count", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux", "trois");
  await waitUntil(async () => (await readRow(ben, id)).unread === 3);
  // A receipt and a deletion at the same moment, in every possible order.
  for (let seq = 1; seq <= 3; seq++) {
    await Promise.all([
      deleteForEveryone(ana, id, seq),
      request(ben, { type: "mark", conversation: id, delivered: 3, read: 0 }),
      request(ben, { type: "mark", conversation: id, delivered: 0, read: 0 }),
    ]);
    await waitUntil(
      async () => (await readRow(ben, id)).revision === seq && (await readRow(ben, id)).unread === 3 - seq,
    );
  }
});
