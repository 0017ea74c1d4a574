import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, createUuid, packUuid, type Uuid } from "#contract/ids.ts";
import { pendingDeletionLifetimeMs, pendingDeletionsMax } from "#contract/limits/messages.ts";
import type { Body } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import {
  Device,
  makeText,
  readLog,
  readRow,
  request,
  sendTexts,
  toTexts,
  waitUntil,
} from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { countFileReferences, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { deleteAccount, finishDeletion, readConversation } from "#tests/worker/support/stored-data.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Messages that their author deletes by client id, before or after they arrived. */

afterEach(() => {
  vi.restoreAllMocks();
});

const deletePending = (person: Person, conversation: ConversationId, cid: Uuid) =>
  request(person, { type: "deletePending", conversation, cid });
const send = (person: Person, conversation: ConversationId, cid: Uuid, body: Body = makeText("regretté").body) =>
  request(person, { type: "send", conversation, messages: [{ cid, body }] });
/** Client ids stored as deleted before arrival. */
const keptIn = async (conversation: ConversationId): Promise<string[]> =>
  (await readConversation(conversation))
    .filter(({ where }) => where.endsWith(" withdrawn"))
    .map(({ text }) => (JSON.parse(text) as { cid: string }).cid);

test("a delivered message is deleted for everybody by client id on every device, as by its position", async () => {
  const { ana, ben, id } = await makePair();
  const [cid, image] = [createUuid(), await seedFile(ana.id)];
  await send(ana, id, cid, makeImageBody(image.id, "regretté"));
  await sendTexts(ana, id, "deux");
  await waitUntil(async () => (await readRow(ben, id)).unread === 2);
  const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  expect((await phone.request((ref) => ["e", ref, id, packUuid(cid)]))[0]).toBe("y");
  for (const device of [phone, tablet, phoneB]) {
    const frame = await device.nextOf("e");
    expect(frame.slice(3, 5)).toEqual([0, 1]);
    expect(device.decodeMessages(frame)).toMatchObject([{ seq: 1, body: { type: "deleted" } }]);
  }
  expect(await phoneB.nextOf("u")).toMatchObject({ 5: 1 });
  for (const person of [ana, ben]) {
    expect(toTexts(await readLog(person, id))).toEqual(["<deleted>", "deux"]);
    expect(await readRow(person, id)).toMatchObject({ revision: 1, preview: { type: "text", text: "deux" } });
  }
  await waitUntil(async () => (await countFileReferences(image.id)) === undefined);
  expect(await env.FILES.head(image.key)).toBeNull();
  expect(await keptIn(id)).toEqual([]);
});

test("repeated, or deleted by position meanwhile, it has the revision of the first deletion", async () => {
  const { ana, id } = await makePair();
  const cids = [createUuid(), createUuid()] as const;
  for (const cid of cids) await send(ana, id, cid);
  const first = await deletePending(ana, id, cids[0]);
  expect(first).toMatchObject({ revision: 1, place: { seq: 1 } });
  expect(await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 })).toEqual({ revision: 2 });
  expect(await deletePending(ana, id, cids[0])).toEqual(first);
  expect(await deletePending(ana, id, cids[1])).toMatchObject({ revision: 2, place: { seq: 2 } });
  expect(await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 })).toEqual({ revision: 1 });
  // Sent again by a device that does not know of the deletion, it keeps its seq and stays deleted.
  expect((await send(ana, id, cids[0])).sent).toMatchObject([{ cid: cids[0], seq: 1 }]);
  expect(toTexts(await readLog(ana, id))).toEqual(["<deleted>", "<deleted>"]);
});

test("it is deleted for the others although its author cleared the chat or received many messages since", async () => {
  const { ana, ben, id } = await makePair();
  const cid = createUuid();
  await send(ana, id, cid);
  for (let i = 0; i < 5; i++) await sendTexts(ben, id, ...Array.from({ length: 45 }, (_, n) => `${i} ${n}`));
  await request(ana, { type: "clearHistory", conversation: id, upTo: 200, keep: true });
  expect(await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 })).toEqual({
    error: "message_not_found",
  });
  expect(await deletePending(ana, id, cid)).toMatchObject({ revision: 1, place: { seq: 1 } });
  expect(toTexts(await readLog(ben, id))[0]).toBe("<deleted>");
});

test("a message that arrives after its deletion is refused, and only its sender is notified", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ben, id, "un");
  await waitUntil(async () => (await readRow(ana, id)).head === 1);
  const cid = createUuid();
  expect(await deletePending(ana, id, cid)).toEqual({ revision: 0, place: null });
  expect(await deletePending(ana, id, cid)).toEqual({ revision: 0, place: null });
  expect(await keptIn(id)).toEqual([cid]);
  await evictDurableObject(env.CONVERSATION.getByName(id));
  const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const heard = [tablet.raw.length, phoneB.raw.length];
  for (let i = 0; i < 2; i++)
    expect(await phone.waitForOutcome(phone.sendText(id, "regretté", cid))).toEqual({ error: "message_withdrawn" });
  expect(await send(ana, id, cid)).toEqual({ error: "message_withdrawn" });
  // Other messages of the same request are sent, and so are later ones on the same socket.
  const other = makeText("deux");
  const answer = await request(ana, {
    type: "send",
    conversation: id,
    messages: [{ cid, body: makeText("regretté").body }, other],
  });
  expect(answer.sent).toMatchObject([{ cid: other.cid, seq: 2 }]);
  expect(await phone.waitForOutcome(phone.sendText(id, "trois"))).toMatchObject({ seq: 3 });
  for (const device of [tablet, phoneB]) await waitUntil(() => device.seqs.includes(3));
  for (const [index, device] of [tablet, phoneB].entries())
    expect(device.raw.slice(heard[index]).join()).not.toContain("regretté");
  // The command affects no message of another member.
  expect((await send(ben, id, cid)).sent).toMatchObject([{ seq: 4 }]);
});

test("one of many target conversations is left out, its file is released, and the others get the message", async () => {
  const { ana, id } = await makePair();
  const to = await befriend(ana, await seedPerson());
  const [image, cids] = [await seedFile(ana.id), [createUuid(), createUuid()] as const];
  expect(await deletePending(ana, id, cids[0])).toMatchObject({ place: null });
  const answer = await request(ana, {
    type: "multicast",
    body: makeImageBody(image.id),
    to: [
      { conversation: id, cid: cids[0] },
      { conversation: to, cid: cids[1] },
    ],
  });
  expect(answer.refused).toEqual([{ cid: cids[0], error: "message_withdrawn" }]);
  expect(answer.sent).toMatchObject([{ conversation: to, cid: cids[1] }]);
  await waitUntil(async () => (await countFileReferences(image.id)) === 1);
});

test.each([
  ["the message first", true],
  ["the withdrawal first", false],
])("of a hundred deletions at the same moment, %s, no message remains", async (_, isMessageFirst) => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ben, id, "un");
  await waitUntil(async () => (await readRow(ana, id)).head === 1);
  const phone = await Device.open(ana);
  const cids = Array.from({ length: 100 }, () => createUuid());
  const take = (cid: Uuid, index: number) => phone.send(["e", 1_000 + index, id, packUuid(cid)]);
  const refs = cids.map((cid, index) => {
    if (!isMessageFirst) take(cid, index);
    const ref = phone.sendText(id, "regretté", cid);
    if (isMessageFirst) take(cid, index);
    return ref;
  });
  const outcomes = await Promise.all(refs.map((ref) => phone.waitForOutcome(ref)));
  const answers = await Promise.all(cids.map((cid) => deletePending(ana, id, cid)));
  expect(outcomes.map((one) => ("seq" in one ? one.seq : one.error))).toEqual(
    answers.map(({ place }) => place?.seq ?? "message_withdrawn"),
  );
  for (const person of [ana, ben]) {
    const [first, ...others] = toTexts(await readLog(person, id));
    expect(first).toBe("un");
    expect(others.filter((text) => text !== "<deleted>")).toEqual([]);
  }
  // Each of them is either in the log or stored as deleted, never both.
  const kept = await keptIn(id);
  expect((await readLog(ana, id)).length - 1 + kept.length).toBe(cids.length);
  if (!isMessageFirst) expect(kept.length).toBeGreaterThan(0);
  await waitUntil(async () => !JSON.stringify(await readRow(ben, id)).includes("regretté"));
});

test("only own messages can be deleted by client id, no system messages, and strangers find nothing", async () => {
  const { ana, ben, id } = await makePair();
  const cid = createUuid();
  await send(ana, id, cid);
  expect(await deletePending(ben, id, cid)).toEqual({ revision: 0, place: null });
  expect(toTexts(await readLog(ana, id))).toEqual(["regretté"]);
  const sam = await seedPerson();
  expect(await deletePending(sam, id, cid)).toEqual({ error: "conversation_not_found" });
  const phone = await Device.open(sam);
  expect(await phone.request((ref) => ["e", ref, id, packUuid(cid)])).toEqual(["n", 1, "conversation_not_found"]);
  const group = await makeSyncedGroup(2);
  const line = (await readLog(group.owner, group.id))[0];
  expect(line?.body.type).toBe("event");
  expect(await deletePending(group.owner, group.id, line?.cid ?? "")).toEqual({ error: "not_your_message" });
});

test("an undelivered message is deleted for its author alone", async () => {
  const { ana, ben, id } = await makePair();
  const cid = createUuid();
  await getConversationStub(env, id).setBlocked(ben.id, true);
  await send(ana, id, cid);
  const before = await readRow(ben, id);
  expect(await deletePending(ana, id, cid)).toMatchObject({ place: { seq: 1 } });
  expect(toTexts(await readLog(ana, id))).toEqual(["<deleted>"]);
  expect(await readRow(ben, id)).toEqual(before);
  // A blocking member cannot send, but can delete earlier messages.
  expect(await deletePending(ben, id, createUuid())).toMatchObject({ place: null });
});

test("the newest deletions of each member are remembered, for thirty days", async () => {
  const { ana, ben, id } = await makePair();
  const bens = createUuid();
  await deletePending(ben, id, bens);
  const cids = Array.from({ length: pendingDeletionsMax + 3 }, () => createUuid());
  for (const [index, cid] of cids.entries()) {
    vi.spyOn(Date, "now").mockReturnValue(1_800_000_000_000 + index);
    await getConversationStub(env, id).deletePending(ana.id, cid);
  }
  expect((await keptIn(id)).sort()).toEqual([bens, ...cids.slice(3)].sort());
  vi.spyOn(Date, "now").mockReturnValue(1_800_000_000_000 + 50 + pendingDeletionLifetimeMs);
  const last = createUuid();
  await getConversationStub(env, id).deletePending(ana.id, last);
  expect((await keptIn(id)).sort()).toEqual([bens, ...cids.slice(50), last].sort());
});

test("nothing remains of deletions when a member leaves, a group ends or an account is deleted", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const cid = createUuid();
  await send(ben, id, cid);
  for (const one of [owner, ben, cleo, dan]) await deletePending(one, id, createUuid());
  const pair = await befriend(dan, await seedPerson());
  await deletePending(dan, pair, createUuid());
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  expect(await keptIn(id)).toHaveLength(3);
  await waitUntil(async () => !(await readRow(ben, id)).open);
  for (const one of [cid, createUuid()])
    expect(await deletePending(ben, id, one)).toEqual({ error: "conversation_not_found" });
  expect(toTexts(await readLog(cleo, id))).toContain("regretté");
  // A member who deleted the history and returns cannot delete messages from before.
  expect(await request(ben, { type: "clearHistory", conversation: id, upTo: 9, keep: false })).not.toHaveProperty(
    "error",
  );
  await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [ben.id] });
  await waitUntil(async () => (await readRow(ben, id)).open);
  expect(await deletePending(ben, id, cid)).toEqual({ error: "message_not_found" });
  expect(toTexts(await readLog(cleo, id))).toContain("regretté");
  expect((await deleteAccount(dan)).status).toBe(204);
  await finishDeletion(dan.id);
  expect([await keptIn(id), await keptIn(pair)].map(({ length }) => length)).toEqual([2, 0]);
  await requestAs(owner, "DELETE", `/api/groups/${id}`);
  expect(await keptIn(id)).toEqual([]);
});
