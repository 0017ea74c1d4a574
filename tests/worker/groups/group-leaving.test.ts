import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { readPath } from "#contract/files.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { fanOutAtOnce } from "#contract/limits.ts";
import type { Person } from "#tests/support/people/people.ts";
import { withTimeout } from "#tests/worker/support/clock.ts";
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
import { readMembers } from "#tests/worker/support/group-oracle.ts";
import { makeSyncedGroup, readMemberPage, requestAs } from "#tests/worker/support/make-group.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { makeDocumentBody, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const toldWithinMs = 2_000;

afterEach(() => {
  vi.restoreAllMocks();
});

const member = (group: string, one: Person) => `/api/groups/${group}/members/${one.id}`;
const remove = (owner: Person, group: string, one: Person) => requestAs(owner, "DELETE", member(group, one));
const add = (owner: Person, group: string, ...people: Person[]) =>
  requestAs(owner, "POST", `/api/groups/${group}/members`, { members: people.map(({ id }) => id) });
const sendFile = async (from: Person, conversation: ConversationId, text: string) => {
  const { id } = await seedFile(from.id);
  const messages = [{ cid: createUuid(), body: makeImageBody(id, text) }];
  const { sent } = await request(from, { type: "send", conversation, messages });
  return { file: id, seq: sent[0]?.seq ?? 0 };
};
const fileStatus = async (by: Person, conversation: ConversationId, file: string) =>
  (await call("GET", readPath(conversation, file), { token: by.token })).status;

/** All requests about a conversation and its messages, with their refusals. */
const askAll = async (person: Person, id: ConversationId, seq: number, to: ConversationId) => {
  const named = { conversation: id } as const;
  const foreign = { type: "text", text: "avant", forwarded: { by: createUuid(), name: "Ana" } } as const;
  const asked = {
    after: request(person, { type: "page", ...named, direction: "after", seq: 0, limit: 40 }),
    before: request(person, { type: "page", ...named, direction: "before", seq: 1_000, limit: 40 }),
    search: request(person, { type: "search", ...named, query: "a", before: 1_000 }),
    revised: request(person, { type: "revised", ...named, since: 0 }),
    mark: request(person, { type: "mark", ...named, delivered: seq, read: seq }),
    clearHistory: request(person, { type: "clearHistory", ...named, upTo: seq, keep: true }),
    deleteForEveryone: request(person, { type: "deleteForEveryone", ...named, seq }),
    deletePending: request(person, { type: "deletePending", ...named, cid: createUuid() }),
    editMessage: request(person, { type: "editMessage", ...named, target: seq, edit: 0, text: "après" }),
    forward: request(person, {
      type: "send",
      conversation: to,
      messages: [{ cid: createUuid(), body: foreign, source: { conversation: id, seq } }],
    }),
  };
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, answer]) => [name, (await (answer as Promise<{ error?: string }>)).error]),
  );
  const paths = { group: "", members: "/members", numbers: "/members?numbers=0,1" };
  const read = await Promise.all(
    Object.entries(paths).map(async ([name, path]) => [
      name,
      await requestAs(person, "GET", `/api/groups/${id}${path}`),
    ]),
  );
  const receipts = await requestAs(person, "GET", `/api/conversations/${id}/messages/${seq}/receipts`);
  return Object.fromEntries([...answers, ...read, ["receipts", receipts]]) as Record<string, unknown>;
};

test("a removed member is notified within two seconds on every device, and receives nothing from then on by any route", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const otherConversation = await befriend(cleo, await seedPerson());
  const { file, seq } = await sendFile(cleo, id, "avant");
  await sendTexts(ben, id, "avant aussi");
  await waitUntil(async () => (await readRow(cleo, id)).unread === 1);
  expect(await fileStatus(cleo, id, file)).not.toBe(404);
  expect(await request(cleo, { type: "mute", conversation: id, muted: true })).toMatchObject({ muted: true });
  const devices = [await Device.open(cleo), await Device.open(cleo)];

  expect(await remove(owner, id, cleo)).toBe(null);
  await withTimeout(toldWithinMs, Promise.all(devices.map((device) => device.nextOf("i"))));
  expect(await readRow(cleo, id)).toMatchObject({ gone: true, open: false, preview: null, unread: 0 });
  await waitUntil(async () => (await readRow(dan, id)).head === 4);

  // Group activity after leaving: messages, files, deletions, receipts, typing and a new name.
  const frameCounts = devices.map((device) => device.raw.length);
  const [phoneB, phoneD] = [await Device.open(ben), await Device.open(dan)];
  const { file: later } = await sendFile(ben, id, "sans elle");
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 3 });
  phoneB.send(["t", id]);
  await phoneD.nextOf("t");
  for (const one of [owner, ben, dan]) await request(one, { type: "mark", conversation: id, delivered: 5, read: 5 });
  await requestAs(owner, "PATCH", `/api/groups/${id}`, { name: "Sans Cléo" });
  await waitUntil(async () => (await readRow(dan, id)).group?.name === "Sans Cléo");
  await waitUntil(async () => (await readRow(ben, id)).othersRead >= 5);
  await phoneD.waitForPong();
  expect(devices.map((device) => device.raw.length)).toEqual(frameCounts);

  expect(await askAll(cleo, id, seq, otherConversation)).toEqual({
    after: "conversation_not_found",
    before: "conversation_not_found",
    search: "conversation_not_found",
    revised: "conversation_not_found",
    mark: "conversation_not_found",
    clearHistory: "conversation_not_found",
    deleteForEveryone: "conversation_not_found",
    deletePending: "conversation_not_found",
    editMessage: "conversation_not_found",
    forward: "original_gone",
    group: "group_not_found",
    members: "group_not_found",
    numbers: "group_not_found",
    receipts: "conversation_not_found",
  });
  for (const one of [file, later]) expect(await fileStatus(cleo, id, one)).toBe(404);
  expect(await sendTexts(cleo, id, "encore")).toEqual({ error: "conversation_not_found" });
  const mute = await request(cleo, { type: "mute", conversation: id, muted: false });
  expect(mute).toEqual({ error: "conversation_not_found" });
  expect(await getUserChannelStub(env, cleo.id).listMutes()).toEqual([]);
  expect(await getUserChannelStub(env, cleo.id).listConversations(undefined)).toMatchObject({ rows: [] });
  expect(JSON.stringify(await readRow(cleo, id))).not.toContain("Sans");
  // For the others her member number stays: she is the author of this message.
  expect((await readMemberPage(dan, id, "?numbers=2")).members).toMatchObject([{ number: 2, left: true }]);
  expect(toTexts(await readLog(dan, id)).slice(1, 3)).toEqual(["<image>", "<deleted>"]);
});

test("a new member cannot read earlier messages by any route, and a returning one not those missed", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, dan] = others;
  const cleo = await seedPerson();
  if (!ben || !dan) throw new Error("too few");
  await befriend(owner, cleo);
  await sendTexts(ben, id, "avant un");
  const { file, seq } = await sendFile(ben, id, "avant image");
  const document = await seedFile(dan.id, { type: "application/pdf", name: "avant.pdf" });
  await request(dan, {
    type: "send",
    conversation: id,
    messages: [{ cid: createUuid(), body: makeDocumentBody(document.id, "avant.pdf") }],
  });
  await sendTexts(dan, id, "de Dan, avant");
  await remove(owner, id, dan);
  await sendTexts(ben, id, "avant que Dan revienne");

  const phone = await Device.open(cleo);
  expect(await add(owner, id, cleo, dan)).toMatchObject({ count: 4 });
  for (const one of [cleo, dan]) {
    await waitUntil(async () => (await readRow(one, id)).head === 8);
    expect(await readRow(one, id)).toMatchObject({
      hidden: 7,
      delivered: 7,
      read: 7,
      unread: 0,
      open: true,
      gone: false,
    });
    expect(toTexts(await readLog(one, id))).toEqual(["<event>"]);
    const before = { type: "page", conversation: id, direction: "before", seq: 1_000, limit: 40 } as const;
    expect(await request(one, before)).toMatchObject({ messages: [{ seq: 8 }], more: false });
    expect(await request(one, { type: "search", conversation: id, query: "avant", before: 1_000 })).toEqual({
      messages: [],
      before: null,
    });
    for (const old of [file, document.id]) expect(await fileStatus(one, id, old)).toBe(404);
    expect(await askAll(one, id, seq, await befriend(one, await seedPerson()))).toMatchObject({
      forward: "original_gone",
      deleteForEveryone: "message_not_found",
      receipts: "message_not_found",
    });
  }
  expect(await request(dan, { type: "deleteForEveryone", conversation: id, seq: 5 })).toEqual({
    error: "message_not_found",
  });
  // She is not notified of the deletion of a message that she never saw.
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await sendTexts(ben, id, "maintenant");
  for (const one of [cleo, dan]) {
    await waitUntil(async () => toTexts(await readLog(one, id)).includes("maintenant"));
    await waitUntil(async () => (await readRow(one, id)).revision === 1);
    expect(await request(one, { type: "revised", conversation: id, since: 0 })).toMatchObject({ messages: [] });
  }
  expect(phone.raw.join()).not.toContain("avant");
  // All numbers stay the same, and hers is the next one.
  expect((await readMemberPage(owner, id)).members.map(({ number, profile }) => [number, profile?.id])).toEqual([
    [0, owner.id],
    [1, ben.id],
    [2, dan.id],
    [3, cleo.id],
  ]);
});

test("receipts do not go back when a member joins, and later members are in no earlier list of receipts", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  const dan = await seedPerson();
  if (!ben || !cleo) throw new Error("too few");
  await befriend(owner, dan);
  await sendTexts(ben, id, "lu de tous");
  for (const one of [owner, cleo]) await request(one, { type: "mark", conversation: id, delivered: 2, read: 2 });
  await waitUntil(async () => (await readRow(ben, id)).othersRead === 2);
  await add(owner, id, dan);
  await sendTexts(ben, id, "un autre");
  await waitUntil(async () => (await readRow(dan, id)).unread === 1);
  expect(await readRow(ben, id)).toMatchObject({ othersDelivered: 2, othersRead: 2 });
  const receiptsOf = (seq: number) => requestAs(ben, "GET", `/api/conversations/${id}/messages/${seq}/receipts`);
  expect(await receiptsOf(2)).toEqual({ read: [0, 2], delivered: [], sent: [] });
  expect(await receiptsOf(4)).toEqual({ read: [], delivered: [], sent: [0, 2, 3] });
  // The slowest member delays everybody's ticks, until they are removed.
  for (const one of [owner, cleo]) await request(one, { type: "mark", conversation: id, delivered: 4, read: 4 });
  await remove(owner, id, dan);
  await waitUntil(async () => (await readRow(ben, id)).othersRead === 4);
  expect(await receiptsOf(4)).toEqual({ read: [0, 2], delivered: [], sent: [] });
});

test("a repeated request whose answer was lost is executed once and answered as successful", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  const stranger = await seedPerson();
  if (!ben || !cleo) throw new Error("too few");
  const group = `/api/groups/${id}`;
  const twice = async (call: () => Promise<unknown>) => [await call(), await call()];
  expect(await twice(() => remove(owner, id, cleo))).toEqual([null, null]);
  expect(await twice(() => add(owner, id, cleo))).toMatchObject([{ count: 3 }, { count: 3 }]);
  expect(await twice(() => requestAs(cleo, "DELETE", member(id, cleo)))).toEqual([null, null]);
  expect(await twice(() => requestAs(owner, "PATCH", group, { name: "Cousins" }))).toMatchObject([
    { name: "Cousins" },
    { name: "Cousins" },
  ]);
  expect(await twice(() => requestAs(owner, "PUT", `${group}/owner`, { user_id: ben.id }))).toMatchObject([
    { role: "member" },
    { role: "member" },
  ]);
  const events = (await readLog(ben, id)).map(({ body }) => (body.type === "event" ? body.event : body.type));
  expect(events).toEqual(["created", "removed", "added", "left", "renamed", "owner"]);
  expect(await requestAs(stranger, "DELETE", member(id, stranger))).toBe("group_not_found");
  expect(await twice(() => requestAs(ben, "DELETE", group))).toEqual([null, null]);
  expect(await requestAs(stranger, "DELETE", group)).toBe("group_not_found");
});

test("removal from a large group does not wait until all members were notified of earlier messages", async () => {
  const count = 60;
  const [owner, removed, ...others] = Array.from({ length: count }, () => createUuid());
  if (!owner || !removed) throw new Error("too few");
  const id = createUuid();
  const group = () => getConversationStub(env, id);
  const people = [...others, removed].map((user) => ({ user, isHidden: false }));
  const notices: { user: string; gone: boolean }[] = [];
  /** Channels that delay their answer, and how many of them may answer. */
  const slow = { isOn: false, waiting: 0, answered: 0 };
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(async function (
    this: UserChannel,
    { conversation, gone },
  ) {
    if (conversation === id) notices.push({ user: nameOf(this), gone });
    if (!slow.isOn) return "written";
    for (const turn = slow.waiting++; slow.isOn && turn >= slow.answered; ) await scheduler.wait(5);
    return "written";
  });
  await group().createGroup(owner, "Quartier", people);
  await waitUntil(() => notices.length >= count, 20_000);
  slow.isOn = true;
  for (const round of [1, 2]) {
    await group().sendMessages(owner, [makeText(`n° ${round}`)], { epoch: "", head: 0, revision: 0 });
  }
  const before = notices.length;
  expect(before).toBeLessThan(count + count / 2);
  const change = group().runGroupCommand(owner, { type: "remove", user: removed });
  await waitUntil(async () => (await readMembers(id)).some(({ state }) => state === "leaving"));
  await waitUntil(() => {
    slow.answered += 1;
    return notices.some(({ gone }) => gone);
  });
  const goneIndex = notices.findIndex(({ gone }) => gone);
  expect(notices[goneIndex]?.user).toBe(removed);
  // The calls in progress, the remover's own, and those started alongside.
  expect(goneIndex - before).toBeLessThanOrEqual(2 * fanOutAtOnce);
  slow.isOn = false;
  await change;
  await waitUntil(() => notices.length >= 2 * count - 1, 20_000);
});
