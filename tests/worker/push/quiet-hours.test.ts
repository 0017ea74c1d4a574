import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushConversationPauseMs, pushPauseMs, pushReadWaitMs } from "#contract/limits/push.ts";
import { findQuietEnd } from "#contract/settings/quiet-hours.ts";
import { defaultQuietHours, type QuietHours } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { CallClient } from "#tests/worker/support/call-client.ts";
import { advanceClock, elapseTimers } from "#tests/worker/support/clock.ts";
import { Device, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import {
  channelOf,
  kill,
  kinds,
  runAlarm,
  settle,
  startPushServices,
  subscribe,
  waitForUnread,
} from "./push-fixture.ts";
import { makeOtherSession } from "./push-service.ts";

const minuteMs = 60_000;
const quietMinutes = 8; // shorter than an access token lives
startPushServices();

/** Turns on quiet hours that have begun and end in some minutes. Stops the clock. Returns their end. */
const beginQuietHours = async (person: Person, options: Partial<QuietHours> = {}): Promise<number> => {
  advanceClock(0);
  const minute = Math.floor(Date.now() / minuteMs) % 1_440;
  const [from, to] = [minute, (minute + quietMinutes) % 1_440];
  const quietHours = { ...defaultQuietHours, isOn: true, from, to, ...options };
  expect(await call("PATCH", "/api/settings", { token: person.token, body: { quietHours } })).toMatchObject({
    status: 200,
  });
  return findQuietEnd({ quietHours }, Date.now()) ?? Number.NaN;
};

test("messages of several conversations in quiet hours cause one summary at their end", async () => {
  const { ana, ben, id } = await makePair();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  const phone = await subscribe(ben);
  const end = await beginQuietHours(ben);
  await sendTexts(ana, id, "un", "deux", "trois");
  await sendTexts(cal, other, "quatre", "cinq");
  await waitForUnread(ben, id, 3);
  await waitForUnread(ben, other, 2);
  advanceClock(end - Date.now() - minuteMs);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(0);
  await evictDurableObject(channelOf(ben));
  advanceClock(minuteMs);
  await runAlarm(ben);
  const { notification, data } = (await phone.next()).payload;
  expect(notification).toMatchObject({ title: "Lisolo", body: "5 nouveaux messages dans 2 conversations" });
  expect(notification.navigate).toBe("https://lisolo.test/app");
  expect(data).toMatchObject({ kind: "summary", count: 5 });
  // Neither this instance nor the next one pushes the messages again, and later ones are pushed as usual.
  await runAlarm(ben);
  await evictDurableObject(channelOf(ben));
  advanceClock(Math.max(pushConversationPauseMs, pushPauseMs));
  await sendTexts(ana, id, "six");
  expect((await phone.next(2)).payload.notification.body).toBe("4 nouveaux messages\nsix");
  await settle();
  expect(kinds(phone)).toEqual(["summary", "message", "summary"]); // the last one silently names the other conversation
});

test("in quiet hours a device hears silently that its notification was read elsewhere or its message deleted", async () => {
  const { ana, ben, id } = await makePair();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  const phone = await subscribe(await makeOtherSession(ben));
  advanceClock(0);
  await sendTexts(ana, id, "à lire");
  expect((await phone.next()).payload.notification.body).toBe("à lire");
  await settle();
  advanceClock(pushPauseMs);
  await sendTexts(cal, other, "à supprimer");
  await waitForUnread(ben, other, 1);
  await runAlarm(ben);
  expect((await phone.next(2)).payload.notification.body).toBe("à supprimer");
  await settle();
  await beginQuietHours(ben);

  elapseTimers(pushReadWaitMs, pushReadWaitMs);
  await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 });
  const read = (await phone.next(3)).payload;
  expect(read.notification.body).toBe("Lu sur un autre appareil");
  await request(cal, { type: "deleteForEveryone", conversation: other, seq: 1 });
  const deleted = (await phone.next(4)).payload;
  expect(JSON.stringify(deleted)).not.toContain("à supprimer");
  for (const { data } of [read, deleted]) expect(data.isAlerting).toBe(false);

  await sendTexts(ana, id, "pas avant la fin");
  await waitForUnread(ben, id, 1);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(4);
});

test("a connected device in the background receives what was held back in quiet hours once, as a summary", async () => {
  const { ana, ben, id } = await makePair();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  const [page, push] = [await Device.open(ben), await subscribe(ben)];
  const end = await beginQuietHours(ben);
  await sendTexts(ana, id, "un", "deux");
  await sendTexts(cal, other, "trois");
  await waitForUnread(ben, id, 2);
  await waitForUnread(ben, other, 1);
  page.send(["r", id, 2, 0]);
  await page.waitForPong();
  advanceClock(end - Date.now());
  await runAlarm(ben);
  expect((await push.next()).payload.data).toMatchObject({ kind: "summary", count: 3 });
  await runAlarm(ben);
  await settle();
  expect(push.requests).toBe(1);
});

test("a summary contains only what is still unread and not muted, and of one conversation it is its notification", async () => {
  const { ana, ben, id } = await makePair();
  const people = [await seedPerson(), await seedPerson()] as const;
  const [read, muted] = [await befriend(ben, people[0]), await befriend(ben, people[1])];
  const phone = await subscribe(ben);
  const end = await beginQuietHours(ben);
  await sendTexts(ana, id, "non lu");
  await sendTexts(people[0], read, "lu");
  await sendTexts(people[1], muted, "muet");
  for (const one of [id, read, muted]) await waitForUnread(ben, one, 1);
  await request(ben, { type: "mark", conversation: read, delivered: 1, read: 1 });
  await request(ben, { type: "mute", conversation: muted, muted: true });
  await waitForUnread(ben, read, 0);
  advanceClock(end - Date.now());
  await runAlarm(ben);
  const { notification, data } = (await phone.next()).payload;
  expect([notification.body, data.kind, data.conversation]).toEqual(["non lu", "message", id]);
  await settle();
  expect(phone.requests).toBe(1);
});

test("a summary that the push service refuses for now is sent later, once", async () => {
  const { ana, ben, id } = await makePair();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  const phone = await subscribe(ben);
  const end = await beginQuietHours(ben);
  await sendTexts(ana, id, "un");
  await sendTexts(cal, other, "deux");
  await waitForUnread(ben, id, 1);
  await waitForUnread(ben, other, 1);
  const accept = phone.answer;
  phone.answer = () => new Response(null, { status: 503 });
  advanceClock(end - Date.now());
  await runAlarm(ben);
  await waitUntil(() => phone.requests === 1);
  phone.answer = accept;
  await settle();
  advanceClock(minuteMs);
  await runAlarm(ben);
  await waitUntil(() => phone.requests === 2);
  await settle();
  expect(phone.received.map(({ payload }) => payload.data.kind)).toEqual(["summary"]);
});

test.each(["switched off", "shortened", "switched off after the object has died"])(
  "quiet hours that are %s announce at that moment what they held back, as at their usual end",
  async (how) => {
    const { ana, ben, id } = await makePair();
    const cal = await seedPerson();
    const other = await befriend(ben, cal);
    const phone = await subscribe(ben);
    const end = await beginQuietHours(ben);
    await sendTexts(ana, id, "un", "deux");
    await sendTexts(cal, other, "trois");
    await waitForUnread(ben, id, 2);
    await waitForUnread(ben, other, 1);
    advanceClock(minuteMs);
    if (how.endsWith("died")) await kill(ben);
    const change = (quietHours: Partial<QuietHours>) => {
      const body = { quietHours: { ...defaultQuietHours, isOn: true, ...quietHours } };
      return call("PATCH", "/api/settings", { token: ben.token, body });
    };
    const minute = Math.floor(Date.now() / minuteMs) % 1_440;
    // A change that leaves this minute quiet pushes nothing.
    await change({ from: minute, to: (minute + quietMinutes) % 1_440 });
    await settle();
    expect(phone.requests).toBe(0);
    await change(how === "shortened" ? { from: (minute + 1_439) % 1_440, to: minute } : { isOn: false });
    const { payload } = await phone.next();
    expect(payload.data).toMatchObject({ kind: "summary", count: 3 });
    advanceClock(end - Date.now());
    await runAlarm(ben);
    await settle();
    expect(phone.requests).toBe(1);
  },
);

test.each([true, false])(
  "a call in quiet hours rings on a closed device only if they allow calls: %s",
  async (allowsCalls) => {
    const { ana, ben, id } = await makePair();
    const phone = await subscribe(ben);
    await beginQuietHours(ben, { allowsCalls });
    await (await CallClient.open(ana, id)).dial(createUuid());
    if (allowsCalls) expect((await phone.next()).payload.data.kind).toBe("call");
    else await settle();
    expect(phone.requests).toBe(allowsCalls ? 1 : 0);
  },
);

test.each([
  ["text", (name: string) => [name, "secret"]],
  ["name", (name: string) => [name, "Nouveau message"]],
  ["nothing", () => ["Lisolo", "Nouveau message"]],
  [true, (name: string) => [name, "secret"]],
  [false, (name: string) => [name, "Nouveau message"]],
] as const)("with the preview level %j a push shows no more than it allows", async (preview, expected) => {
  const { ana, ben, id } = await makePair();
  const { username, phone: number } = ana;
  const profile = { id: ana.id, username, phone: number, avatar_url: null, created_at: 1 };
  const contact = { state: "contact", request_id: null, connection_id: null, since: 1, blocked: false } as const;
  await channelOf(ben).updateRelations([{ profile, ...contact }]);
  const device = await subscribe(ben);
  await call("PATCH", "/api/settings", { token: ben.token, body: { messages: { sound: true, preview } } });
  await sendTexts(ana, id, "secret");
  const { payload } = await device.next();
  expect([payload.notification.title, payload.notification.body]).toEqual(expected(username));
  expect(payload.data.isNameHidden).toBe(preview === "nothing" ? true : undefined); // then it offers no reply
  if (preview === "nothing") expect(JSON.stringify(payload)).not.toMatch(new RegExp(`secret|${username}`));
});
