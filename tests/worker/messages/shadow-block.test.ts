import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, packUuid, type Uuid } from "#contract/ids.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { countFileReferences, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Ana blocks Ben. The directory's part is tested in blocks.test.ts. */
const block = (conversation: string, by: Person, isBlocked = true) =>
  getConversationStub(env, conversation).setBlocked(by.id, isBlocked);
const mark = (by: Person, conversation: string, delivered: number, read = delivered) =>
  request(by, { type: "mark", conversation, delivered, read });
const revised = (by: Person, conversation: string, since = 0) => request(by, { type: "revised", conversation, since });
const search = async (by: Person, conversation: string, query: string) =>
  toTexts((await request(by, { type: "search", conversation, query, before: 100 })).messages);
const heldOf = (messages: readonly Message[]) => messages.filter(({ held }) => held).map(({ seq }) => seq);

/** Ben sent two messages, Ana one; Ana read the first. */
const makeTalk = async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ben, id, "un", "deux");
  await sendTexts(ana, id, "trois");
  await mark(ana, id, 3, 1);
  await waitUntil(async () => (await readRow(ben, id)).othersRead === 1 && (await readRow(ana, id)).read === 1);
  return { ana, ben, id };
};

test("messages of a blocked person count as sent, and reach nobody", async () => {
  const { ana, ben, id } = await makeTalk();
  await block(id, ana);
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const before = await readRow(ana, id);
  expect(await phoneB.waitForOutcome(phoneB.sendText(id, "tu es là ?"))).toMatchObject({ seq: 4 });
  const image = await seedFile(ben.id);
  await request(ben, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: makeImageBody(image.id) }],
  });
  // The alarm, and an object that wakes again, do not reveal it either.
  await runDurableObjectAlarm(conversationStub(id));
  await evictDurableObject(conversationStub(id));
  await runDurableObjectAlarm(conversationStub(id));
  await scheduler.wait(100);
  expect(phoneA.counters).toEqual([]);
  expect(await readRow(ana, id)).toEqual(before);
  expect(toTexts(await readLog(ana, id))).toEqual(["un", "deux", "trois"]);
  expect(await search(ana, id, "là")).toEqual([]);
  expect(await getConversationStub(env, id).canReadFile(ana.id, image.id)).toBe(false);
  expect(await getConversationStub(env, id).findOriginal(ana.id, 4)).toEqual({ error: "message_not_found" });
  expect(await mark(ana, id, 5)).toMatchObject({ unread: 0 });
  expect(await readRow(ana, id)).toMatchObject({ delivered: 3, read: 3 });
  expect(toTexts(await readLog(ben, id))).toEqual(["un", "deux", "trois", "tu es là ?", "<image>"]);
  expect(await readRow(ben, id)).toMatchObject({ head: 5, othersDelivered: 3, othersRead: 1, unread: 1, open: true });
  expect(await getConversationStub(env, id).canReadFile(ben.id, image.id)).toBe(true);
});

const conversationStub = (id: string) => env.CONVERSATION.getByName(id);

test("the blocking person cannot write either, and gets the reason, while earlier messages remain", async () => {
  const { ana, id } = await makeTalk();
  const cid = createUuid();
  const device = await Device.open(ana);
  const outcome = await device.waitForOutcome(device.sendText(id, "avant", cid));
  await block(id, ana);
  expect(await device.waitForOutcome(device.sendText(id, "après"))).toEqual({ error: "contact_blocked" });
  expect(await device.waitForOutcome(device.sendText(id, "avant", cid))).toEqual(outcome);
  expect(await sendTexts(ana, id, "après")).toEqual({ error: "contact_blocked" });
  await block(id, ana, false);
  expect(await device.waitForOutcome(device.sendText(id, "après"))).toMatchObject({ seq: 5 });
});

test("messages written during a block stay missing after it, and stay sent for their author", async () => {
  const { ana, ben, id } = await makeTalk();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  await block(id, ana);
  await sendTexts(ben, id, "quatre", "cinq");
  await mark(ana, id, 3);
  const unheard = phoneB.frames.filter((frame) => Array.isArray(frame) && "oe".includes(frame[0]));
  expect(unheard).toEqual([]);
  await block(id, ana, false);
  // The author is notified of the two undelivered messages, and of the receipts for those before them.
  const frame = await phoneB.nextOf("e");
  expect(frame.slice(3, 5)).toEqual([0, 2]);
  expect(phoneB.decodeMessages(frame)).toMatchObject([
    { seq: 4, held: true, body: { text: "quatre" } },
    { seq: 5, held: true, body: { text: "cinq" } },
  ]);
  expect(await phoneB.nextOf("o")).toMatchObject({ 3: 3, 4: 3 });
  expect(await readRow(ana, id)).toMatchObject({ head: 3, unread: 0 });
  await sendTexts(ben, id, "six");
  expect(phoneA.decodeMessages(await phoneA.nextOf("m"))).toMatchObject([
    { seq: 4, body: { type: "withheld" } },
    { seq: 5, body: { type: "withheld" } },
    { seq: 6, body: { type: "text", text: "six" } },
  ]);
  await waitUntil(async () => (await readRow(ana, id)).head === 6);
  expect(await readRow(ana, id)).toMatchObject({ unread: 1, preview: { type: "text", text: "six" } });
  // A device adds up what it is pushed, like the row, and gets no other number.
  const kinds = phoneA.frames.map((frame) => (Array.isArray(frame) ? frame[0] : ""));
  expect(kinds.slice(kinds.lastIndexOf("m"))).not.toContain("u");
  expect(toTexts(await readLog(ana, id))).toEqual(["un", "deux", "trois", "<withheld>", "<withheld>", "six"]);
  expect(await search(ana, id, "quatre")).toEqual([]);
  expect((await revised(ana, id)).messages).toEqual([]);
  expect(JSON.stringify([await readLog(ana, id), await revised(ana, id)])).not.toContain("quatre");
  await mark(ana, id, 6);
  await waitUntil(async () => (await readRow(ben, id)).othersRead === 6);
  expect(heldOf(await readLog(ben, id))).toEqual([4, 5]);
  expect(heldOf((await revised(ben, id)).messages)).toEqual([4, 5]);
});

test("an undelivered message deleted by its author is deleted for them, and never existed for the other", async () => {
  const { ana, ben, id } = await makeTalk();
  // All of it is confirmed. A repeated notice describes the present state of the conversation.
  await waitUntil(async () => !(await runDurableObjectAlarm(conversationStub(id))));
  await block(id, ana);
  const image = await seedFile(ben.id);
  await request(ben, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: makeImageBody(image.id) }],
  });
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  const before = await readRow(ana, id);
  expect(await request(ben, { type: "deleteForEveryone", conversation: id, seq: 4 })).toEqual({ revision: 1 });
  expect(phoneB.decodeMessages(await phoneB.nextOf("e"))).toMatchObject([{ seq: 4, body: { type: "deleted" } }]);
  expect(await readRow(ben, id)).toMatchObject({ revision: 1, preview: { type: "deleted" } });
  await waitUntil(async () => (await countFileReferences(image.id)) === undefined);
  await scheduler.wait(50);
  expect(phoneA.counters, JSON.stringify(phoneA.raw)).toEqual([]);
  expect(await readRow(ana, id)).toEqual(before);
  await block(id, ana, false);
  await sendTexts(ben, id, "cinq");
  expect(toTexts(await readLog(ana, id))).toEqual(["un", "deux", "trois", "<withheld>", "cinq"]);
  // A message sent before the block and deleted during it is deleted for both.
  await block(id, ana);
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 5 });
  await waitUntil(async () => (await readRow(ana, id)).preview?.type === "deleted");
  expect(await readRow(ana, id)).toMatchObject({ head: 5, unread: 1 });
});

test("blocking twice, and unblocking an unblocked person, changes nothing", async () => {
  const { ana, ben, id } = await makeTalk();
  const phoneB = await Device.open(ben);
  await block(id, ana, false);
  await block(id, ana);
  await sendTexts(ben, id, "quatre");
  await block(id, ana);
  await block(id, ana, false);
  await phoneB.nextOf("e");
  await block(id, ana, false);
  await scheduler.wait(50);
  expect(phoneB.frames.filter((frame) => Array.isArray(frame) && frame[0] === "e")).toHaveLength(1);
  // In a second block the messages of the first are not marked again.
  await block(id, ana);
  await sendTexts(ben, id, "cinq");
  await block(id, ana, false);
  expect(phoneB.decodeMessages(await phoneB.nextOf("e")).map(({ seq }) => seq)).toEqual([5]);
  expect(heldOf(await readLog(ben, id))).toEqual([4, 5]);
});

test("two people who block each other see their own block, and nothing of the other's", async () => {
  const { ana, ben, id } = await makeTalk();
  await block(id, ana);
  await sendTexts(ben, id, "quatre");
  await block(id, ben);
  expect(await sendTexts(ana, id, "x")).toEqual({ error: "contact_blocked" });
  expect(await sendTexts(ben, id, "x")).toEqual({ error: "contact_blocked" });
  await block(id, ben, false);
  expect((await sendTexts(ben, id, "cinq")).sent).toMatchObject([{ seq: 5 }]);
  expect(await readRow(ana, id)).toMatchObject({ head: 3 });
});

test("an empty conversation can be blocked, and stays unlisted for both", async () => {
  const [{ ana }, other] = [await makePair(), await makePair()];
  const never = [ana.id, other.ana.id].sort().join(".");
  await block(never, ana);
  for (const person of [ana, other.ana]) {
    const page = { type: "page", conversation: never, direction: "after", seq: 0, limit: 10 } as const;
    expect(await request(person, page)).toEqual({ error: "conversation_not_found" });
    await expect(readRow(person, never)).rejects.toThrow("no such row");
  }
  await block(never, ana, false);
  await scheduler.wait(50);
  await expect(readRow(other.ana, never)).rejects.toThrow("no such row");
});

/**
 * Messages of one frame are one change. Messages of two frames are one or two on a busy machine, with or without a
 * block.
 */
const sayTogether = async (from: Device, conversation: string, ...texts: string[]): Promise<void> => {
  const frames = texts.map((one, index) => ["s", 100 + index, conversation, packUuid(createUuid()), one] as const);
  from.sendRaw(JSON.stringify(frames));
  for (const [, ref] of frames) await from.waitForOutcome(ref);
};

/** Received frames, without the parts that differ between any two conversations. */
const shapeOf = (device: Device, from: number, ids: readonly Uuid[]) =>
  device.raw
    .slice(from)
    .map((raw) => ids.reduce((text, id) => text.replaceAll(id, "id"), raw.replace(/-?\d{4,}/g, "n")));

test("a blocked person's device receives the same as if the other were offline", async () => {
  const play = async (isBlocked: boolean) => {
    const { ana, ben, id } = await makeTalk();
    if (isBlocked) {
      await call("PUT", `/api/blocks/${ben.id}`, { token: ana.token });
      await waitUntil(async () =>
        (await request(ana, { type: "changes", since: 0 })).people.some(({ blocked }) => blocked),
      );
    }
    const [phone, tablet] = [await Device.open(ben), await Device.open(ben)];
    const from = [phone.raw.length, tablet.raw.length];
    // The other reads and is online, unlike a person who is away.
    if (isBlocked) {
      await mark(ana, id, 3);
      await readLog(ana, id);
      await request(ana, { type: "clearHistory", conversation: id, upTo: 1, keep: true });
      const device = await Device.open(ana);
      device.send(["t", id]);
      device.send(["r", id, 3, 3]);
      await device.nextOf("u");
    }
    await sayTogether(phone, id, "quatre", "cinq");
    await phone.waitForOutcome(phone.sendText(id, "six"));
    phone.send(["t", id]);
    await phone.request((ref) => ["g", ref, id, "a", 3, 10]);
    await phone.request((ref) => ["e", ref, id, 5]);
    await tablet.nextOf("e");
    await phone.request((ref) => ["v", ref, id, 0]);
    await phone.request((ref) => ["c", ref, 0, null]);
    phone.send(["r", id, 3, 3]);
    for (const device of [phone, tablet]) await device.nextOf("u");
    await phone.waitForPong();
    await scheduler.wait(100);
    const { epoch } = await readRow(ben, id);
    const cids = (await readLog(ben, id)).flatMap(({ cid }) => (cid === undefined ? [] : [cid]));
    const ids = [id, epoch, phone.epoch, ...cids, ana.id, ben.id];
    return [shapeOf(phone, from[0] ?? 0, ids), shapeOf(tablet, from[1] ?? 0, ids)].map((frames) => ({
      count: frames.length,
      kinds: frames.map((frame) => frame.slice(0, 4)).sort(),
    }));
  };
  expect(await play(true)).toEqual(await play(false));
});

test("messages accepted during different blocks of a pair are each checked against their own block", async () => {
  const { ana, ben, id } = await makeTalk();
  await block(id, ana);
  const answers = await Promise.all([
    sendTexts(ben, id, "b1"),
    sendTexts(ana, id, "a1"),
    sendTexts(ben, id, "b2"),
    sendTexts(ana, id, "a2"),
  ]);
  expect(answers.map(({ error, sent }) => error ?? sent.length)).toEqual([1, "contact_blocked", 1, "contact_blocked"]);
  expect(await readRow(ana, id)).toMatchObject({ head: 3 });
});
