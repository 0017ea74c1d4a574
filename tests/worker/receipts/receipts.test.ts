import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Receipts } from "#contract/groups.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";

/** People who hide their read receipts: nobody sees what they read, by any request, and they see nobody's. */

const letBeSeen = async (person: Person, receipts: boolean): Promise<void> => {
  const { status } = await call("PATCH", "/api/settings", { token: person.token, body: { receipts } });
  if (status !== 200) throw new Error("the settings were not changed");
};
const read = (person: Person, conversation: ConversationId, seq: number) =>
  request(person, { type: "mark", conversation, delivered: seq, read: seq });
const get = (person: Person, conversation: ConversationId, seq: number) =>
  request(person, { type: "mark", conversation, delivered: seq, read: 0 });
/** Read state of the others, in a person's row. */
const seenBy = async (person: Person, conversation: ConversationId) => {
  const { othersDelivered, othersRead } = await readRow(person, conversation);
  return [othersDelivered, othersRead];
};
const comesToSee = (person: Person, conversation: ConversationId, marks: [number, number]) =>
  waitUntil(async () => JSON.stringify(await seenBy(person, conversation)) === JSON.stringify(marks)).catch(async () =>
    expect(await seenBy(person, conversation)).toEqual(marks),
  );
const receiptsOf = (person: Person, conversation: ConversationId, seq: number) =>
  requestAs<Receipts>(person, "GET", `/api/conversations/${conversation}/messages/${seq}/receipts`);

test("a message read with read receipts off counts as delivered, and as read for its reader only", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux", "trois");
  await read(ben, id, 1);
  await comesToSee(ana, id, [1, 1]);
  await letBeSeen(ben, false);
  await read(ben, id, 3);
  await comesToSee(ana, id, [3, 1]);
  expect(await readRow(ben, id)).toMatchObject({ delivered: 3, read: 3, unread: 0 });
});

test("no frame and no answer reveals hidden read receipts", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await Device.open(ana);
  await sendTexts(ana, id, "un", "deux");
  await letBeSeen(ben, false);
  await read(ben, id, 2);
  await comesToSee(ana, id, [2, 0]);
  await read(ben, id, 2);
  await sendTexts(ben, id, "réponse");
  await phone.nextLive();
  expect(phone.frames.flatMap((frame) => (Array.isArray(frame) && frame[0] === "o" ? [frame[4]] : []))).toEqual([0]);
  const late = await Device.open(ana);
  expect(late.decodeRows(late.frames[0] as never)[0]).toMatchObject({ othersDelivered: 2, othersRead: 0 });
  const page = await request(ana, { type: "page", conversation: id, direction: "before", seq: 9, limit: 9 });
  expect(JSON.stringify(page)).not.toContain("read");
  expect(await seenBy(ana, id)).toEqual([2, 0]);
});

test("reading with receipts off changes nothing for the other person", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await letBeSeen(ben, false);
  await get(ben, id, 1);
  await comesToSee(ana, id, [1, 0]);
  const phone = await Device.open(ana);
  const before = phone.raw.length;
  await read(ben, id, 1);
  await sendTexts(ben, id, "après");
  await phone.nextLive();
  expect(phone.raw.slice(before)).toHaveLength(1);
});

test("a person with read receipts off sees none of the other's from then on", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ben, id, "un", "deux");
  await read(ana, id, 1);
  await comesToSee(ben, id, [1, 1]);
  await letBeSeen(ben, false);
  const phone = await Device.open(ben);
  await read(ana, id, 2);
  await comesToSee(ben, id, [2, 1]);
  await sendTexts(ben, id, "trois");
  await read(ana, id, 3);
  await comesToSee(ben, id, [3, 1]);
  const readReceipts = phone.frames.flatMap((frame) => (Array.isArray(frame) && frame[0] === "o" ? [frame[4]] : []));
  expect(new Set(readReceipts)).toEqual(new Set([1]));
  const [list] = (await request(ben, { type: "changes", since: 0 })).rows;
  expect(list).toMatchObject({ othersDelivered: 3, othersRead: 1 });
});

test("after turning read receipts on, they are visible from the next read on, in both directions", async () => {
  const { ana, ben, id } = await makePair();
  await letBeSeen(ben, false);
  await sendTexts(ana, id, "un");
  await read(ben, id, 1);
  await comesToSee(ana, id, [1, 0]);
  await letBeSeen(ben, true);
  await get(ben, id, 1);
  await sendTexts(ana, id, "deux");
  await get(ben, id, 2);
  await comesToSee(ana, id, [2, 0]);
  await read(ben, id, 2);
  await comesToSee(ana, id, [2, 2]);
  await sendTexts(ben, id, "trois");
  await read(ana, id, 3);
  await comesToSee(ben, id, [3, 3]);
});

test("hidden receipts stay hidden when both objects restart", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux", "trois");
  await read(ben, id, 1);
  await letBeSeen(ben, false);
  await read(ben, id, 2);
  await comesToSee(ana, id, [2, 1]);
  await evictDurableObject(env.USER_CHANNEL.getByName(ben.id));
  await evictDurableObject(env.CONVERSATION.getByName(id));
  await read(ben, id, 3);
  await comesToSee(ana, id, [3, 1]);
  await sendTexts(ben, id, "quatre");
  await read(ana, id, 4);
  await comesToSee(ben, id, [4, 0]);
});

test.each(["before", "while"] as const)(
  "messages read with receipts off %s the other was blocked stay hidden after unblocking",
  async (when) => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "un", "deux", "trois");
    await read(ben, id, 1);
    await comesToSee(ana, id, [1, 1]);
    await letBeSeen(ben, false);
    if (when === "before") await read(ben, id, 3);
    const block = (method: string) => call(method, `/api/blocks/${ana.id}`, { token: ben.token });
    expect((await block("PUT")).status).toBe(200);
    if (when === "while") await read(ben, id, 3);
    expect((await block("DELETE")).status).toBe(200);
    await sendTexts(ben, id, "quatre");
    await comesToSee(ana, id, [3, 1]);
  },
);

test("messages read while the other is blocked have read receipts afterwards, for people who may see them", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  const block = (method: string) => call(method, `/api/blocks/${ana.id}`, { token: ben.token });
  await block("PUT");
  await read(ben, id, 2);
  expect(await seenBy(ana, id)).toEqual([0, 0]);
  await block("DELETE");
  await sendTexts(ben, id, "trois");
  await comesToSee(ana, id, [2, 2]);
});

test('in a group a reader with receipts off prevents the "read" tick, and is not in the list of readers', async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cid, dan] = others as unknown as [Person, Person, Person];
  const seq = (await sendTexts(owner, id, "à tous")).sent[0]?.seq ?? 0;
  await waitUntil(async () => (await readRow(dan, id)).head === seq);
  await letBeSeen(ben, false);
  for (const one of [ben, cid, dan]) await read(one, id, seq);
  const before = await seenBy(owner, id);
  await comesToSee(owner, id, [seq, before[1] ?? 0]);
  expect(before[1]).toBeLessThan(seq);
  const list = (await receiptsOf(owner, id, seq)) as Receipts;
  expect(list.read).toHaveLength(2);
  expect(list.delivered).toHaveLength(1);
  const next = (await sendTexts(cid, id, "aussi")).sent[0]?.seq ?? 0;
  await letBeSeen(ben, true);
  for (const one of [owner, ben, dan]) await read(one, id, next);
  await comesToSee(owner, id, [seq, seq]);
  expect(await receiptsOf(cid, id, next)).toMatchObject({ read: expect.objectContaining({ length: 3 }) });
});

test("in a group a reader with receipts off sees nobody's", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cid] = others as unknown as [Person, Person];
  await letBeSeen(ben, false);
  const seq = (await sendTexts(ben, id, "à tous")).sent[0]?.seq ?? 0;
  for (const one of [owner, cid]) {
    await waitUntil(async () => (await readRow(one, id)).head === seq);
    await read(one, id, seq);
  }
  await waitUntil(async () => (await seenBy(ben, id))[0] === seq);
  expect((await seenBy(ben, id))[1]).toBeLessThan(seq);
  expect(await receiptsOf(ben, id, seq)).toMatchObject({ read: [], delivered: expect.objectContaining({ length: 2 }) });
});

test("a member who left with receipts off and returns does not hold back ticks of messages in between", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cid] = others as unknown as [Person, Person];
  await letBeSeen(ben, false);
  const first = (await sendTexts(owner, id, "un")).sent[0]?.seq ?? 0;
  await waitUntil(async () => (await readRow(ben, id)).head === first);
  await read(ben, id, first);
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  const without = (await sendTexts(owner, id, "deux")).sent[0]?.seq ?? 0;
  await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [ben.id] });
  await waitUntil(async () => (await readRow(cid, id)).head > without);
  await read(cid, id, without);
  await waitUntil(async () => (await seenBy(owner, id))[1] === without);
});
