import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { anonymousForward } from "#contract/conversations.ts";
import { type ConversationId, createUuid, deletedUserId, type Uuid } from "#contract/ids.ts";
import { Device, post, readLog, request, rowOf, until } from "#tests/worker/support/device.ts";
import { passOn, readBodies, signed, unsigned } from "#tests/worker/support/forward.ts";
import { ask, makeGroup, type Seeded } from "#tests/worker/support/make-group.ts";
import {
  deleteAccount,
  deletionsOf,
  finish,
  isCleared,
  type Place,
  pass,
  readChannel,
  readConversation,
} from "#tests/worker/support/recount.ts";
import { imageOf, seedFile, usesOf } from "#tests/worker/support/seeded-files.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import * as unsigning from "#worker/objects/conversation/messages/anonymize-forwards.ts";
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
  await post(ana, near, "Mbote");
  return { ana: { ...ana, username }, ben, cleo, dan, near, far, further };
};

/** All stored data of these conversations and people that names Ana. */
const namesOf = async (
  { id, username }: Pick<Seeded, "id" | "username">,
  conversations: readonly ConversationId[],
  people: readonly Seeded[],
): Promise<Place[]> => {
  const places = [
    ...(await Promise.all(conversations.map(readConversation))).flat(),
    ...(await Promise.all(people.map((one) => readChannel(one.id)))).flat(),
  ];
  const isOfList = ({ where }: Place) => where === "channel people";
  return places.filter((place) => !isOfList(place) && [id, username].some((trace) => place.text.includes(trace)));
};

const isTold = async (by: Seeded, conversation: ConversationId, revision: number) =>
  (await rowOf(by, conversation)).revision >= revision;

test("the name goes wherever its words went, in lists as well, and devices that have it hear so", async () => {
  const { ana, ben, cleo, dan, near, far, further } = await newChain();
  const image = await seedFile(ana.id);
  const cid = createUuid();
  await request(ana, { type: "send", conversation: near, messages: [{ cid, body: imageOf(image.id, "La plage") }] });
  await passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far);
  await passOn(cleo, signed("Mbote", ana), { conversation: far, seq: 1 }, further);
  const { forwarded } = signed("", ana);
  const group = createUuid();
  await makeGroup(ben, "Équipe", [cleo], group);
  await passOn(ben, { ...imageOf(image.id, "La plage"), forwarded }, { conversation: near, seq: 2 }, group);
  await until(async () => JSON.stringify((await rowOf(cleo, group)).preview).includes(ana.username));
  await until(async () => JSON.stringify((await rowOf(dan, further)).preview).includes(ana.username));
  expect(await rowsOf(ana.id)).toEqual([far, further, group].sort());
  const before = await namesOf(ana, [far, further, group], [cleo, dan]);
  expect(new Set(before.map(({ where }) => where))).toEqual(new Set(["conversation messages", "channel inbox"]));

  const phone = await Device.open(dan);
  await deleteAccount(ana);
  await pass(ana.id);
  const frame = await phone.nextOf("e");
  expect(frame.slice(3, 5)).toEqual([0, 1]);
  expect(phone.messagesOf(frame)).toMatchObject([{ seq: 1, body: unsigned("Mbote") }]);
  await finish(ana.id);

  expect(await readBodies(cleo, far)).toEqual([unsigned("Mbote")]);
  expect(await readBodies(dan, further)).toEqual([unsigned("Mbote")]);
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
    await until(async () => isTold(one, id, 1));
  expect(await rowOf(dan, further)).toMatchObject({ unread: 1, preview: unsigned("Mbote") });
  expect((await readBodies(cleo, group)).at(-1)).toEqual({
    ...imageOf(image.id, "La plage"),
    forwarded: anonymousForward,
  });
  expect(await usesOf(image.id)).toBe(2);
  for (const id of [far, further, group]) await evictDurableObject(env.CONVERSATION.getByName(id));
  expect(await namesOf(ana, [far, further, group], [cleo, dan])).toEqual([]);
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("where somebody's own channel leads, the name goes by that, also from a group that they had left", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await befriend(ana, cleo);
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben, cleo], group);
  const place = await passOn(ana, signed("Mbote", ana), { conversation: near, seq: 1 }, group);
  // Removing one's own name costs the directory nothing.
  expect(await rowsOf(ana.id)).toEqual([]);
  expect(await ask(ana, "DELETE", `/api/groups/${group}/members/${ana.id}`)).toBeNull();
  await until(async () => (await rowOf(ana, group)).gone);
  await passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, near);
  const phone = await Device.open(cleo);
  await deleteAccount(ana);
  await finish(ana.id);
  const frame = await phone.nextOf("e");
  expect(phone.messagesOf(frame)).toMatchObject([{ seq: place, body: unsigned("Mbote") }]);
  expect((await readBodies(ben, near)).at(-1)).toEqual(unsigned("Mbote"));
  expect(JSON.stringify([await readLog(ben, group), await readLog(cleo, group)])).not.toContain(ana.username);
  expect(await readBodies(cleo, far)).toEqual([]);
});

test("what was let in before the end and stored after the first look is found by the last", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  const { sendMessages } = Conversation.prototype;
  let letGo = (): void => undefined;
  let isHeld = false;
  const goes = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  vi.spyOn(Conversation.prototype, "sendMessages").mockImplementation(async function (this: Conversation, id, ...rest) {
    isHeld ||= id === far;
    if (id === far) await goes;
    return sendMessages.call(this, id, ...rest);
  });
  const sending = passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far);
  await until(() => isHeld);
  await deleteAccount(ana);
  await until(async () => {
    await pass(ana.id);
    return isCleared(ana.id);
  });
  letGo();
  expect(await sending).toBe(1);
  expect(await readBodies(cleo, far)).toEqual([signed("Mbote", ana)]);
  await finish(ana.id);
  expect(await readBodies(cleo, far)).toEqual([unsigned("Mbote")]);
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("a conversation that cannot be reached keeps nothing else waiting, and is told later", async () => {
  quiet();
  const { ana, ben, cleo, dan, near, far, further } = await newChain();
  await passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far);
  await passOn(cleo, signed("Mbote", ana), { conversation: far, seq: 1 }, further);
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
  await until(async () => {
    await pass(ana.id);
    return JSON.stringify(await readIn(second)).includes(deletedUserId);
  });
  await until(async () => (await usesOf(unused.id)) === undefined);
  expect(await readIn(first)).toEqual([signed("Mbote", ana)]);
  expect(await deletionsOf(ana.id)).toBe(1);
  isAway = false;
  await finish(ana.id);
  expect(await readIn(first)).toEqual([unsigned("Mbote")]);
});

test("who passes it on afterwards passes on no name, whatever their device still knows", async () => {
  const { ana, ben, cleo, dan, near, far, further } = await newChain();
  await post(ana, near, "Encore");
  await passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far);
  await deleteAccount(ana);
  await finish(ana.id);
  const at = { conversation: far, seq: 1 };
  expect(await passOn(cleo, unsigned("Mbote"), at, further)).toBe(1);
  // A device that was offline when the name was removed, and a person who forwards what Ana wrote to them herself.
  expect(await passOn(cleo, signed("Mbote", ana), at, further)).toBe(2);
  expect(await passOn(ben, signed("Encore", ana), { conversation: near, seq: 2 }, far)).toBe(2);
  expect(await passOn(cleo, signed("Encore", ana), { conversation: far, seq: 2 }, further)).toBe(3);
  expect(await readBodies(dan, further)).toEqual([unsigned("Mbote"), unsigned("Mbote"), unsigned("Encore")]);
  expect(await readBodies(cleo, far)).toEqual([unsigned("Mbote"), unsigned("Encore")]);
  // The forwarding person has an account and may be named; nobody else is.
  expect(await passOn(cleo, signed("Mbote", ben), at, further)).toBe(4);
  expect((await readBodies(dan, further)).at(-1)).toEqual(signed("Mbote", ben));
  expect(await passOn(dan, signed("Autre", cleo), { conversation: further, seq: 1 }, further)).toBe("invalid_input");
  expect(await rowsOf(ana.id)).toEqual([]);
  expect(await namesOf(ana, [far, further], [cleo, dan])).toEqual([]);
});

test("a device that gave the name hears that its message stands without it, once", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await deleteAccount(ana);
  await finish(ana.id);
  const [phone, tablet, cleos] = [await Device.open(ben), await Device.open(ben), await Device.open(cleo)];
  const message = { cid: createUuid(), body: signed("Mbote", ana), source: { conversation: near, seq: 1 } };
  expect(await phone.outcome(phone.post(far, message))).toMatchObject({ seq: 1 });
  for (const device of [phone, tablet]) {
    expect(device.messagesOf(await device.nextOf("e"))).toMatchObject([{ seq: 1, body: unsigned("Mbote") }]);
  }
  expect(cleos.messagesOf(await cleos.nextOf("m"))).toMatchObject([{ seq: 1, body: unsigned("Mbote") }]);
  expect(await phone.outcome(phone.post(far, message))).toMatchObject({ seq: 1 });
  expect((await request(ben, { type: "revised", conversation: far, since: 0 })).revision).toBe(1);
});

test("what was refused, or went where nothing ever began, leaves nothing to do", async () => {
  const { ana, ben, cleo, near } = await newChain();
  const never = [ben.id, (await seedPerson()).id].sort().join(".");
  await env.DB.prepare("INSERT INTO forwards VALUES (?, ?, 0)").bind(ana.id, never).run();
  const { sendMessages } = Conversation.prototype;
  const far = [ben.id, cleo.id].sort().join(".");
  // The message is lost on its way, after the directory was informed.
  quiet();
  vi.spyOn(Conversation.prototype, "sendMessages").mockImplementation(async function (this: Conversation, id, ...rest) {
    if (id === far) throw new Error("as if the machine had died");
    return sendMessages.call(this, id, ...rest);
  });
  expect(await passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far)).toBe("unavailable");
  expect(await rowsOf(ana.id)).toEqual([far, never].sort());
  await deleteAccount(ana);
  await finish(ana.id);
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("where it was withheld from the other the name goes as well, and they hear nothing of that", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await post(ben, far, "avant");
  await until(async () => (await rowOf(cleo, far)).head === 1);
  await getConversationStub(env, far).setBlocked(far, cleo.id, true);
  expect(await passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far)).toBe(2);
  const [phone, bens] = [await Device.open(cleo), await Device.open(ben)];
  const before = await rowOf(cleo, far);
  await deleteAccount(ana);
  await finish(ana.id);
  expect(bens.messagesOf(await bens.nextOf("e"))).toMatchObject([{ seq: 2, body: unsigned("Mbote") }]);
  expect(await readBodies(ben, far)).toEqual([{ type: "text", text: "avant" }, unsigned("Mbote")]);
  await scheduler.wait(50);
  expect(phone.counters).toEqual([]);
  expect(await rowOf(cleo, far)).toEqual(before);
});

test("nobody with an account is passed on as somebody without", async () => {
  const { ben, cleo, near, far } = await newChain();
  expect(await passOn(ben, unsigned("Mbote"), { conversation: near, seq: 1 }, far)).toBe("original_gone");
  expect(await readBodies(cleo, far)).toEqual([]);
});

test("of a person whose words went to a conversation often the directory keeps one row, and of one's own none", async () => {
  const { ana, ben, cleo, near, far } = await newChain();
  await Promise.all(
    Array.from({ length: 3 }, () => passOn(ben, signed("Mbote", ana), { conversation: near, seq: 1 }, far)),
  );
  expect(await rowsOf(ana.id)).toEqual([far]);
  await post(ben, far, "de moi");
  const own = (await readLog(ben, far)).at(-1)?.seq ?? 0;
  await passOn(ben, signed("de moi", ben), { conversation: far, seq: own }, near);
  expect(await rowsOf(ben.id)).toEqual([]);
  expect(await readBodies(cleo, far)).toHaveLength(4);
});
