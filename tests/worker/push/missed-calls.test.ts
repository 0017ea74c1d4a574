import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushConversationPauseMs } from "#contract/limits/push.ts";
import { defaultQuietHours } from "#contract/settings/settings.ts";
import { CallClient } from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call as callApi } from "#tests/worker/support/site.ts";
import { kill, kinds, runAlarm, settle, startPushServices, subscribe, waitForUnread } from "./push-fixture.ts";

startPushServices();

const minuteMs = 60_000;
const quietMinutes = 3;
const logEntryWaitMs = 1_000; // in which the log entry of a missed call replaces its ring
const endedMs = logEntryWaitMs + 500; // in which anything else would have been pushed about a call that ended

test("missed calls are announced as missed calls although one of them did not ring by a push", async () => {
  const { ana, ben, id } = await makePair();
  const [anas, phone] = [await CallClient.open(ana, id), await subscribe(ben)];
  const miss = async (ringing: () => Promise<unknown>) => {
    const call = createUuid();
    await anas.dial(call);
    await ringing();
    advanceClock(pushConversationPauseMs);
    await anas.hangUp(call, "missed");
    return call;
  };
  await miss(() => phone.next());
  expect((await phone.next(2)).payload.notification.body).toBe("Appel audio manqué");

  const accept = phone.answer;
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  phone.answer = () => new Response(null, { status: 503 });
  const silent = await miss(async () => {
    await waitUntil(() => phone.requests === 3);
    phone.answer = accept;
  });
  const { notification, data } = (await phone.next(3)).payload;
  expect(notification).toMatchObject({ body: "2 appels manqués", tag: `c:${id}` });
  // The device closes a ring of this call that the server does not know of.
  expect(data).toMatchObject({ kind: "message", count: 2, call: silent });

  await miss(() => phone.next(4));
  expect((await phone.next(5)).payload.notification.body).toBe("3 appels manqués");
  await settle();
  expect(kinds(phone)).toEqual(["call", "missed_call", "message", "call", "missed_call"]);
});

test("missed calls of silent quiet hours are counted as calls, of one conversation and of several", async () => {
  const { ana, ben, id } = await makePair();
  const cal = await seedPerson();
  const other = await befriend(ben, cal);
  const phone = await subscribe(ben);
  const [anas, cals] = [await CallClient.open(ana, id), await CallClient.open(cal, other)];
  advanceClock(0);
  const beginQuietHours = () => {
    const from = Math.floor(Date.now() / minuteMs) % 1_440;
    const to = (from + quietMinutes) % 1_440;
    const quietHours = { ...defaultQuietHours, isOn: true, from, to, allowsCalls: false };
    return callApi("PATCH", "/api/settings", { token: ben.token, body: { quietHours } });
  };
  const miss = async (client: CallClient) => {
    const call = createUuid();
    await client.dial(call);
    await client.hangUp(call, "missed");
  };
  const endQuietHours = () => {
    advanceClock(quietMinutes * minuteMs);
    return runAlarm(ben);
  };

  await beginQuietHours();
  await miss(anas);
  await miss(anas);
  await waitForUnread(ben, id, 2);
  await endQuietHours();
  const { payload } = await phone.next();
  expect([payload.data.kind, payload.notification.body]).toEqual(["message", "2 appels manqués"]);

  await settle(); // until it is recorded
  await beginQuietHours();
  await miss(anas);
  await miss(cals);
  await waitForUnread(ben, id, 3);
  await waitForUnread(ben, other, 1);
  await endQuietHours();
  expect((await phone.next(2)).payload.notification.body).toBe("4 appels manqués dans 2 conversations");
});

test("an object that died while a call rang replaces the ring of the missed call once", async () => {
  const { ana, ben, id } = await makePair();
  const [anas, phone] = [await CallClient.open(ana, id), await subscribe(ben)];
  const call = createUuid();
  await anas.dial(call);
  await phone.next();
  await settle(); // until it is recorded
  await kill(ben);
  await anas.hangUp(call, "missed");
  expect((await phone.next(2)).payload.data).toMatchObject({ kind: "missed_call", call });
  await scheduler.wait(endedMs);
  expect(kinds(phone)).toEqual(["call", "missed_call"]);
});
