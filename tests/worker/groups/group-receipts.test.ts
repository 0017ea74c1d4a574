import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { groupReceiptHoldMs, groupTypingMax } from "#contract/limits.ts";
import type { Person } from "#tests/support/people/people.ts";
import { holdAlarms, holdTimers } from "#tests/worker/support/clock.ts";
import { Device, post, request, rowOf, until } from "#tests/worker/support/device.ts";
import { ask, newGroup } from "#tests/worker/support/make-group.ts";
import type { ConversationNotice } from "#worker/objects/rpc.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const ring = (id: string) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));
const mark = (one: Person, conversation: string, delivered: number, read: number) =>
  request(one, { type: "mark", conversation, delivered, read });

afterEach(() => {
  vi.restoreAllMocks();
});

/** Records whom the group notifies of what. Other groups of this runtime may notify too. */
const listenTo = (group: string) => {
  const told: { user: string; notice: ConversationNotice }[] = [];
  const { notify } = UserChannel.prototype;
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(function (this: UserChannel, user, notice) {
    if (notice.conversation === group) told.push({ user, notice });
    return notify.call(this, user, notice);
  });
  return told;
};

test("however many read at once, only the authors of what everybody has now read are told, a second later and once", async () => {
  const { id, owner, others, people } = await newGroup(8);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await post(ben, id, "de Ben");
  await post(cleo, id, "de Cléo");
  for (const one of people) await until(async () => (await rowOf(one, id)).head === 3);
  await until(async () => !(await ring(id))); // everybody has confirmed
  const told = listenTo(id);
  const startedAt = Date.now();
  // All except the owner have read both. Nobody is notified, because the owner may have read neither.
  await Promise.all(others.map((one) => mark(one, id, 3, 3)));
  await mark(owner, id, 2, 0);
  await until(() => told.length > 0);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(groupReceiptHoldMs - 50);
  await until(async () => (await rowOf(ben, id)).othersDelivered === 2);
  expect(told.map(({ user }) => user)).toEqual([ben.id]);
  expect(told[0]?.notice).toMatchObject({ messages: [], peerReadState: { delivered: 2, read: 0 } });

  await mark(owner, id, 3, 3);
  await until(async () => (await rowOf(ben, id)).othersRead === 3 && (await rowOf(cleo, id)).othersRead === 3);
  expect(told.map(({ user }) => user).sort()).toEqual([ben.id, ben.id, cleo.id].sort());
});

test("marks that were held when the object died reach the authors by the alarm, however late they came", async () => {
  const { id, owner, others } = await newGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await post(ben, id, "un");
  await until(async () => (await rowOf(cleo, id)).head === 2 && (await rowOf(owner, id)).head === 2);
  await until(async () => !(await ring(id)));
  holdAlarms();
  holdTimers(groupReceiptHoldMs);
  await mark(owner, id, 2, 2);
  // The alarm set by the first receipt runs while the second one is deferred.
  await mark(cleo, id, 2, 2);
  await ring(id);
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, state) =>
    state.abort("as if the machine had died"),
  ).catch(() => undefined);
  expect((await rowOf(ben, id)).othersRead).toBe(0);
  expect(await ring(id)).toBe(true);
  await until(async () => (await rowOf(ben, id)).othersRead === 2);
});

test("who types is shown to the others of a small group who are still in it, and to nobody in a big one", async () => {
  const { id, owner, others } = await newGroup(groupTypingMax);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const [phoneB, phoneC, phoneD] = [await Device.open(ben), await Device.open(cleo), await Device.open(dan)];
  await ask(owner, "DELETE", `/api/groups/${id}/members/${dan.id}`);
  await phoneD.nextOf("i");
  const typing = vi.spyOn(UserChannel.prototype, "deliverTyping");
  phoneB.send(["t", id]);
  expect((await phoneC.nextOf("t"))[2]).toBe(1);
  const shownTo = (group = id) => typing.mock.calls.flatMap(([user, typed]) => (typed === group ? [user] : []));
  await until(() => shownTo().length === groupTypingMax - 2);
  expect(shownTo()).not.toContain(dan.id);
  phoneD.send(["t", id]);
  await phoneD.pong();
  expect(shownTo()).toHaveLength(groupTypingMax - 2);

  const { id: big, others: many } = await newGroup(groupTypingMax + 1);
  const [eve] = many;
  if (!eve) throw new Error("too few");
  const phoneE = await Device.open(eve);
  phoneE.send(["t", big]);
  await post(eve, big, "fini");
  await phoneE.nextOf("m");
  expect(shownTo(big)).toEqual([]);
});
