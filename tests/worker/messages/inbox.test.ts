import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { inboxPageRows } from "#contract/limits/conversations.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { previewMaxLength } from "#contract/limits/messages.ts";
import type { Relation } from "#contract/people.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

const channelStub = (user: string) => env.USER_CHANNEL.getByName(user);

const notice = (conversation: string, change: Partial<ConversationNotice> = {}): ConversationNotice => ({
  conversation,
  epoch: "e1",
  head: 0,
  at: 1_000,
  sender: 0,
  preview: null,
  whole: true,
  open: true,
  gone: false,
  membershipVersion: 1,
  group: null,
  hidden: 0,
  revision: 0,
  call: null,
  callVersion: 0,
  ownReadState: { delivered: 0, read: 0 },
  peerReadState: { delivered: 0, read: 0 },
  messages: [],
  ...change,
});

/** A person with conversations that only their channel knows. */
const withRows = async (count: number) => {
  const me = await seedPerson();
  const ids = Array.from({ length: count }, () => privateConversationId(me.id, createUuid()));
  const channel = getUserChannelStub(env, me.id);
  for (const id of ids) await channel.notify(notice(id));
  return { me, ids, channel };
};

const relation = (username: string): Relation => ({
  profile: { id: createUuid(), username, phone: "+243810000099", avatar_url: null, created_at: 1 },
  state: "received",
  request_id: createUuid(),
  connection_id: null,
  since: 2,
  blocked: false,
});

test("a device that was offline gets changes in pages, newest first, and nothing twice", async () => {
  const { me, ids, channel } = await withRows(70);
  await channel.updateRelations([relation("Un"), relation("Deux")]);
  await channel.notify(notice(ids[3] as string, { membershipVersion: 2, open: false }));
  const device = await Device.attach(me);
  const welcome = await device.hello();
  const rows = device.decodeRows(welcome);
  const people = device.decodePeople(welcome);
  expect(rows.length + people.length).toBeLessThanOrEqual(inboxPageRows);
  expect(rows.length + people.length).toBeGreaterThan(inboxPageRows / 2);
  expect(rows[0]).toMatchObject({ conversation: ids[3], open: false });
  let before = welcome[8];
  while (before !== null) {
    const page = await device.request((ref) => ["c", ref, 0, before]);
    if (page[0] !== "c") throw new Error("refused");
    expect(page[5].length + page[6].length).toBeLessThanOrEqual(inboxPageRows);
    rows.push(...device.decodeRows(page));
    people.push(...device.decodePeople(page));
    before = page[8];
  }
  expect(rows.map(({ conversation }) => conversation).sort()).toEqual([...ids].sort());
  expect(people.map(({ profile }) => profile.username).sort()).toEqual(["Deux", "Un"]);
});

test("a cursor brings only what changed after it", async () => {
  const { me, ids, channel } = await withRows(5);
  const { counter } = await request(me, { type: "changes", since: 0 });
  expect(await request(me, { type: "changes", since: counter })).toMatchObject({ rows: [], people: [], before: null });
  await channel.notify(notice(ids[2] as string, { peerReadState: { delivered: 1, read: 1 }, head: 0 }));
  const changes = await request(me, { type: "changes", since: counter });
  expect(changes.rows.map(({ conversation }) => conversation)).toEqual([ids[2]]);
  expect(changes.counter).toBe(counter + 1);
});

test("a cursor of another inbox, or an unknown one, returns everything", async () => {
  const { me } = await withRows(3);
  const fresh = await Device.attach(me);
  const { length } = fresh.decodeRows(await fresh.hello());
  expect(length).toBe(3);
  const other = await Device.attach(me);
  expect(other.decodeRows(await other.hello("another", fresh.base))).toHaveLength(3);
  const ahead = await Device.attach(me);
  expect(ahead.decodeRows(await ahead.hello(fresh.epoch, fresh.base + 5_000))).toHaveLength(3);
  const level = await Device.attach(me);
  expect(level.decodeRows(await level.hello(fresh.epoch, fresh.base))).toHaveLength(0);
});

test("a duplicate, late or reordered notice changes nothing", async () => {
  const { me, ids, channel } = await withRows(1);
  const [id = ""] = ids;
  const device = await Device.open(me);
  const message = (seq: number) => ({
    seq,
    sender: 1,
    at: 1_000 + seq,
    body: { type: "text", text: `m${seq}` } as const,
  });
  const last = (seq: number, from: number): Partial<ConversationNotice> => ({
    head: seq,
    at: 1_000 + seq,
    sender: 1,
    preview: message(seq).body,
    messages: Array.from({ length: seq - from + 1 }, (_, i) => message(from + i)),
  });
  const second = notice(id, {
    ...last(3, 2),
    peerReadState: { delivered: 2, read: 1 },
    membershipVersion: 3,
    open: false,
  });
  await channel.notify(notice(id, last(1, 1)));
  await channel.notify(second);
  await device.nextOf("i");
  const counterCount = device.counters.length;
  await channel.notify(second);
  await channel.notify(
    notice(id, { ...last(2, 1), peerReadState: { delivered: 1, read: 0 }, membershipVersion: 2, open: true }),
  );
  await scheduler.wait(20);
  expect(device.counters).toHaveLength(counterCount);
  expect(await readRow(me, id)).toMatchObject({
    head: 3,
    unread: 3,
    othersDelivered: 2,
    othersRead: 1,
    open: false,
    preview: { type: "text", text: "m3" },
  });
});

test("a conversation whose log was recreated replaces the row and reports its new epoch", async () => {
  const { ana, ben, id } = await makePair();
  // A person who sends before they were notified makes the channel ask the directory, and then not again for a moment.
  await waitUntil(async () => (await readRow(ana, id)).open);
  await sendTexts(ana, id, "un", "deux", "trois");
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  const device = await Device.open(ben);
  const { epoch } = await readRow(ben, id);
  const stub = env.CONVERSATION.getByName(id);
  await runInDurableObject(stub, (_, { storage }) => storage.deleteAll());
  await evictDurableObject(stub);
  expect((await sendTexts(ana, id, "nouveau")).sent).toMatchObject([{ seq: 1 }]);
  const [, , wire] = await device.nextOf("i");
  expect(wire[2]).not.toBe(epoch);
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, preview: { type: "text", text: "nouveau" } });
});

test("a long text is truncated in the list, never within a character, and marked as truncated", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "👋".repeat(previewMaxLength));
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const row = await readRow(ben, id);
  expect(row.whole).toBe(false);
  const { preview } = row;
  expect(preview).toEqual({ type: "text", text: "👋".repeat(previewMaxLength / 2) });
  await sendTexts(ana, id, `a${"👋".repeat(previewMaxLength)}`);
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  expect((await readRow(ben, id)).preview).toEqual({ type: "text", text: `a${"👋".repeat(previewMaxLength / 2 - 1)}` });
});

test("receipts are pushed at once and written within the time they may be deferred, also without a connected device", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const stored = () =>
    runInDurableObject(
      channelStub(ben.id),
      (_, { storage }) => storage.sql.exec("SELECT read FROM inbox").one()["read"],
    );
  const device = await Device.open(ben);
  device.send(["r", id, 1, 1]);
  expect(await device.nextOf("u")).toMatchObject({ 4: 1, 5: 0 });
  device.close();
  await waitUntil(async () => (await stored()) === 1, receiptHoldMs);
});

test("pushed counters are never reused after a restart, written or not", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  const abort = () =>
    runInDurableObject(channelStub(ben.id), (_, state) => state.abort("as if the machine had died")).catch(
      () => undefined,
    );
  let highest = 0;
  for (let life = 1; life <= 4; life++) {
    const device = await Device.open(ben);
    expect(device.base).toBeGreaterThanOrEqual(highest);
    device.send(["r", id, life, 0]);
    await sendTexts(ana, id, "encore");
    await waitUntil(() => device.counters.length > 0);
    const [first = 0] = device.counters;
    expect(first).toBeGreaterThan(highest);
    highest = Math.max(...device.counters);
    await abort();
  }
});

test("people are pushed once, and again when they changed", async () => {
  const me = await seedPerson();
  const device = await Device.open(me);
  const channel = getUserChannelStub(env, me.id);
  const person = relation("Mado");
  await channel.updateRelations([person]);
  await channel.updateRelations([person]);
  await channel.updateRelations([{ ...person, state: "contact" }]);
  const frames = await Promise.all([device.nextOf("p"), device.nextOf("p")]);
  expect(frames.map(([, counter]) => counter)).toEqual([1, 2]);
  await scheduler.wait(20);
  expect(device.counters).toHaveLength(2);
  expect(await request(me, { type: "changes", since: 0 })).toMatchObject({ people: [{ state: "contact" }] });
});
