import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, privateConversationId, privateMembers } from "#contract/ids.ts";
import { creditMessages } from "#contract/limits/sockets.ts";
import type { SettingsChange } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup } from "#tests/worker/support/make-group.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const numberOf = (person: Person, conversation: ConversationId) => privateMembers(conversation)?.indexOf(person.id);
const typingOf = (device: Device) => device.frames.filter((frame) => Array.isArray(frame) && frame[0] === "t");
/** Channels that receive typing signals of this conversation. Other conversations of this runtime may send too. */
const listenTo = (conversation: ConversationId) => {
  const deliverTyping = vi.spyOn(UserChannel.prototype, "deliverTyping");
  return () =>
    deliverTyping.mock.calls.flatMap(([typed], index) =>
      typed === conversation ? [nameOf(deliverTyping.mock.contexts[index])] : [],
    );
};
const block = async (by: Person, other: Person) => {
  await call("PUT", `/api/blocks/${other.id}`, { token: by.token });
  await waitUntil(async () => (await request(by, { type: "changes", since: 0 })).people.some(({ blocked }) => blocked));
};

const changeSettings = (person: Person, body: SettingsChange) =>
  call("PATCH", "/api/settings", { token: person.token, body });

test("typing is shown on every device of the other, without a counter, and not stored", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB, tabletB] = [await Device.open(ana), await Device.open(ben), await Device.open(ben)];
  phoneA.send(["t", id]);
  for (const device of [phoneB, tabletB]) expect(await device.nextOf("t")).toEqual(["t", 1, numberOf(ana, id)]);
  expect(phoneB.counters).toEqual([]);
  expect(await phoneB.waitForPong()).toBe(`.${phoneB.base.toString(36)}`);
  expect(typingOf(await Device.open(ben))).toEqual([]);
  expect(typingOf(phoneA)).toEqual([]);
});

test("typing is relayed at most once a second, however often it is sent", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, tabletA, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const getNotifiedUsers = listenTo(id);
  advanceClock(0); // without time passing
  for (let i = 0; i < 50; i++) (i % 2 ? phoneA : tabletA).send(["t", id]);
  await phoneB.nextOf("t");
  await sendTexts(ana, id, "fini");
  await phoneB.nextLive();
  expect(getNotifiedUsers()).toHaveLength(1);
  advanceClock(1_100);
  phoneA.send(["t", id]);
  await phoneB.nextOf("t");
  expect(getNotifiedUsers()).toHaveLength(2);
});

test("typing again right after sending is shown at once", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  phoneA.send(["t", id]);
  await phoneB.nextOf("t");
  await sendTexts(ana, id, "avant");
  await phoneB.nextLive();
  phoneA.send(["t", id]);
  expect(await phoneB.nextOf("t")).toEqual(["t", 1, numberOf(ana, id)]);
});

test("typing is not relayed in either direction during a block, nor where nobody may write", async () => {
  const { ana, ben, id } = await makePair();
  const [phoneA, phoneB] = [await Device.open(ana), await Device.open(ben)];
  await block(ana, ben);
  const getNotifiedUsers = listenTo(id);
  phoneB.send(["t", id]);
  phoneA.send(["t", id]);
  await waitUntil(() => getNotifiedUsers().length > 0);
  await scheduler.wait(50);
  expect(getNotifiedUsers()).toEqual([ana.id]);
  expect([...typingOf(phoneA), ...typingOf(phoneB)]).toEqual([]);
  const ended = await makePair();
  const [phoneC, phoneD] = [await Device.open(ended.ana), await Device.open(ended.ben)];
  await call("DELETE", `/api/contacts/${ended.ben.id}`, { token: ended.ana.token });
  await Promise.all([phoneC.nextOf("i"), phoneD.nextOf("i")]);
  phoneC.send(["t", ended.id]);
  await scheduler.wait(50);
  expect(typingOf(phoneD)).toEqual([]);
});

test("who hides their presence shows nobody that they are typing, and sees nobody typing", async () => {
  const { id: group, people } = await makeSyncedGroup(3);
  const [ana, ben] = people as Person[] as [Person, Person];
  const pair = privateConversationId(ana.id, ben.id);
  const phones = await Promise.all(people.map((one) => Device.open(one)));
  const [phoneA, phoneB, phoneC] = phones as [Device, Device, Device];
  const count = () => phones.map((phone) => typingOf(phone).length);
  await changeSettings(ana, { presence: false });
  for (const phone of [phoneA, phoneB, phoneC]) phone.send(["t", group]);
  for (const phone of [phoneA, phoneB]) phone.send(["t", pair]);
  for (const phone of [phoneB, phoneC]) await phone.nextOf("t");
  await scheduler.wait(100);
  expect(count()).toEqual([0, 1, 1]); // Ben and the third of each other, in the group
  await changeSettings(ana, { presence: true });
  await scheduler.wait(1_000); // one signal a second
  phoneA.send(["t", pair]);
  await phoneB.nextOf("t");
  phoneB.send(["t", pair]);
  await phoneA.nextOf("t");
});

test("typing is hidden from those alone from whom the presence is hidden, in groups too", async () => {
  const { id: group, people } = await makeSyncedGroup(3);
  const [ana, ben, cal] = people as Person[] as [Person, Person, Person];
  const phones = await Promise.all(people.map((one) => Device.open(one)));
  const [phoneA, phoneB, phoneC] = phones as [Device, Device, Device];
  await changeSettings(ana, { exceptions: { presence: [ben.id] } });
  for (const target of [group, ...[ben, cal].map((other) => privateConversationId(ana.id, other.id))])
    phoneA.send(["t", target]);
  for (let i = 0; i < 2; i++) await phoneC.nextOf("t");
  phoneB.send(["t", group]);
  phoneB.send(["t", privateConversationId(ana.id, ben.id)]);
  await phoneC.nextOf("t");
  await scheduler.wait(100);
  expect([typingOf(phoneA), typingOf(phoneB)]).toEqual([[], []]);
});

test("a channel ignores typing in a conversation that is not its person's", async () => {
  const [{ ana, ben, id }, other] = [await makePair(), await makePair()];
  const phone = await Device.open(ben);
  const channel = getUserChannelStub(env, ben.id);
  await channel.deliverTyping(id, { user: other.ana.id, number: 0 });
  await channel.deliverTyping(id, { user: ben.id, number: 1 });
  await channel.deliverTyping(other.id, { user: other.ana.id, number: 0 });
  await channel.deliverTyping(id, { user: ana.id, number: 0 });
  await phone.nextOf("t");
  expect(typingOf(phone)).toHaveLength(1);
});

test("a device that is behind receives no typing signals", async () => {
  const { ana, ben, id } = await makePair();
  const slow = await Device.open(ben);
  for (let i = 0; i <= creditMessages / 50; i++)
    await sendTexts(ana, id, ...Array.from({ length: 50 }, (_, j) => `${j}`));
  await slow.nextOf("b");
  const quick = await Device.open(ben);
  const phone = await Device.open(ana);
  phone.send(["t", id]);
  await quick.nextOf("t");
  expect(typingOf(slow)).toEqual([]);
});
