import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { Group } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import { fanOutRetryMaxMs } from "#contract/limits.ts";
import type { Person } from "#tests/support/people/people.ts";
import { holdAlarms, pass } from "#tests/worker/support/clock.ts";
import { Device, post, readLog, request, rowOf, textsOf, until } from "#tests/worker/support/device.ts";
import { readMembers } from "#tests/worker/support/group-oracle.ts";
import { ask, makeGroup, membersOf, newCircle, newGroup } from "#tests/worker/support/make-group.ts";
import { befriend } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/** Members that cannot be notified, and members whose objects were evicted before anybody was notified. */

const quiet = () => vi.spyOn(console, "error").mockImplementation(() => {});
const ring = (id: string) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));
/** No notice is pending, and no alarm is set. */
const settle = (id: string) => until(async () => !(await ring(id)));
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
  ask<Group>(owner, "POST", `/api/groups/${group}/members`, { members: people.map(({ id }) => id) });
const remove = (owner: Person, group: string, one: Person) =>
  ask(owner, "DELETE", `/api/groups/${group}/members/${one.id}`);
const rowsOf = async (person: Person, group: string) =>
  (await request(person, { type: "changes", since: 0 })).rows.filter(({ conversation }) => conversation === group);
const stateOf = async (group: string, one: Person) =>
  (await readMembers(group)).find(({ user_id }) => user_id === one.id)?.state;

test("who blocks the one who adds them is a member for everybody else and sees nothing of it at all", async () => {
  const { id, owner, others } = await newGroup(2);
  const [ben] = others;
  const [, dan] = await newCircle(2);
  if (!ben || !dan) throw new Error("too few");
  await befriend(owner, dan);
  await befriend(ben, dan);
  await block(dan, owner);
  await until(async () => {
    const { people } = await request(dan, { type: "changes", since: 0 });
    return people.some(({ profile, blocked }) => profile.id === owner.id && blocked);
  });
  const phone = await Device.open(dan);
  expect(await add(owner, id, dan)).toMatchObject({ count: 3 });
  expect((await membersOf(owner, id)).members).toMatchObject([
    { number: 0 },
    { number: 1 },
    { number: 2, left: false },
  ]);
  await post(ben, id, "Où est Dan ?");
  await until(async () => (await rowOf(owner, id)).unread === 1);
  await request(owner, { type: "mark", conversation: id, delivered: 3, read: 3 });
  expect(await ask(ben, "GET", `/api/conversations/${id}/messages/3/receipts`)).toEqual({
    read: [0],
    delivered: [],
    sent: [2],
  });
  // A repeated request has the same answer: nothing distinguishes this member.
  expect(await add(owner, id, dan)).toMatchObject({ count: 3, roster: 2 });
  for (const path of ["", "/members"])
    expect(await ask(dan, "GET", `/api/groups/${id}${path}`)).toBe("group_not_found");
  expect(await ask(dan, "DELETE", `/api/groups/${id}/members/${dan.id}`)).toBe("group_not_found");
  expect(await post(dan, id, "?")).toEqual({ error: "conversation_not_found" });
  expect(await rowsOf(dan, id)).toEqual([]);
  await phone.pong();
  expect(phone.raw.filter((text) => !text.startsWith(".")).length).toBe(1);

  // The hidden membership does not end with the block, but when a person whom they do not block adds them.
  await unblock(dan, owner);
  await block(dan, owner);
  expect(await ask(owner, "PUT", `/api/groups/${id}/owner`, { user_id: ben.id })).toMatchObject({ role: "member" });
  expect(await rowsOf(dan, id)).toEqual([]);
  await until(async () => (await rowOf(owner, id)).head === 4);
  const before = await rowOf(owner, id);
  expect(await add(ben, id, dan)).toMatchObject({ count: 3, roster: 3 });
  await until(async () => (await rowsOf(dan, id)).length === 1);
  // They see all messages since the others saw them as a member, and nobody notices a change.
  expect(await rowOf(dan, id)).toMatchObject({ open: true, unread: 1, group: { number: 2, count: 3 } });
  expect(await rowOf(owner, id)).toEqual(before);
  await post(owner, id, "Te voilà");
  await until(async () => (await rowOf(dan, id)).unread === 2);
  expect(textsOf(await readLog(dan, id))).toEqual(["<event>", "Où est Dan ?", "<event>", "Te voilà"]);
});

test("who was removed and seated without a word before they were told of it is told of it all the same", async () => {
  const { id, owner, others } = await newGroup(3);
  const [ben, dan] = others;
  if (!ben || !dan) throw new Error("too few");
  await post(ben, id, "un");
  await until(async () => (await rowOf(dan, id)).unread === 1);
  await settle(id);
  holdAlarms();
  quiet();
  const deaf = deafen();
  await remove(owner, id, dan);
  await block(dan, owner);
  expect(await add(owner, id, dan)).toMatchObject({ count: 3 });
  expect(await stateOf(id, dan)).toBe("quietLeaving");
  deaf.mockRestore();
  expect(await rowOf(dan, id)).toMatchObject({ gone: false, unread: 1 });
  pass(fanOutRetryMaxMs);
  await until(async () => {
    await ring(id);
    return (await rowOf(dan, id)).gone;
  });
  expect(await rowOf(dan, id)).toMatchObject({ gone: true, open: false, preview: null, unread: 0 });
  await until(async () => (await stateOf(id, dan)) === "quiet");
  await post(ben, id, "deux");
  await until(async () => (await rowOf(owner, id)).unread === 2);
  expect(await rowOf(dan, id)).toMatchObject({ gone: true, unread: 0 });
  expect(await remove(owner, id, dan)).toBe(null);
  expect(await stateOf(id, dan)).toBe("out");
});

test("a group whose object died after it was made and before anybody was told stands in all lists all the same", async () => {
  holdAlarms();
  const [owner, ...others] = await newCircle(4);
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
    await until(async () => (await rowsOf(one, id)).length === 1);
    expect(await rowOf(one, id)).toMatchObject({ head: 1, unread: 0, group: { name: "Famille", count: 4 } });
  }
});

test("who was removed and who was added just before the object died are told by the alarm, and so is who left", async () => {
  const { id, owner, others } = await newGroup(4);
  const [ben, cleo, dan] = others;
  const [, eve] = await newCircle(2);
  if (!ben || !cleo || !dan || !eve) throw new Error("too few");
  await befriend(owner, eve);
  await post(dan, id, "un");
  await until(async () => (await rowOf(cleo, id)).unread === 1 && (await rowOf(ben, id)).unread === 1);
  const [phoneC, phoneE] = [await Device.open(cleo), await Device.open(eve)];
  await settle(id);
  holdAlarms();
  quiet();
  const deaf = deafen();
  await remove(owner, id, cleo);
  await ask(dan, "DELETE", `/api/groups/${id}/members/${dan.id}`);
  await add(owner, id, eve);
  await ask(owner, "PATCH", `/api/groups/${id}`, { name: "Cousins" });
  await die(id);
  deaf.mockRestore();
  expect(await rowOf(cleo, id)).toMatchObject({ gone: false, unread: 1 });
  expect(await ring(id)).toBe(true);
  for (const phone of [phoneC, phoneE]) await phone.nextOf("i");
  await until(async () => (await rowOf(cleo, id)).gone && (await rowOf(dan, id)).gone);
  await until(async () => (await rowOf(ben, id)).group?.name === "Cousins");
  await until(async () => (await rowsOf(eve, id)).length === 1);
  expect(await rowOf(ben, id)).toMatchObject({ unread: 1, head: 6, group: { count: 3 } });
  expect(await rowOf(eve, id)).toMatchObject({ unread: 0, head: 6, hidden: 4, group: { count: 3, name: "Cousins" } });
  await until(async () => (await stateOf(id, cleo)) === "out" && (await stateOf(id, dan)) === "out");
  // No notices are pending.
  await until(async () => {
    pass(fanOutRetryMaxMs);
    await ring(id);
    return !(await ring(id));
  });
});

test("somebody added again before they were told that they left is back, without what was said before", async () => {
  const { id, owner, others } = await newGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await post(ben, id, "un", "deux");
  await until(async () => (await rowOf(cleo, id)).unread === 2);
  const phone = await Device.open(cleo);
  quiet();
  const deaf = deafen();
  await remove(owner, id, cleo);
  await post(ben, id, "sans elle");
  await add(owner, id, cleo);
  deaf.mockRestore();
  await post(ben, id, "avec elle");
  await until(async () => {
    await ring(id);
    return (await rowOf(cleo, id)).head === 7;
  });
  expect(await rowOf(cleo, id)).toMatchObject({ gone: false, open: true, hidden: 5, read: 5, unread: 1 });
  expect(phone.raw.join()).not.toContain("sans elle");
  expect(textsOf(await readLog(cleo, id))).toEqual(["<event>", "avec elle"]);
});
