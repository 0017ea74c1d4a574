import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, createUuid, deletedUserId, type Uuid } from "#contract/ids.ts";
import { anonymousForward } from "#contract/messages/body.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { forwardMessage, makeAnonymousForward, makeForward, readBodies } from "#tests/worker/support/forward.ts";
import { makeGroup, requestAs, type SeededPerson } from "#tests/worker/support/make-group.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { countFileReferences, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import {
  countDeletions,
  deleteAccount,
  finishDeletion,
  isChannelPurged,
  readChannel,
  readConversation,
  runChannelAlarm,
  type StoredText,
} from "#tests/worker/support/stored-data.ts";
import * as unsigning from "#worker/objects/conversation/messages/forward-authors.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Name of a person with a deleted account, in forwards of their messages by others. */

afterEach(() => {
  vi.restoreAllMocks();
});

const quiet = () => vi.spyOn(console, "error").mockImplementation(() => undefined);

const rowsOf = async (author: Uuid): Promise<ConversationId[]> => {
  const query = "SELECT conversation_id FROM forwards WHERE author_id = ? ORDER BY conversation_id";
  const { results } = await env.DB.prepare(query).bind(author).all<{ conversation_id: string }>();
  return results.map(({ conversation_id }) => conversation_id);
};

/** Ana chats with Ben, Ben with Cleo, and Cleo with Dan. Cleo and Dan have no relation to Ana. */
const newChain = async () => {
  const [ana, ben, cleo, dan] = [await seedPerson(), await seedPerson(), await seedPerson(), await seedPerson()];
  const username = `Anastasie ${ana.id.slice(-6)}`;
  const [near, far, further] = [await befriend(ana, ben), await befriend(ben, cleo), await befriend(cleo, dan)];
  await env.DB.prepare("UPDATE profiles SET username = ? WHERE id = ?").bind(username, ana.id).run();
  await sendTexts(ana, near, "Mbote");
  return { ana: { ...ana, username }, ben, cleo, dan, near, far, further };
};

/** All stored data of these conversations and people that names Ana. */
const namesOf = async (
  { id, username }: Pick<SeededPerson, "id" | "username">,
  conversations: readonly ConversationId[],
  people: readonly SeededPerson[],
): Promise<StoredText[]> => {
  const places = [
    ...(await Promise.all(conversations.map(readConversation))).flat(),
    ...(await Promise.all(people.map((one) => readChannel(one.id)))).flat(),
  ];
  const isOfList = ({ where }: StoredText) => where === "channel people";
  return places.filter((row) => !isOfList(row) && [id, username].some((trace) => row.text.includes(trace)));
};

const hasReceivedRevision = async (by: SeededPerson, conversation: ConversationId, revision: number) =>
  (await readRow(by, conversation)).revision >= revision;

test("the name is removed from all forwards, in lists as well, and devices that have it are notified", async () => {
  const { ana, ben, cleo, dan, near, far, further } = await newChain();
  const image = await seedFile(ana.id);
  const cid = createUuid();
  await request(ana, {
    type: "send",
    conversation: near,
    messages: [{ cid, body: makeImageBody(image.id, "La plage") }],
  });
  await forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far);
  await forwardMessage(cleo, makeForward("Mbote", ana), { conversation: far, seq: 1 }, further);
  const { forwarded } = makeForward("", ana);
  const group = createUuid();
  await makeGroup(ben, "Équipe", [cleo], group);
  await forwardMessage(
    ben,
    { ...makeImageBody(image.id, "La plage"), forwarded },
    { conversation: near, seq: 2 },
    group,
  );
  await waitUntil(async () => JSON.stringify((await readRow(cleo, group)).preview).includes(ana.username));
  await waitUntil(async () => JSON.stringify((await readRow(dan, further)).preview).includes(ana.username));
  expect(await rowsOf(ana.id)).toEqual([far, further, group].sort());
  const before = await namesOf(ana, [far, further, group], [cleo, dan]);
  expect(new Set(before.map(({ where }) => where))).toEqual(new Set(["conversation messages", "channel inbox"]));

  const phone = await Device.open(dan);
  await deleteAccount(ana);
  await runChannelAlarm(ana.id);
  const frame = await phone.nextOf("e");
  expect(frame.slice(3, 5)).toEqual([0, 1]);
  expect(phone.decodeMessages(frame)).toMatchObject([{ seq: 1, body: makeAnonymousForward("Mbote") }]);
  await finishDeletion(ana.id);

  expect(await readBodies(cleo, far)).toEqual([makeAnonymousForward("Mbote")]);
  expect(await readBodies(dan, further)).toEqual([makeAnonymousForward("Mbote")]);
  expect((await request(cleo, { type: "revised", conversation: far, since: 0 })).messages).toMatchObject([{ seq: 1 }]);
  expect(await request(cleo, { type: "search", conversation: far, query: "mbote", before: 9 })).toMatchObject({
    messages: [{ seq: 1 }],
  });
  for (const [one, id] of [
    [ben, far],
    [cleo, far],
    [cleo, further],
    [dan, further],
    [ben, group],
    [cleo, group],
  ] as const)
    await waitUntil(async () => hasReceivedRevision(one, id, 1));
  expect(await readRow(dan, further)).toMatchObject({ unread: 1, preview: makeAnonymousForward("Mbote") });
  expect((await readBodies(cleo, group)).at(-1)).toEqual({
    ...makeImageBody(image.id, "La plage"),
    forwarded: anonymousForward,
  });
  expect(await countFileReferences(image.id)).toBe(2);
  for (const id of [far, further, group]) await evictDurableObject(env.CONVERSATION.getByName(id));
  expect(await namesOf(ana, [far, further, group], [cleo, dan])).toEqual([]);
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("if a person's own channel has a later position, the name is removed by that, also from a group that they had left", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await befriend(ana, cleo);
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cleo], group);
  const outcome = await forwardMessage(ana, makeForward("Mbote", ana), { conversation: near, seq: 1 }, group);
  // Removing one's own name costs the directory nothing.
  expect(await rowsOf(ana.id)).toEqual([]);
  expect(await requestAs(ana, "DELETE", `/api/groups/${group}/members/${ana.id}`)).toBeNull();
  await waitUntil(async () => !(await readRow(ana, group)).open);
  await forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, near);
  const phone = await Device.open(cleo);
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  const frame = await phone.nextOf("e");
  expect(phone.decodeMessages(frame)).toMatchObject([{ seq: outcome, body: makeAnonymousForward("Mbote") }]);
  expect((await readBodies(ben, near)).at(-1)).toEqual(makeAnonymousForward("Mbote"));
  expect(JSON.stringify([await readLog(ben, group), await readLog(cleo, group)])).not.toContain(ana.username);
  expect(await readBodies(cleo, far)).toEqual([]);
});

test("a message accepted before the deletion and stored after the first pass is found by the last pass", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  const { sendMessages } = Conversation.prototype;
  let letGo = (): void => undefined;
  let isHeld = false;
  const goes = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  vi.spyOn(Conversation.prototype, "sendMessages").mockImplementation(async function (this: Conversation, ...args) {
    const isFar = nameOf(this) === far;
    isHeld ||= isFar;
    if (isFar) await goes;
    return sendMessages.apply(this, args);
  });
  const sending = forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far);
  await waitUntil(() => isHeld);
  await deleteAccount(ana);
  await waitUntil(async () => {
    await runChannelAlarm(ana.id);
    return isChannelPurged(ana.id);
  });
  letGo();
  expect(await sending).toBe(1);
  expect(await readBodies(cleo, far)).toEqual([makeForward("Mbote", ana)]);
  await finishDeletion(ana.id);
  expect(await readBodies(cleo, far)).toEqual([makeAnonymousForward("Mbote")]);
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("a conversation that cannot be reached delays no other, and is notified later", async () => {
  quiet();
  const { ana, ben, cleo, dan, near, far, further } = await newChain();
  await forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far);
  await forwardMessage(cleo, makeForward("Mbote", ana), { conversation: far, seq: 1 }, further);
  const [first = "", second = ""] = [far, further].sort();
  const unused = await seedFile(ana.id);
  let isAway = true;
  const { anonymizeForwardsOf: unsign } = unsigning;
  vi.spyOn(unsigning, "anonymizeForwardsOf").mockImplementation((log, author) => {
    if (isAway && log.id === first) throw new Error("overloaded");
    return unsign(log, author);
  });
  await deleteAccount(ana);
  const readIn = (id: ConversationId) => readBodies(id === far ? ben : dan, id);
  await waitUntil(async () => {
    await runChannelAlarm(ana.id);
    return JSON.stringify(await readIn(second)).includes(deletedUserId);
  });
  await waitUntil(async () => (await countFileReferences(unused.id)) === undefined);
  expect(await readIn(first)).toEqual([makeForward("Mbote", ana)]);
  expect(await countDeletions(ana.id)).toBe(1);
  isAway = false;
  await finishDeletion(ana.id);
  expect(await readIn(first)).toEqual([makeAnonymousForward("Mbote")]);
});

test("a later forward carries no name, whatever the device still knows", async () => {
  const { ana, ben, cleo, dan, near, far, further } = await newChain();
  await sendTexts(ana, near, "Encore");
  await forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far);
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  const at = { conversation: far, seq: 1 };
  expect(await forwardMessage(cleo, makeAnonymousForward("Mbote"), at, further)).toBe(1);
  // A device that was offline when the name was removed, and a person who forwards what Ana wrote to them herself.
  expect(await forwardMessage(cleo, makeForward("Mbote", ana), at, further)).toBe(2);
  expect(await forwardMessage(ben, makeForward("Encore", ana), { conversation: near, seq: 2 }, far)).toBe(2);
  expect(await forwardMessage(cleo, makeForward("Encore", ana), { conversation: far, seq: 2 }, further)).toBe(3);
  expect(await readBodies(dan, further)).toEqual([
    makeAnonymousForward("Mbote"),
    makeAnonymousForward("Mbote"),
    makeAnonymousForward("Encore"),
  ]);
  expect(await readBodies(cleo, far)).toEqual([makeAnonymousForward("Mbote"), makeAnonymousForward("Encore")]);
  // The forwarding person has an account and may be named; nobody else is.
  expect(await forwardMessage(cleo, makeForward("Mbote", ben), at, further)).toBe(4);
  expect((await readBodies(dan, further)).at(-1)).toEqual(makeForward("Mbote", ben));
  expect(await forwardMessage(dan, makeForward("Autre", cleo), { conversation: further, seq: 1 }, further)).toBe(
    "invalid_input",
  );
  expect(await rowsOf(ana.id)).toEqual([]);
  expect(await namesOf(ana, [far, further], [cleo, dan])).toEqual([]);
});

test("a device that sent the name is notified once that its message is stored without it", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  const [phone, tablet, cleos] = [await Device.open(ben), await Device.open(ben), await Device.open(cleo)];
  const message = { cid: createUuid(), body: makeForward("Mbote", ana), source: { conversation: near, seq: 1 } };
  expect(await phone.waitForOutcome(phone.sendMessage(far, message))).toMatchObject({ seq: 1 });
  for (const device of [phone, tablet]) {
    expect(device.decodeMessages(await device.nextOf("e"))).toMatchObject([
      { seq: 1, body: makeAnonymousForward("Mbote") },
    ]);
  }
  expect(cleos.decodeMessages(await cleos.nextOf("m"))).toMatchObject([
    { seq: 1, body: makeAnonymousForward("Mbote") },
  ]);
  expect(await phone.waitForOutcome(phone.sendMessage(far, message))).toMatchObject({ seq: 1 });
  expect((await request(ben, { type: "revised", conversation: far, since: 0 })).revision).toBe(1);
});

test("a refused message, or one to a conversation that never began, needs no cleanup", async () => {
  const { ana, ben, cleo, near } = await newChain();
  const never = [ben.id, (await seedPerson()).id].sort().join(".");
  await env.DB.prepare("INSERT INTO forwards VALUES (?, ?, 0)").bind(ana.id, never).run();
  const { sendMessages } = Conversation.prototype;
  const far = [ben.id, cleo.id].sort().join(".");
  // The message is lost on its way, after the directory was informed.
  quiet();
  vi.spyOn(Conversation.prototype, "sendMessages").mockImplementation(async function (this: Conversation, ...args) {
    if (nameOf(this) === far) throw new Error("as if the machine had died");
    return sendMessages.apply(this, args);
  });
  expect(await forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far)).toBe("unavailable");
  expect(await rowsOf(ana.id)).toEqual([far, never].sort());
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("the name is removed from undelivered messages as well, and the blocking person is not notified", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await sendTexts(ben, far, "avant");
  await waitUntil(async () => (await readRow(cleo, far)).head === 1);
  await getConversationStub(env, far).setBlocked(cleo.id, true);
  expect(await forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far)).toBe(2);
  const [phone, bens] = [await Device.open(cleo), await Device.open(ben)];
  const before = await readRow(cleo, far);
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  expect(bens.decodeMessages(await bens.nextOf("e"))).toMatchObject([{ seq: 2, body: makeAnonymousForward("Mbote") }]);
  expect(await readBodies(ben, far)).toEqual([{ type: "text", text: "avant" }, makeAnonymousForward("Mbote")]);
  await scheduler.wait(50);
  expect(phone.counters).toEqual([]);
  expect(await readRow(cleo, far)).toEqual(before);
});

test("a person with an account is never forwarded as a deleted one", async () => {
  const { ben, cleo, near, far } = await newChain();
  expect(await forwardMessage(ben, makeAnonymousForward("Mbote"), { conversation: near, seq: 1 }, far)).toBe(
    "original_gone",
  );
  expect(await readBodies(cleo, far)).toEqual([]);
});

test("the directory keeps one row per conversation to which a person's messages were forwarded, and none for the person's own", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await Promise.all(
    Array.from({ length: 3 }, () =>
      forwardMessage(ben, makeForward("Mbote", ana), { conversation: near, seq: 1 }, far),
    ),
  );
  expect(await rowsOf(ana.id)).toEqual([far]);
  await sendTexts(ben, far, "de moi");
  const own = (await readLog(ben, far)).at(-1)?.seq ?? 0;
  await forwardMessage(ben, makeForward("de moi", ben), { conversation: far, seq: own }, near);
  expect(await rowsOf(ben.id)).toEqual([]);
  expect(await readBodies(cleo, far)).toHaveLength(4);
});
