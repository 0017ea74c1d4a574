import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { groupReceiptHoldMs, groupTypingMax } from "#contract/limits/groups.ts";
import type { Person } from "#tests/support/people/people.ts";
import { suspendAlarms, suspendTimers } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const ring = (id: string) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));
const mark = (one: Person, conversation: string, delivered: number, read: number) =>
  request(one, { type: "mark", conversation, delivered, read });

afterEach(() => {
  vi.restoreAllMocks();
});

/** Records whom the group notifies of what. Other groups of this runtime may notify too. */
const listenTo = (group: string) => {
  const notices: { user: string; notice: ConversationNotice }[] = [];
  const { notify } = UserChannel.prototype;
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(function (this: UserChannel, notice) {
    if (notice.conversation === group) notices.push({ user: nameOf(this), notice });
    return notify.call(this, notice);
  });
  return notices;
};

test("many simultaneous reads notify only the authors of messages now read by everybody, once, a second later", async () => {
  const { id, owner, others, people } = await makeSyncedGroup(8);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await sendTexts(ben, id, "de Ben");
  await sendTexts(cleo, id, "de Cléo");
  for (const one of people) await waitUntil(async () => (await readRow(one, id)).head === 3);
  await waitUntil(async () => !(await ring(id))); // everybody has confirmed
  const notices = listenTo(id);
  const startedAt = Date.now();
  // All except the owner have read both. Nobody is notified, because the owner may have read neither.
  await Promise.all(others.map((one) => mark(one, id, 3, 3)));
  await mark(owner, id, 2, 0);
  await waitUntil(() => notices.length > 0);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(groupReceiptHoldMs - 50);
  await waitUntil(async () => (await readRow(ben, id)).othersDelivered === 2);
  expect(notices.map(({ user }) => user)).toEqual([ben.id]);
  expect(notices[0]?.notice).toMatchObject({ messages: [], peerReadState: { delivered: 2, read: 0 } });

  await mark(owner, id, 3, 3);
  await waitUntil(async () => (await readRow(ben, id)).othersRead === 3 && (await readRow(cleo, id)).othersRead === 3);
  expect(notices.map(({ user }) => user).sort()).toEqual([ben.id, ben.id, cleo.id].sort());
});

test("receipts deferred when the object was evicted reach the authors by the alarm, however late they came", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await sendTexts(ben, id, "un");
  await waitUntil(async () => (await readRow(cleo, id)).head === 2 && (await readRow(owner, id)).head === 2);
  await waitUntil(async () => !(await ring(id)));
  suspendAlarms();
  suspendTimers(groupReceiptHoldMs);
  await mark(owner, id, 2, 2);
  // The alarm set by the first receipt runs while the second one is deferred.
  await mark(cleo, id, 2, 2);
  await ring(id);
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, state) =>
    state.abort("as if the machine had died"),
  ).catch(() => undefined);
  expect((await readRow(ben, id)).othersRead).toBe(0);
  expect(await ring(id)).toBe(true);
  await waitUntil(async () => (await readRow(ben, id)).othersRead === 2);
});

test("typing is shown to the other present members of a small group, and to nobody in a large one", async () => {
  const { id, owner, others } = await makeSyncedGroup(groupTypingMax);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const [phoneB, phoneC, phoneD] = [await Device.open(ben), await Device.open(cleo), await Device.open(dan)];
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${dan.id}`);
  await phoneD.nextOf("i");
  const typing = vi.spyOn(UserChannel.prototype, "deliverTyping");
  phoneB.send(["t", id]);
  expect((await phoneC.nextOf("t"))[2]).toBe(1);
  const shownTo = (group = id) =>
    typing.mock.calls.flatMap(([typed], index) => (typed === group ? [nameOf(typing.mock.contexts[index])] : []));
  await waitUntil(() => shownTo().length === groupTypingMax - 2);
  expect(shownTo()).not.toContain(dan.id);
  phoneD.send(["t", id]);
  await phoneD.waitForPong();
  expect(shownTo()).toHaveLength(groupTypingMax - 2);

  const { id: big, others: many } = await makeSyncedGroup(groupTypingMax + 1);
  const [eve] = many;
  if (!eve) throw new Error("too few");
  const phoneE = await Device.open(eve);
  phoneE.send(["t", big]);
  await sendTexts(eve, big, "fini");
  await phoneE.nextOf("m");
  expect(shownTo(big)).toEqual([]);
});
