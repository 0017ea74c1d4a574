import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { readPath } from "#contract/files.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { fanOutAtOnce } from "#contract/limits/delivery.ts";
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
import { getConversationStub } from "#worker/objects/stubs.ts";
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

test("a removed member is notified within two seconds on every device, and keeps their member number", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [cleo, dan] = others;
  if (!cleo || !dan) throw new Error("too few");
  await sendTexts(cleo, id, "avant");
  const devices = [await Device.open(cleo), await Device.open(cleo)];
  expect(await remove(owner, id, cleo)).toBe(null);
  await withTimeout(toldWithinMs, Promise.all(devices.map((device) => device.nextOf("i"))));
  expect(await readRow(cleo, id)).toMatchObject({ gone: false, open: false, unread: 0 });
  // For the others: she is the author of this message.
  expect((await readMemberPage(dan, id, "?numbers=1")).members).toMatchObject([{ number: 1, left: true }]);
});

test("a new member cannot read earlier messages by any route", async () => {
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
  await sendTexts(ben, id, "avant que Cléo arrive");

  const phone = await Device.open(cleo);
  expect(await add(owner, id, cleo)).toMatchObject({ count: 4 });
  await waitUntil(async () => (await readRow(cleo, id)).head === 7);
  expect(await readRow(cleo, id)).toMatchObject({
    hidden: 6,
    delivered: 6,
    read: 6,
    unread: 0,
    open: true,
    gone: false,
  });
  expect(toTexts(await readLog(cleo, id))).toEqual(["<event>"]);
  const before = { type: "page", conversation: id, direction: "before", seq: 1_000, limit: 40 } as const;
  expect(await request(cleo, before)).toMatchObject({ messages: [{ seq: 7 }], more: false });
  expect(await request(cleo, { type: "search", conversation: id, query: "avant", before: 1_000 })).toEqual({
    messages: [],
    before: null,
  });
  for (const old of [file, document.id]) expect(await fileStatus(cleo, id, old)).toBe(404);
  expect(await request(cleo, { type: "deleteForEveryone", conversation: id, seq })).toEqual({
    error: "message_not_found",
  });
  expect(await requestAs(cleo, "GET", `/api/conversations/${id}/messages/${seq}/receipts`)).toBe("message_not_found");
  const foreign = { type: "text", text: "avant", forwarded: { by: ben.id, name: "Ben" } } as const;
  const other = await befriend(cleo, await seedPerson());
  const messages = [{ cid: createUuid(), body: foreign, source: { conversation: id, seq } }];
  expect(await request(cleo, { type: "send", conversation: other, messages })).toEqual({ error: "original_gone" });
  // She is not notified of the deletion of a message that she never saw.
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await sendTexts(ben, id, "maintenant");
  await waitUntil(async () => toTexts(await readLog(cleo, id)).includes("maintenant"));
  await waitUntil(async () => (await readRow(cleo, id)).revision === 1);
  expect(await request(cleo, { type: "revised", conversation: id, since: 0 })).toMatchObject({ messages: [] });
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
  const notices: { user: string; open: boolean }[] = [];
  /** Channels that delay their answer, and how many of them may answer. */
  const slow = { isOn: false, waiting: 0, answered: 0 };
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(async function (
    this: UserChannel,
    { conversation, open },
  ) {
    if (conversation === id) notices.push({ user: nameOf(this), open });
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
    return notices.some(({ open }) => !open);
  });
  const leftIndex = notices.findIndex(({ open }) => !open);
  expect(notices[leftIndex]?.user).toBe(removed);
  // The calls in progress, the remover's own, and those started alongside.
  expect(leftIndex - before).toBeLessThanOrEqual(2 * fanOutAtOnce);
  slow.isOn = false;
  await change;
  await waitUntil(() => notices.length >= 2 * count - 1, 20_000);
});
