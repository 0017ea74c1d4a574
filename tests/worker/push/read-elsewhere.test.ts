import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushConversationPauseMs, pushForegroundWaitMs, pushReadWaitMs } from "#contract/limits/push.ts";
import type { Relation } from "#contract/people.ts";
import { defaultQuietHours } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock, elapseTimers } from "#tests/worker/support/clock.ts";
import { Device, request, sendTexts } from "#tests/worker/support/device.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import {
  bodies,
  channelOf,
  kill,
  kinds,
  runAlarm,
  settle,
  startPushServices,
  subscribe,
  waitForUnread,
} from "./push-fixture.ts";
import { makeOtherSession, type PushDevice } from "./push-service.ts";

/** Notifications of a closed device about what the person has read or answered on another one. */

startPushServices();

const minuteMs = 60_000;

/** Ben with a closed phone, of another session than the one he reads by. */
const withClosedPhone = async () => {
  const { ana, ben, id } = await makePair();
  const phonePerson = await makeOtherSession(ben);
  return { ana, ben, id, phonePerson, phone: await subscribe(phonePerson) };
};

/** The n-th push to a device, once the object has recorded it. */
const nextRecorded = async (device: PushDevice, n: number) => {
  const push = await device.next(n);
  await settle();
  return push;
};

const readUpTo = (person: Person, conversation: string, read: number) =>
  request(person, { type: "mark", conversation, delivered: read, read });

test("messages read on another device silently leave the notification of a closed one, once", async () => {
  const { ana, ben, id, phone } = await withClosedPhone();
  await sendTexts(ana, id, "un", "deux");
  const shown = await nextRecorded(phone, 1);
  elapseTimers(pushReadWaitMs, pushReadWaitMs);
  await readUpTo(ben, id, 1);
  await settle();
  expect(phone.requests).toBe(1); // the newest message that it shows is unread
  await readUpTo(ben, id, 2);
  const { payload, headers } = await phone.next(2);
  expect(payload.notification).toMatchObject({ body: "Lu sur un autre appareil", tag: `c:${id}` });
  expect(payload.notification.title).toBe(shown.payload.notification.title);
  expect(payload.data).toMatchObject({
    kind: "message",
    conversation: id,
    count: 0,
    isAlerting: false,
    isHandled: true,
  });
  expect(headers.get("urgency")).toBe("low");
  expect(headers.get("topic")).toBe(shown.headers.get("topic"));
  expect(JSON.stringify(payload)).not.toContain("deux");

  // A message that is read before it notified the phone concerns no notification.
  const laptop = await Device.open(ben);
  laptop.send(["l", 1]);
  await laptop.waitForPong();
  advanceClock(0);
  await sendTexts(ana, id, "trois");
  await waitForUnread(ben, id, 1);
  await readUpTo(ben, id, 3);
  advanceClock(pushForegroundWaitMs);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(2);
});

test("a message that follows replaces the notification of what was read, and nothing else does", async () => {
  const { ana, ben, id, phone } = await withClosedPhone();
  await sendTexts(ana, id, "un");
  await nextRecorded(phone, 1);
  await readUpTo(ben, id, 1);
  advanceClock(pushConversationPauseMs);
  await sendTexts(ana, id, "deux");
  await phone.next(2);
  await scheduler.wait(pushReadWaitMs + 500);
  expect(bodies(phone)).toEqual(["un", "deux"]);
});

test.each(["that is connected", "that read them itself"])("a device %s is not told what was read", async (which) => {
  const { ana, ben, id, phonePerson, phone } = await withClosedPhone();
  await sendTexts(ana, id, "un");
  await nextRecorded(phone, 1);
  elapseTimers(pushReadWaitMs, pushReadWaitMs);
  if (which === "that is connected") await Device.open(phonePerson);
  await readUpTo(which === "that is connected" ? ben : phonePerson, id, 1);
  await settle();
  expect(phone.requests).toBe(1);
});

const makeRequest = ({ id, username, phone }: Person): Relation => ({
  profile: { id, username, phone, avatar_url: null, created_at: 1 },
  state: "received",
  request_id: createUuid(),
  connection_id: null,
  since: Date.now(),
  blocked: false,
});

test.each([{ state: "contact" }, { state: "none" }] as const)(
  "a request that becomes %j silently leaves the notification of a closed device, also after the object has died",
  async (answer) => {
    const [ana, cal, ben] = [await seedPerson(), await seedPerson(), await seedPerson()];
    const phone = await subscribe(ben);
    const [asked, other] = [makeRequest(ana), makeRequest(cal)];
    await channelOf(ben).updateRelations([asked, other]);
    const shown = await nextRecorded(phone, 1);
    await phone.next(2);
    await settle();
    await kill(ben);
    await channelOf(ben).updateRelations([{ ...asked, ...answer, request_id: null }]);
    const { payload, headers } = await phone.next(3);
    expect(payload.notification).toMatchObject({
      title: ana.username,
      body: "Cette demande n’attend plus de réponse",
      tag: `request:${ana.id}`,
    });
    expect(payload.data).toMatchObject({ kind: "request", count: 0, isAlerting: false, isHandled: true });
    expect(headers.get("urgency")).toBe("low");
    const firstOfAna = phone.received.find(({ payload: { notification } }) => notification.tag === `request:${ana.id}`);
    expect(headers.get("topic")).toBe(firstOfAna?.headers.get("topic"));
    expect(shown.payload.data.kind).toBe("request");
    // Asked again, she notifies again, and the request of the other is left alone.
    await channelOf(ben).updateRelations([makeRequest(ana)]);
    expect((await phone.next(4)).payload.notification.body).toBe("Demande de contact");
    await runAlarm(ben);
    await settle();
    expect(phone.requests).toBe(4);
  },
);

test("a request that is answered while its device is connected, or that never notified, causes no push", async () => {
  const [ana, cal, ben] = [await seedPerson(), await seedPerson(), await seedPerson()];
  const phone = await subscribe(ben);
  const [asked, unseen] = [makeRequest(ana), makeRequest(cal)];
  await channelOf(ben).updateRelations([asked]);
  await nextRecorded(phone, 1);
  const page = await Device.open(ben);
  page.send(["l", 1]);
  await page.waitForPong();
  await channelOf(ben).updateRelations([unseen]);
  for (const one of [asked, unseen])
    await channelOf(ben).updateRelations([{ ...one, state: "contact", request_id: null }]);
  await settle();
  expect(phone.requests).toBe(1);
});

/** A phone with a summary of messages of Ana and Cal in quiet hours, which are over. */
const withSummary = async () => {
  const { ana, ben, id, phone, phonePerson } = await withClosedPhone();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  advanceClock(0);
  const from = Math.floor(Date.now() / minuteMs) % 1_440;
  const quietHours = { ...defaultQuietHours, isOn: true, from, to: (from + 3) % 1_440 };
  await call("PATCH", "/api/settings", { token: ben.token, body: { quietHours } });
  await sendTexts(ana, id, "un", "deux");
  await sendTexts(cal, other, "trois");
  await waitForUnread(ben, id, 2);
  await waitForUnread(ben, other, 1);
  advanceClock(3 * minuteMs);
  await runAlarm(ben);
  expect((await nextRecorded(phone, 1)).payload.data.kind).toBe("summary");
  await kill(ben);
  advanceClock(pushConversationPauseMs);
  return { ana, cal, ben, id, other, phone, phonePerson };
};

test("after a summary a conversation with a new message leaves it, and the last one takes its place", async () => {
  const { ana, cal, id, other, phone } = await withSummary();
  await sendTexts(ana, id, "quatre");
  const own = await phone.next(2);
  expect([own.payload.notification.body, own.payload.data.replaces]).toEqual([
    "3 nouveaux messages\nquatre",
    undefined,
  ]);
  const rest = await nextRecorded(phone, 3);
  expect(rest.payload).toMatchObject({
    notification: { body: "Nouveau message", tag: "summary" },
    data: { kind: "summary", count: 1, isAlerting: false },
  });
  expect(rest.headers.get("urgency")).toBe("low");
  advanceClock(pushConversationPauseMs);
  await sendTexts(cal, other, "cinq");
  const last = await nextRecorded(phone, 4);
  expect([last.payload.notification.body, last.payload.data.replaces]).toEqual([
    "2 nouveaux messages\ncinq",
    ["summary"],
  ]);
  advanceClock(pushConversationPauseMs);
  await sendTexts(cal, other, "six");
  expect((await nextRecorded(phone, 5)).payload.data.replaces).toBeUndefined();
  expect(phone.requests).toBe(5);
});

test("what is read on another device leaves the summary, which is replaced when nothing of it is unread", async () => {
  const { ben, id, other, phone } = await withSummary();
  elapseTimers(pushReadWaitMs, pushReadWaitMs);
  await readUpTo(ben, other, 1);
  expect((await nextRecorded(phone, 2)).payload.notification.body).toBe("2 nouveaux messages");
  await readUpTo(ben, id, 2);
  expect((await nextRecorded(phone, 3)).payload).toMatchObject({
    notification: { body: "Lu sur un autre appareil", tag: "summary" },
    data: { kind: "summary", count: 0, isHandled: true },
  });
  expect(kinds(phone)).toEqual(["summary", "summary", "summary"]);
});

test("a device that came to the foreground has closed its summary, which is not shown again", async () => {
  const { ana, id, phone, phonePerson } = await withSummary();
  const page = await Device.open(phonePerson);
  page.send(["l", 1]);
  await page.waitForPong();
  page.close();
  await settle();
  advanceClock(pushForegroundWaitMs);
  await sendTexts(ana, id, "quatre");
  expect((await nextRecorded(phone, 2)).payload.notification.body).toBe("3 nouveaux messages\nquatre");
  expect(phone.requests).toBe(2);
});
