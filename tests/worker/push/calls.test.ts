import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callAsleepMs, callLongRingMs, callRingMs, unansweredMax, unansweredMs } from "#contract/limits/calls.ts";
import { pushConfirmMs, pushLifetimeSeconds } from "#contract/limits/push.ts";
import { CallClient, makeContact, runAlarm as runConversationAlarm } from "#tests/worker/support/call-client.ts";
import { advanceClock, suspendTimers } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { call as callApi } from "#tests/worker/support/site.ts";
import { bodies, channelOf, kill, kinds, runAlarm, settle, startPushServices, subscribe } from "./push-fixture.ts";
import { makeOtherSession } from "./push-service.ts";

/** Calls that ring on devices whose app is closed, and what replaces these notifications. */

startPushServices();

/** Ana with a client, and Ben with a subscribed device that is closed. */
const makeClosedCallee = async () => {
  const { ana, ben, id } = await makePair();
  return { ana, ben, id, anas: await CallClient.open(ana, id), phone: await subscribe(ben) };
};

/** A call that rings on Ben's closed device. */
const makePushedCall = async () => {
  const people = await makeClosedCallee();
  const call = createUuid();
  await people.anas.dial(call);
  await people.phone.next();
  return { ...people, call };
};

test("a call rings on a closed device within a second, once, with all that a notification needs", async () => {
  const { ana, ben, id, anas, phone } = await makeClosedCallee();
  const call = createUuid();
  const dialledAt = Date.now();
  const { call: made } = await anas.dial(call, "video");
  const { payload, headers, at } = await phone.next();
  expect(at - dialledAt).toBeLessThanOrEqual(1_000);
  expect(payload).toEqual({
    web_push: 8030,
    notification: {
      title: "Lisolo", // Ben's channel does not know Ana's name
      body: "Appel vidéo entrant",
      navigate: `https://lisolo.test/app/chat/${ana.id}`,
      tag: `call:${id}`,
      lang: "fr",
      dir: "auto",
    },
    mutable: true,
    data: {
      kind: "call",
      user: ben.id,
      conversation: id,
      call,
      count: 0,
      sentAt: expect.any(Number),
      expiresAt: (made?.created_at ?? 0) + callRingMs,
      missedText: "Appel vidéo manqué",
      endedText: "Appel terminé",
      isAlerting: true,
    },
  });
  expect(Number(headers.get("ttl"))).toBeGreaterThan(25);
  expect(Number(headers.get("ttl"))).toBeLessThanOrEqual(callRingMs / 1_000);
  expect(headers.get("urgency")).toBe("high");
  expect(headers.get("topic")).toMatch(/^[\w-]{32}$/);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(1);
});

test("a person who turned the sound of calls off receives a silent ring, in the language of the device", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben, "pt");
  await callApi("PATCH", "/api/settings", { token: ben.token, body: { calls: { sound: false } } });
  const anas = await CallClient.open(ana, id);
  await anas.dial(createUuid());
  const { notification, data } = (await phone.next()).payload;
  expect([notification.body, notification.lang, data.isAlerting]).toEqual(["Chamada de voz recebida", "pt", false]);
});

test("a call rings by a push on a device in the foreground only if its socket stays silent for five seconds", async () => {
  const { ana, ben, id } = await makePair();
  const tablet = await makeOtherSession(ben);
  const [silent, silentPush] = [await Device.open(ben), await subscribe(ben)];
  const [live, livePush] = [await CallClient.open(tablet, id), await subscribe(tablet)];
  const anas = await CallClient.open(ana, id);
  for (const device of [silent, live.device]) {
    device.send(["l", 1]);
    await device.waitForPong();
  }
  await scheduler.wait(5);
  const call = createUuid();
  const dialledAt = Date.now();
  await anas.dial(call);
  await live.waitForEvent(call, "ring");
  await scheduler.wait(5);
  await live.signal(call, "ringing");
  const { at, payload } = await silentPush.next();
  expect(at - dialledAt).toBeGreaterThanOrEqual(pushConfirmMs);
  expect(at - dialledAt).toBeLessThan(pushConfirmMs + 2_000);
  expect(payload.data).toMatchObject({ kind: "call", call });
  await settle();
  expect(livePush.requests).toBe(0);
  silent.close();
});

test("a cancelled call becomes a missed one on the devices that received the ring, once", async () => {
  const { anas, ben, id, phone, call } = await makePushedCall();
  const cancelledAt = Date.now();
  await anas.hangUp(call, "missed");
  const { payload, headers, at } = await phone.next(2);
  expect(at - cancelledAt).toBeLessThanOrEqual(1_000);
  expect(payload).toMatchObject({
    notification: { body: "Appel audio manqué", tag: `c:${id}` },
    data: { kind: "missed_call", call, conversation: id, count: 1, head: 1 },
  });
  expect(headers.get("ttl")).toBe(String(pushLifetimeSeconds));
  await runAlarm(ben);
  await settle();
  expect(kinds(phone)).toEqual(["call", "missed_call"]);
});

test("a missed call is a message for devices that did not receive the ring", async () => {
  const { anas, ben, phone, call } = await makePushedCall();
  const late = await subscribe(await makeOtherSession(ben));
  await anas.hangUp(call, "missed");
  await phone.next(2);
  await late.next();
  await settle();
  expect([kinds(phone), kinds(late)]).toEqual([["call", "missed_call"], ["message"]]);
});

test("a call that nobody answers becomes a missed one", async () => {
  const { anas, id, phone, call } = await makePushedCall();
  advanceClock(callRingMs + 1);
  await runConversationAlarm(id);
  await anas.waitForEvent(call, "missed");
  expect((await phone.next(2)).payload.data).toMatchObject({ kind: "missed_call", call });
});

/** A call that rings on Ben's closed device, whose conversation waits for a report. Time stands still. */
const makeUnreportedPush = async () => {
  const people = await makeClosedCallee();
  advanceClock(0);
  const timer = suspendTimers(callAsleepMs, callAsleepMs + 100);
  const call = createUuid();
  const { call: made } = await people.anas.dial(call);
  const [first] = [await people.phone.next()];
  await settle();
  return { ...people, call, timer, first, createdAt: made?.created_at ?? 0 };
};

test("the push of a call on which no device reports is replaced by one that waits for the rest of 45 seconds", async () => {
  const { id, anas, ben, phone, call, timer, first, createdAt } = await makeUnreportedPush();
  expect(first.payload.data.expiresAt).toBe(createdAt + callRingMs);
  expect(Number(first.headers.get("ttl"))).toBe(callRingMs / 1_000);
  advanceClock(callAsleepMs);
  await timer.go();
  const { payload, headers } = await phone.next(2);
  expect(payload.data).toMatchObject({ kind: "call", call, expiresAt: createdAt + callLongRingMs });
  expect(headers.get("topic")).toBe(first.headers.get("topic"));
  expect(payload.notification.tag).toBe(first.payload.notification.tag);
  expect(Number(headers.get("ttl"))).toBe((callLongRingMs - callAsleepMs) / 1_000);
  await runAlarm(ben);
  await settle();
  expect(kinds(phone)).toEqual(["call", "call"]);
  advanceClock(callLongRingMs - callAsleepMs);
  await runConversationAlarm(id);
  await anas.waitForEvent(call, "missed");
  await phone.next(3);
  await settle();
  expect(kinds(phone)).toEqual(["call", "call", "missed_call"]);
});

test("a call that a device reports in time is pushed once", async () => {
  const { ben, id, phone, call, timer } = await makeUnreportedPush();
  const report = () => callApi("GET", `/api/calls/${call}?conversation=${id}`, { token: ben.token });
  await report();
  advanceClock(callAsleepMs);
  await timer.go();
  await runAlarm(ben);
  await settle();
  expect(kinds(phone)).toEqual(["call"]);
});

test("ten calls that nobody answers are one notification that counts them", async () => {
  const { id, anas, phone } = await makeClosedCallee();
  for (let count = 1; count <= 10; count++) {
    if (count % unansweredMax === 0) advanceClock(unansweredMs); // more are refused within this time
    const call = createUuid();
    expect(await anas.dial(call)).toMatchObject({ over: null });
    await phone.next(2 * count - 1);
    await anas.hangUp(call, "missed");
    const { payload } = await phone.next(2 * count);
    expect(payload.notification).toMatchObject({
      tag: `c:${id}`,
      body: count === 1 ? "Appel audio manqué" : `${count} appels manqués`,
    });
    expect(payload.data).toMatchObject({ kind: "missed_call", call, count });
  }
  await settle();
  expect(phone.received).toHaveLength(20);
});

test("missed calls in a row share a tag and are counted, and other unread messages are not hidden by the count", async () => {
  const { ana, id, anas, phone } = await makeClosedCallee();
  const miss = async (pushes: number) => {
    const call = createUuid();
    await anas.dial(call);
    await phone.next(pushes - 1);
    await anas.hangUp(call, "missed");
    return (await phone.next(pushes)).payload.notification;
  };
  const shown = [await miss(2), await miss(4), await miss(6)];
  expect(shown.map(({ body }) => body)).toEqual(["Appel audio manqué", "2 appels manqués", "3 appels manqués"]);
  expect(new Set(phone.received.map(({ payload }) => payload.notification.tag))).toEqual(
    new Set([`call:${id}`, `c:${id}`]),
  );
  await sendTexts(ana, id, "Mbote");
  await waitUntil(() => bodies(phone).at(-1) === "4 nouveaux messages\nMbote", 10_000);
  const pushed = phone.received.length;
  expect((await miss(pushed + 2)).body).toBe("5 nouveaux messages\nAppel audio manqué");
});

test("a person who hides names and texts receives neither the caller's name nor the number of missed calls", async () => {
  const { ana, ben, id } = await makePair();
  const profile = { id: ana.id, username: ana.username, phone: ana.phone, avatar_url: null, created_at: 1 };
  const known = { state: "contact", request_id: null, connection_id: null, since: 1, blocked: false } as const;
  await channelOf(ben).updateRelations([{ profile, ...known }]);
  const phone = await subscribe(ben);
  const anas = await CallClient.open(ana, id);
  const miss = async (pushes: number) => {
    const call = createUuid();
    await anas.dial(call);
    await phone.next(pushes - 1);
    await anas.hangUp(call, "missed");
    await phone.next(pushes);
  };
  await miss(2);
  const messages = { sound: true, preview: "nothing" };
  await callApi("PATCH", "/api/settings", { token: ben.token, body: { messages } });
  await miss(4);
  const titles = phone.received.map(({ payload }) => payload.notification.title);
  expect(titles).toEqual([ana.username, ana.username, "Lisolo", "Lisolo"]);
  expect(bodies(phone)).toEqual([
    "Appel audio entrant",
    "Appel audio manqué",
    "Appel audio entrant",
    "2 nouveaux messages",
  ]);
});

test.each([
  { how: "answered", text: "Appel pris sur un autre appareil" },
  { how: "declined", text: "Appel refusé sur un autre appareil" },
])("a call that is $how on one device is replaced silently on the others", async ({ how, text }) => {
  const { ana, ben, id } = await makePair();
  const tablet = await makeOtherSession(ben);
  const [phone, tabletPush] = [await subscribe(ben), await subscribe(tablet)];
  const anas = await CallClient.open(ana, id);
  const call = createUuid();
  await anas.dial(call);
  const [ring] = await Promise.all([phone.next(), tabletPush.next()]);
  const bens = await CallClient.open(tablet, id);
  const handledAt = Date.now();
  await (how === "answered" ? bens.answer(call) : bens.hangUp(call, "rejected"));
  const { payload, headers, at } = await phone.next(2);
  expect(at - handledAt).toBeLessThanOrEqual(1_000);
  expect(payload).toMatchObject({
    notification: { body: text, tag: `call:${id}` },
    data: { kind: "call_ended", call, isAlerting: false, count: 0 },
  });
  expect(headers.get("topic")).toBe(ring.headers.get("topic"));
  await settle();
  if (how === "answered") await bens.hangUp(call, "ended"); // which concerns no notification any more
  await settle();
  expect([kinds(phone), kinds(tabletPush)]).toEqual([["call", "call_ended"], ["call"]]);
});

test("a call declined by HTTP from its notification is replaced on no device of that session", async () => {
  const { ben, id, anas, phone, call } = await makePushedCall();
  const declined = await callApi("POST", `/api/calls/${call}/end`, {
    token: ben.token,
    body: { conversation: id, status: "rejected" },
  });
  expect(declined.status).toBe(200);
  await anas.waitForEvent(call, "rejected");
  await settle();
  expect(kinds(phone)).toEqual(["call"]);
});

test("a call that ends before its push is sent rings on no device", async () => {
  const { ana, ben, id } = await makePair();
  const [silent, phone] = [await Device.open(ben), await subscribe(ben)];
  const anas = await CallClient.open(ana, id);
  const call = createUuid();
  await anas.dial(call);
  await anas.hangUp(call, "missed");
  silent.close();
  await scheduler.wait(pushConfirmMs + 500);
  expect(kinds(phone)).not.toContain("call");
});

test("a call of a blocked person, and one during another call, rings on no device", async () => {
  const { ben, id, anas, phone, call } = await makePushedCall();
  const bens = await CallClient.open(ben, id);
  await bens.answer(call);
  const cal = await makeContact(ben);
  await cal.phone.dial(createUuid());
  await settle();
  await bens.hangUp(call, "ended");
  await callApi("PUT", `/api/blocks/${anas.person.id}`, { token: ben.token });
  await anas.dial(createUuid());
  await settle();
  expect(kinds(phone).filter((kind) => kind === "call")).toHaveLength(1);
});

test("a muted conversation's call rings as it does on a connected device, and is replaced when it ends", async () => {
  const { ben, id, anas, phone } = await makeClosedCallee();
  await sendTexts(anas.person, id, "un");
  await phone.next();
  await request(ben, { type: "mute", conversation: id, muted: true });
  const call = createUuid();
  await anas.dial(call);
  expect((await phone.next(2)).payload.data.kind).toBe("call");
  await anas.hangUp(call, "missed");
  expect((await phone.next(3)).payload.data.kind).toBe("missed_call");
});

test("an object that dies before the push rings once, and one that dies later replaces the ring", async () => {
  const { ben, anas, phone } = await makeClosedCallee();
  const isAccepted = phone.answer;
  phone.answer = undefined; // the push service never answers
  const call = createUuid();
  await anas.dial(call);
  await waitUntil(() => phone.requests === 1);
  await kill(ben);
  phone.answer = isAccepted;
  expect(await runAlarm(ben)).toBe(true);
  expect((await phone.next()).payload.data).toMatchObject({ kind: "call", call });
  await settle(); // until it is recorded
  await kill(ben);
  await runAlarm(ben);
  await readRow(ben, anas.person.id).catch(() => undefined); // wakes it
  await settle();
  expect(kinds(phone)).toEqual(["call"]);
  await kill(ben);
  await anas.hangUp(call, "missed");
  expect((await phone.next(2)).payload.data).toMatchObject({ kind: "missed_call", call });
});

test("an object that dies before the push does not ring for a call that ended meanwhile", async () => {
  const { ben, anas, phone } = await makeClosedCallee();
  const isAccepted = phone.answer;
  phone.answer = undefined;
  const call = createUuid();
  await anas.dial(call);
  await waitUntil(() => phone.requests === 1);
  await kill(ben);
  phone.answer = isAccepted;
  await anas.hangUp(call, "missed");
  await phone.next();
  await runAlarm(ben);
  await settle();
  expect(kinds(phone)).toEqual(["message"]);
});

test("a push service that fails once is asked again while the call rings", async () => {
  const { anas, phone } = await makeClosedCallee();
  const isAccepted = phone.answer;
  phone.answer = () => new Response(null, { status: 503, headers: { "retry-after": "1" } });
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const call = createUuid();
  await anas.dial(call);
  await waitUntil(() => phone.requests === 1);
  phone.answer = isAccepted;
  expect((await phone.next()).payload.data).toMatchObject({ kind: "call", call });
});
