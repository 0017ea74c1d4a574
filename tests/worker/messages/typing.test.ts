import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, privateMembers } from "#contract/ids.ts";
import { creditMessages } from "#contract/limits/sockets.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
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
