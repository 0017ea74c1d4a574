import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { Group } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import { fanOutRetryMaxMs } from "#contract/limits/delivery.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock, suspendAlarms } from "#tests/worker/support/clock.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { readMembers } from "#tests/worker/support/group-oracle.ts";
import {
  makeFriends,
  makeGroup,
  makeSyncedGroup,
  readMemberPage,
  requestAs,
} from "#tests/worker/support/make-group.ts";
import { befriend } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/** Members that cannot be notified, and members whose objects were evicted before anybody was notified. */

const quiet = () => vi.spyOn(console, "error").mockImplementation(() => {});
const ring = (id: string) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));
/** No notice is pending, and no alarm is set. */
const settle = (id: string) => waitUntil(async () => !(await ring(id)));
const die = (id: string) =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, state) => state.abort("as if the machine had died")).catch(
    () => undefined,
  );
/** No channel receives anything until the mock is restored. */
const deafen = () =>
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(() => Promise.reject(new Error("away")));

afterEach(() => {
  vi.restoreAllMocks();
});

const block = (by: Person, other: Person) => call("PUT", `/api/blocks/${other.id}`, { token: by.token });
const unblock = (by: Person, other: Person) => call("DELETE", `/api/blocks/${other.id}`, { token: by.token });
const add = (owner: Person, group: string, ...people: Person[]) =>
  requestAs<Group>(owner, "POST", `/api/groups/${group}/members`, { members: people.map(({ id }) => id) });
const remove = (owner: Person, group: string, one: Person) =>
  requestAs(owner, "DELETE", `/api/groups/${group}/members/${one.id}`);
const rowsOf = async (person: Person, group: string) =>
  (await request(person, { type: "changes", since: 0 })).rows.filter(({ conversation }) => conversation === group);
const stateOf = async (group: string, one: Person) =>
  (await readMembers(group)).find(({ user_id }) => user_id === one.id)?.state;

test("a member who blocks the person who added them is a member for everybody else and sees nothing of the group", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [ben] = others;
  const [, dan] = await makeFriends(2);
  if (!ben || !dan) throw new Error("too few");
  await befriend(owner, dan);
  await befriend(ben, dan);
  await block(dan, owner);
  await waitUntil(async () => {
    const { people } = await request(dan, { type: "changes", since: 0 });
    return people.some(({ profile, blocked }) => profile.id === owner.id && blocked);
  });
  const phone = await Device.open(dan);
  expect(await add(owner, id, dan)).toMatchObject({ count: 3 });
  expect((await readMemberPage(owner, id)).members).toMatchObject([
    { number: 0 },
    { number: 1 },
    { number: 2, left: false },
  ]);
  await sendTexts(ben, id, "Où est Dan ?");
  await waitUntil(async () => (await readRow(owner, id)).unread === 1);
  await request(owner, { type: "mark", conversation: id, delivered: 3, read: 3 });
  expect(await requestAs(ben, "GET", `/api/conversations/${id}/messages/3/receipts`)).toEqual({
    read: [0],
    delivered: [],
    sent: [2],
  });
  // A repeated request has the same answer: nothing distinguishes this member.
  expect(await add(owner, id, dan)).toMatchObject({ count: 3, roster: 2 });
  for (const path of ["", "/members"])
    expect(await requestAs(dan, "GET", `/api/groups/${id}${path}`)).toBe("group_not_found");
  expect(await requestAs(dan, "DELETE", `/api/groups/${id}/members/${dan.id}`)).toBe("group_not_found");
  expect(await sendTexts(dan, id, "?")).toEqual({ error: "conversation_not_found" });
  expect(await rowsOf(dan, id)).toEqual([]);
  await phone.waitForPong();
  expect(phone.raw.filter((text) => !text.startsWith(".")).length).toBe(1);

  // The hidden membership does not end with the block, but when a person whom they do not block adds them.
  await unblock(dan, owner);
  await block(dan, owner);
  expect(await requestAs(owner, "PUT", `/api/groups/${id}/owner`, { user_id: ben.id })).toMatchObject({
    role: "member",
  });
  expect(await rowsOf(dan, id)).toEqual([]);
  await waitUntil(async () => (await readRow(owner, id)).head === 4);
  const before = await readRow(owner, id);
  expect(await add(ben, id, dan)).toMatchObject({ count: 3, roster: 3 });
  await waitUntil(async () => (await rowsOf(dan, id)).length === 1);
  // They see all messages since the others saw them as a member, and nobody notices a change.
  expect(await readRow(dan, id)).toMatchObject({ open: true, unread: 1, group: { number: 2, count: 3 } });
  expect(await readRow(owner, id)).toEqual(before);
  await sendTexts(owner, id, "Te voilà");
  await waitUntil(async () => (await readRow(dan, id)).unread === 2);
  expect(toTexts(await readLog(dan, id))).toEqual(["<event>", "Où est Dan ?", "<event>", "Te voilà"]);
});

test("a member who was removed and silently re-added before the notice of it is still notified", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, dan] = others;
  if (!ben || !dan) throw new Error("too few");
  await sendTexts(ben, id, "un");
  await waitUntil(async () => (await readRow(dan, id)).unread === 1);
  await settle(id);
  suspendAlarms();
  quiet();
  const deaf = deafen();
  await remove(owner, id, dan);
  await block(dan, owner);
  expect(await add(owner, id, dan)).toMatchObject({ count: 3 });
  expect(await stateOf(id, dan)).toBe("quietLeaving");
  deaf.mockRestore();
  expect(await readRow(dan, id)).toMatchObject({ gone: false, unread: 1 });
  advanceClock(fanOutRetryMaxMs);
  await waitUntil(async () => {
    await ring(id);
    return !(await readRow(dan, id)).open;
  });
  expect(await readRow(dan, id)).toMatchObject({ gone: false, open: false, unread: 0, head: 3 });
  await waitUntil(async () => (await stateOf(id, dan)) === "quiet");
  await sendTexts(ben, id, "deux");
  await waitUntil(async () => (await readRow(owner, id)).unread === 2);
  expect(await readRow(dan, id)).toMatchObject({ open: false, unread: 0, head: 3 });
  expect(await remove(owner, id, dan)).toBe(null);
  expect(await stateOf(id, dan)).toBe("out");
});

test("a group whose object was evicted before any notice still appears in all lists", async () => {
  suspendAlarms();
  const [owner, ...others] = await makeFriends(4);
  const id = createUuid();
  quiet();
  const deaf = deafen();
  const phone = await Device.open(owner);
  expect(await makeGroup(owner, "Famille", others, id)).toMatchObject({ count: 4 });
  await die(id);
  deaf.mockRestore();
  for (const one of [owner, ...others]) expect(await rowsOf(one, id)).toEqual([]);
  expect(await ring(id)).toBe(true);
  await phone.nextOf("i");
  for (const one of [owner, ...others]) {
    await waitUntil(async () => (await rowsOf(one, id)).length === 1);
    expect(await readRow(one, id)).toMatchObject({ head: 1, unread: 0, group: { name: "Famille", count: 4 } });
  }
});

test("members removed and added just before the object was evicted are notified by the alarm, and so is one who left", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  const [, eve] = await makeFriends(2);
  if (!ben || !cleo || !dan || !eve) throw new Error("too few");
  await befriend(owner, eve);
  await sendTexts(dan, id, "un");
  await waitUntil(async () => (await readRow(cleo, id)).unread === 1 && (await readRow(ben, id)).unread === 1);
  const [phoneC, phoneE] = [await Device.open(cleo), await Device.open(eve)];
  await settle(id);
  suspendAlarms();
  quiet();
  const deaf = deafen();
  await remove(owner, id, cleo);
  await requestAs(dan, "DELETE", `/api/groups/${id}/members/${dan.id}`);
  await add(owner, id, eve);
  await requestAs(owner, "PATCH", `/api/groups/${id}`, { name: "Cousins" });
  await die(id);
  deaf.mockRestore();
  expect(await readRow(cleo, id)).toMatchObject({ open: true, unread: 1 });
  expect(await ring(id)).toBe(true);
  for (const phone of [phoneC, phoneE]) await phone.nextOf("i");
  await waitUntil(async () => !(await readRow(cleo, id)).open && !(await readRow(dan, id)).open);
  await waitUntil(async () => (await readRow(ben, id)).group?.name === "Cousins");
  await waitUntil(async () => (await rowsOf(eve, id)).length === 1);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, head: 6, group: { count: 3 } });
  expect(await readRow(eve, id)).toMatchObject({ unread: 0, head: 6, hidden: 4, group: { count: 3, name: "Cousins" } });
  await waitUntil(async () => (await stateOf(id, cleo)) === "out" && (await stateOf(id, dan)) === "out");
  // No notices are pending.
  await waitUntil(async () => {
    advanceClock(fanOutRetryMaxMs);
    await ring(id);
    return !(await ring(id));
  });
});

test("a member added again before the notice of their removal is back, without the messages between", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await sendTexts(ben, id, "un", "deux");
  await waitUntil(async () => (await readRow(cleo, id)).unread === 2);
  const phone = await Device.open(cleo);
  quiet();
  const deaf = deafen();
  await remove(owner, id, cleo);
  await sendTexts(ben, id, "sans elle");
  await add(owner, id, cleo);
  deaf.mockRestore();
  await sendTexts(ben, id, "avec elle");
  await waitUntil(async () => {
    await ring(id);
    return (await readRow(cleo, id)).head === 7;
  });
  expect(await readRow(cleo, id)).toMatchObject({ gone: false, open: true, hidden: 0, read: 5, unread: 1 });
  expect(phone.raw.join()).not.toContain("sans elle");
  expect(toTexts(await readLog(cleo, id))).toEqual(["<event>", "un", "deux", "<event>", "<event>", "avec elle"]);
});
