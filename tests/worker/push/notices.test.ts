import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { createUuid } from "#contract/ids.ts";
import { pushForegroundWaitMs } from "#contract/limits/push.ts";
import type { Relation } from "#contract/people.ts";
import { findQuietEnd } from "#contract/settings/quiet-hours.ts";
import { defaultQuietHours } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, waitUntil } from "#tests/worker/support/device.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { channelOf, kinds, runAlarm, settle, startPushServices, subscribe } from "./push-fixture.ts";
import { makeOtherSession } from "./push-service.ts";

const minuteMs = 60_000;
startPushServices();

const makeRequest = ({ id, username, phone }: Person): Relation => ({
  profile: { id, username, phone, avatar_url: null, created_at: 1 },
  state: "received",
  request_id: createUuid(),
  connection_id: null,
  since: Date.now(),
  blocked: false,
});
const makeNotice = (session: string | null = null): SecurityNotice => ({
  id: createUuid(),
  event: "signed_in",
  at: Date.now(),
  session,
  device: "Chrome, Android",
});
/** Sessions with a subscription, in the order in which they subscribed. */
const listSubscribedSessions = (person: Person) =>
  runInDurableObject(channelOf(person), (_, { storage }) =>
    storage.sql
      .exec<{ session: string }>("SELECT session FROM push_subscriptions ORDER BY saved_at")
      .toArray()
      .map(({ session }) => session),
  );
/** Quiet hours that have begun. Stops the clock. Returns their end. */
const beginQuietHours = async (person: Person): Promise<number> => {
  advanceClock(0);
  const from = Math.floor(Date.now() / minuteMs) % 1_440;
  const quietHours = { ...defaultQuietHours, isOn: true, from, to: (from + 8) % 1_440 };
  await call("PATCH", "/api/settings", { token: person.token, body: { quietHours } });
  return findQuietEnd({ quietHours }, Date.now()) ?? Number.NaN;
};

test("a contact request notifies once, however often the channel hears of it", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const phone = await subscribe(ben);
  const request = makeRequest(ana);
  await channelOf(ben).updateRelations([request]);
  const { notification, data } = (await phone.next()).payload;
  expect(notification).toMatchObject({
    title: ana.username,
    body: "Demande de contact",
    navigate: "https://lisolo.test/app/senga",
    tag: `request:${ana.id}`,
  });
  expect(data).toMatchObject({ kind: "request", user: ben.id, isAlerting: true });
  await channelOf(ben).updateRelations([{ ...request, since: request.since + 1 }]);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(1);
});

test("contacts, sent requests and requests of blocked people notify nobody, and no name is shown with nothing to show", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const phone = await subscribe(ben);
  for (const other of [{ state: "contact" }, { state: "sent" }, { blocked: true }] as const)
    await channelOf(ben).updateRelations([{ ...makeRequest(await seedPerson()), ...other }]);
  await settle();
  expect(phone.requests).toBe(0);
  await call("PATCH", "/api/settings", { token: ben.token, body: { messages: { sound: true, preview: "nothing" } } });
  await channelOf(ben).updateRelations([makeRequest(ana)]);
  const { payload } = await phone.next();
  expect(payload.notification.title).toBe("Lisolo");
  expect(JSON.stringify(payload)).not.toContain(ana.username);
});

test("a request in quiet hours notifies at their end if it is still unanswered, also after the object has died", async () => {
  const [ana, cal, ben] = [await seedPerson(), await seedPerson(), await seedPerson()];
  const phone = await subscribe(ben);
  const end = await beginQuietHours(ben);
  const [kept, answered] = [makeRequest(ana), makeRequest(cal)];
  await channelOf(ben).updateRelations([kept, answered]);
  await settle();
  expect(phone.requests).toBe(0);
  await channelOf(ben).updateRelations([{ ...answered, state: "contact", request_id: null }]);
  await evictDurableObject(channelOf(ben));
  advanceClock(end - Date.now());
  await runAlarm(ben);
  expect((await phone.next()).payload.notification.title).toBe(ana.username);
  await settle();
  expect(phone.requests).toBe(1);
});

test("a request in quiet hours of a whole day notifies when these are switched off", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const phone = await subscribe(ben);
  const change = (isOn: boolean) => {
    const quietHours = { ...defaultQuietHours, isOn, from: 480, to: 480 };
    return call("PATCH", "/api/settings", { token: ben.token, body: { quietHours } });
  };
  await change(true);
  await channelOf(ben).updateRelations([makeRequest(ana)]);
  await settle();
  expect(phone.requests).toBe(0);
  await change(false);
  expect((await phone.next()).payload.data.kind).toBe("request");
});

test("a security notice notifies all devices but the one that caused it, in quiet hours without a sound", async () => {
  const ben = await seedPerson();
  const phone = await subscribe(ben);
  const other = await makeOtherSession(ben);
  const laptop = await subscribe(other);
  await channelOf(ben).addSecurityNotice(makeNotice());
  const { notification, data } = (await phone.next()).payload;
  expect(notification).toMatchObject({
    title: "Lisolo",
    body: "Nouvelle connexion à votre compte",
    navigate: "https://lisolo.test/app/security",
  });
  expect(data).toMatchObject({ kind: "security", isAlerting: true });
  await laptop.next();
  await beginQuietHours(ben);
  await channelOf(ben).addSecurityNotice(makeNotice());
  expect((await phone.next(2)).payload.data.isAlerting).toBe(false);
  await waitUntil(() => laptop.requests === 2);
  const [cause] = await listSubscribedSessions(ben);
  await channelOf(ben).addSecurityNotice(makeNotice(cause));
  await waitUntil(() => laptop.requests === 3);
  await settle();
  expect(phone.requests).toBe(2);
});

test("a request notifies a connected device in the background, and no device that shows it in the foreground", async () => {
  const [ana, cal, ben] = [await seedPerson(), await seedPerson(), await seedPerson()];
  const laptop = await Device.open(ben);
  const push = await subscribe(ben);
  await channelOf(ben).updateRelations([makeRequest(ana)]);
  await scheduler.wait(5);
  await laptop.waitForPong();
  await push.next();
  laptop.send(["l", 1]);
  await laptop.waitForPong();
  advanceClock(0);
  await channelOf(ben).updateRelations([makeRequest(cal)]);
  advanceClock(pushForegroundWaitMs);
  laptop.send(["l", 1]);
  await laptop.waitForPong();
  await runAlarm(ben);
  await settle();
  expect(kinds(push)).toEqual(["request"]);
});
