import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { groupReactionHoldMs } from "#contract/limits/groups.ts";
import { pushReactionPauseMs, pushReactionWaitMs } from "#contract/limits/push.ts";
import { defaultQuietHours } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { connect, makePair } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { bodies, channelOf, kinds, runAlarm, startPushServices, subscribe } from "./push-fixture.ts";

startPushServices();

const react = (person: Person, conversation: ConversationId, seq: number, emoji: string | null) =>
  request(person, { type: "react", conversation, seq, emoji });
/** Time in which the push of a reaction that must not be sent would have been. */
const settle = () => scheduler.wait(pushReactionWaitMs + groupReactionHoldMs + 500);
const meet = async (person: Person, { id, username, phone }: Person, blocked = false) => {
  const profile = { id, username, phone, avatar_url: null, created_at: 1 };
  const relation = { profile, state: "contact", request_id: null, connection_id: null, since: 1, blocked } as const;
  await channelOf(person).updateRelations([relation]);
};

/** Ana with a closed phone, and three messages of hers that Ben received; she knows his name. */
const makeChat = async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  await meet(ana, ben);
  await sendTexts(ana, id, "un", "deux", "trois");
  for (const one of [ana, ben]) await waitUntil(async () => (await readRow(one, id)).head === 3);
  return { ...pair, phone: await subscribe(ana) };
};

test("the author is notified of a reaction silently, once, with all that a notification needs", async () => {
  const { ana, ben, id, phone } = await makeChat();
  const bens = await subscribe(ben);
  await react(ben, id, 2, "👍");
  const { payload, headers } = await phone.next();
  expect(payload).toEqual({
    web_push: 8030,
    notification: {
      title: ben.username,
      body: `${ben.username} a réagi avec 👍 à\u00a0: «\u00a0deux\u00a0»`,
      navigate: `https://lisolo.test/app/chat/${ben.id}#m2`,
      tag: `reaction:${id}`,
      lang: "fr",
      dir: "auto",
    },
    mutable: true,
    data: { kind: "reaction", user: ana.id, count: 0, sentAt: expect.any(Number), isAlerting: false },
  });
  expect(headers.get("urgency")).toBe("normal");
  expect((await readRow(ana, id)).unread).toBe(0);
  await runAlarm(ana);
  await settle();
  expect([phone.requests, bens.requests]).toEqual([1, 0]);
});

test("reactions within a few seconds are one push, and later ones another after a minute, also of a next instance", async () => {
  const { ana, ben, id, phone } = await makeChat();
  advanceClock(0);
  await react(ben, id, 1, "😮");
  await react(ben, id, 2, "👍");
  await react(ben, id, 1, "❤️");
  await waitUntil(async () => (await readRow(ana, id)).revision === 3);
  await scheduler.wait(100);
  advanceClock(pushReactionWaitMs);
  await runAlarm(ana);
  await phone.next();
  expect(bodies(phone)).toEqual([`${ben.username} a réagi à 2 de vos messages`]);
  await react(ben, id, 3, "🎉");
  await waitUntil(async () => (await readRow(ana, id)).revision === 4);
  await evictDurableObject(channelOf(ana));
  advanceClock(pushReactionPauseMs - 1_000);
  await runAlarm(ana);
  await settle();
  expect(phone.requests).toBe(1);
  advanceClock(1_000);
  await runAlarm(ana);
  await phone.next(2);
  expect(bodies(phone)[1]).toBe(`${ben.username} a réagi à 3 de vos messages`);
  expect(phone.received[0]?.headers.get("topic")).toBe(phone.received[1]?.headers.get("topic"));
});

test("a reaction that is removed before the push, or to a message that is deleted, is not announced", async () => {
  const { ana, ben, id, phone } = await makeChat();
  await react(ben, id, 1, "👍");
  await react(ben, id, 2, "👍");
  await react(ben, id, 1, null);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await settle();
  expect(phone.requests).toBe(0);
  await react(ben, id, 3, "😂");
  await phone.next();
  expect(bodies(phone)).toEqual([`${ben.username} a réagi avec 😂 à\u00a0: «\u00a0trois\u00a0»`]);
  // A removal alone is no news.
  await react(ben, id, 3, null);
  advanceClock(pushReactionPauseMs);
  await runAlarm(ana);
  await settle();
  expect(phone.requests).toBe(1);
});

test("neither a reaction to one's own message nor a repeated one notifies, nor one to a message of somebody else", async () => {
  const { ana, ben, id, phone } = await makeChat();
  await react(ana, id, 1, "👍");
  await sendTexts(ben, id, "quatre");
  await waitUntil(() => phone.requests === 1);
  await react(ana, id, 4, "👍");
  await settle();
  expect(kinds(phone)).toEqual(["message"]);
});

test("the author is not notified while muted, archived, in quiet hours, in the foreground, blocking the other or with this turned off", async () => {
  type Chat = Awaited<ReturnType<typeof makeChat>>;
  const prepare: ((chat: Chat) => Promise<unknown>)[] = [
    ({ ana, id }) => request(ana, { type: "mute", conversation: id, muted: true }),
    ({ ana, id }) => request(ana, { type: "setConversationFlags", conversation: id, archived: true }),
    ({ ana }) => {
      const quietHours = { ...defaultQuietHours, isOn: true, from: 0, to: 0 };
      return call("PATCH", "/api/settings", { token: ana.token, body: { quietHours } });
    },
    async ({ ana }) => {
      const device = await Device.open(ana);
      device.send(["l", 1]);
      await device.waitForPong();
    },
    async ({ ana, ben, id }) => {
      await getConversationStub(env, id).setBlocked(ana.id, true);
      await meet(ana, ben, true);
    },
    ({ ana }) => call("PATCH", "/api/settings", { token: ana.token, body: { reactions: false } }),
    async () => undefined,
  ];
  const chats = await Promise.all(
    prepare.map(async (change) => {
      const chat = await makeChat();
      await change(chat);
      expect(await react(chat.ben, chat.id, 2, "👍")).not.toHaveProperty("error");
      return chat;
    }),
  );
  await settle();
  expect(chats.map(({ phone }) => phone.requests)).toEqual([0, 0, 0, 0, 0, 0, 1]);
});

test("a device that comes to the foreground before the push ends it, and a connected one in the background is notified", async () => {
  const { ana, ben, id, phone } = await makeChat();
  const device = await Device.open(ana);
  await react(ben, id, 2, "👍");
  await device.nextOf("r");
  for (const isForeground of [1, 0] as const) device.send(["l", isForeground]);
  await device.waitForPong();
  await settle();
  expect(phone.requests).toBe(0);
  await react(ben, id, 3, "🎉");
  await phone.next();
  expect(bodies(phone)).toEqual([`${ben.username} a réagi avec 🎉 à\u00a0: «\u00a0trois\u00a0»`]);
});

test("a notification shows as much as those of messages, in the language of the device", async () => {
  const { ana, ben, id } = await makeChat();
  const phone = await subscribe(ana, "en");
  const show = (preview: string) =>
    call("PATCH", "/api/settings", { token: ana.token, body: { messages: { sound: true, preview } } });
  await show("name");
  await react(ben, id, 1, "👍");
  expect((await phone.next()).payload.notification).toMatchObject({
    title: ben.username,
    body: "New reaction to your message",
  });
  await show("nothing");
  await react(ben, id, 2, "👍");
  await waitUntil(async () => (await readRow(ana, id)).revision === 2);
  advanceClock(pushReactionPauseMs);
  await runAlarm(ana);
  const { notification } = (await phone.next(2)).payload;
  expect([notification.title, notification.body]).toEqual(["Lisolo", "New reactions to your messages"]);
});

test("in a group many reactions are one push, which names somebody the author knows and nobody who is blocked", async () => {
  const { id, owner, others } = await makeSyncedGroup(5);
  const [ben, cleo, dan, eve] = others;
  if (!ben || !cleo || !dan || !eve) throw new Error("too few");
  await meet(owner, ben);
  await meet(owner, cleo);
  await meet(owner, dan, true);
  await sendTexts(owner, id, `Réunion ${"demain ".repeat(20)}`);
  await sendTexts(ben, id, "Oui");
  for (const one of [owner, ...others]) await waitUntil(async () => (await readRow(one, id)).head === 3);
  const [phone, other] = [await subscribe(owner), await subscribe(eve)];
  for (const one of [ben, cleo, eve, dan]) await react(one, id, 2, "🎉");
  const { notification } = (await phone.next()).payload;
  expect(notification.title).toBe("Famille");
  expect(notification.navigate).toBe(`https://lisolo.test/app/group/${id}#m2`);
  expect(notification.body).toMatch(
    new RegExp(
      `^(${ben.username}|${cleo.username}) et 2 autres personnes ont réagi à\u00a0: «\u00a0Réunion (demain )+.*…\u00a0»$`,
    ),
  );
  expect(notification.body).not.toContain(dan.username);
  await settle();
  expect([phone.requests, other.requests]).toEqual([1, 0]);
});

test("a former member is not notified of reactions to what they wrote", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await connect(ben, cleo);
  await sendTexts(ben, id, "bonjour");
  for (const one of [owner, ben, cleo]) await waitUntil(async () => (await readRow(one, id)).head === 2);
  const phone = await subscribe(ben);
  await react(cleo, id, 2, "👍");
  await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  await react(owner, id, 2, "😂");
  await settle();
  expect(phone.requests).toBe(0);
});

test("the author's channel stores nothing for a reaction without notifications, and one value and no alarm for a push", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const readStored = () =>
    runInDurableObject(channelOf(ana), async (_, { storage }) => ({
      values: storage.sql.exec("SELECT key FROM meta WHERE key = 'unseenReactions'").toArray().length,
      alarm: await storage.getAlarm(),
    }));
  await react(ben, id, 1, "👍");
  await settle();
  expect(await readStored()).toEqual({ values: 0, alarm: null });
  const phone = await subscribe(ana);
  await react(ben, id, 1, "😂");
  await phone.next();
  expect(await readStored()).toEqual({ values: 1, alarm: null });
  const device = await Device.open(ana);
  device.send(["l", 1]);
  await device.waitForPong();
  expect(await readStored()).toEqual({ values: 0, alarm: null });
});
