import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { CallFrame } from "#contract/calls/call.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { callAsleepMs, callLongRingMs, callRingMs } from "#contract/limits/calls.ts";
import {
  type CallClient,
  conversationStub,
  evictConversation,
  findAlarmTime,
  makeCallers,
  makeUnansweredEntry,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { advanceClock, suspendTimers } from "#tests/worker/support/clock.ts";
import { readRow, waitUntil } from "#tests/worker/support/device.ts";
import { countObjectRows } from "#tests/worker/support/row-counter.ts";
import { call as callApi } from "#tests/worker/support/site.ts";

/** Calls whose callee's devices report in time, late or never that they ring. */

afterEach(() => {
  vi.restoreAllMocks();
});

/** A call from Ana on which no device of Ben has reported yet. The time that the object waits for reports stands still. */
const makeUnreportedCall = async () => {
  const callers = await makeCallers();
  const call = createUuid();
  advanceClock(0);
  const timer = suspendTimers(callAsleepMs, callAsleepMs + 100);
  await callers.anas.dial(call);
  await callers.bens.waitForEvent(call, "ring");
  await runAlarm(callers.id);
  return { ...callers, call, timer };
};

/** The same after the time for reports. */
const makeSleepingCall = async () => {
  const sleeping = await makeUnreportedCall();
  advanceClock(callAsleepMs);
  await sleeping.timer.go();
  for (const phone of [sleeping.anas, sleeping.bens]) await waitForRing(phone, sleeping.call, "asleep");
  return sleeping;
};

const ringsOf = ({ received }: CallClient, call: Uuid): unknown[] =>
  received.flatMap((event: CallFrame["payload"]) =>
    event.event_type === "ring" && event.data.call_id === call ? [event.data.ring] : [],
  );
const waitForRing = (phone: CallClient, call: Uuid, ring: "asleep" | "woken") =>
  waitUntil(() => ringsOf(phone, call).at(-1) === ring);

/** Checks that the call is open just before a time, and missed at it, with one entry. */
const expectMissedAfter = async (ms: number, { ana, ben, id, anas, bens, call }: SleepingCall, elapsedMs: number) => {
  advanceClock(ms - elapsedMs - 1);
  await runAlarm(id);
  expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null });
  advanceClock(1);
  await runAlarm(id);
  for (const phone of [anas, bens]) await phone.waitForEvent(call, "missed");
  await waitUntil(async () => (await readRow(ben, id)).unread === 1);
  await runAlarm(id);
  for (const person of [ana, ben])
    expect((await readCallEntries(person, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
};
type SleepingCall = Omit<Awaited<ReturnType<typeof makeUnreportedCall>>, "timer">;

const killConversation = (id: SleepingCall["id"]) =>
  runInDurableObject(conversationStub(id), (_, state) => state.abort("as if the machine had died")).catch(() => {});

test("a call on which no device reports within ten seconds rings for 45, and both sides are told", async () => {
  const sleeping = await makeSleepingCall();
  const { id, anas, bens, call } = sleeping;
  const { created_at = 0 } = (await anas.request({ type: "standing", call })).call ?? {};
  await runAlarm(id);
  await waitUntil(async () => (await findAlarmTime(id)) === created_at + callLongRingMs);
  for (const phone of [anas, bens]) expect(ringsOf(phone, call)).toEqual([undefined, "asleep"]);
  await expectMissedAfter(callLongRingMs, sleeping, callAsleepMs);
});

test("a report of a connected device costs no row, and the call rings for thirty seconds", async () => {
  const reported = await makeUnreportedCall();
  const { id, ana, ben, anas, bens, call, timer } = reported;
  const channels = [ana, ben].map((person) => env.USER_CHANNEL.getByName(person.id));
  const counted = await countObjectRows([env.CONVERSATION.getByName(id), ...channels]);
  expect(await bens.heartbeat(call)).toEqual({ passed: true });
  expect(counted.written).toBe(0);
  advanceClock(callAsleepMs);
  await timer.go();
  await expectMissedAfter(callRingMs, reported, callAsleepMs);
  expect(ringsOf(anas, call)).toEqual([undefined]);
});

test("the request of a service worker that rings is a report, of which the caller learns once", async () => {
  const reported = await makeUnreportedCall();
  const { ben, id, anas, call, timer } = reported;
  const ask = () => callApi("GET", `/api/calls/${call}?conversation=${id}`, { token: ben.token });
  expect((await ask()).body).toMatchObject({ call: { ring: "reported" } });
  expect((await anas.waitForEvent(call, "signal")).data).toMatchObject({ signal: "", to_device: null });
  await ask();
  advanceClock(callAsleepMs);
  await timer.go();
  await expectMissedAfter(callRingMs, reported, callAsleepMs);
  expect(anas.listEvents(call)).toEqual(["ring", "signal", "missed"]);
});

test("neither a heartbeat nor a question of the caller is a report", async () => {
  const { anas, call, timer } = await makeUnreportedCall();
  await anas.heartbeat(call);
  await anas.request({ type: "standing", call });
  advanceClock(callAsleepMs);
  await timer.go();
  await waitForRing(anas, call, "asleep");
});

test("a phone that wakes late is shown as ringing and has the rest of the 45 seconds", async () => {
  const sleeping = await makeSleepingCall();
  const { ben, id, anas, bens, call } = sleeping;
  const elapsedMs = callRingMs + 5_000;
  advanceClock(elapsedMs - callAsleepMs);
  const answer = await callApi("GET", `/api/calls/${call}?conversation=${id}`, { token: ben.token });
  expect(answer.body).toMatchObject({ call: { ring: "woken" }, over: null });
  for (const phone of [anas, bens]) await waitForRing(phone, call, "woken");
  await bens.heartbeat(call); // changes nothing any more
  await expectMissedAfter(callLongRingMs, sleeping, elapsedMs);
  expect(ringsOf(anas, call)).toEqual([undefined, "asleep", "woken"]);
});

test("a call can be answered after thirty seconds when the phone was asleep", async () => {
  const { anas, bens, call } = await makeSleepingCall();
  advanceClock(callRingMs);
  expect(await bens.answer(call)).toMatchObject({ over: null, call: { answered_at: expect.any(Number) } });
  await anas.waitForEvent(call, "answered");
  advanceClock(5_000);
  expect(await anas.hangUp(call, "ended")).toMatchObject({ over: { status: "ended", seconds: 5 } });
});

test.each([0, callRingMs])(
  "an object that dies before it decides, and starts again after %i ms, lets the call ring for 45 seconds if no device is connected",
  async (startedMs) => {
    const { ana, ben, id, anas, bens, call, timer } = await makeUnreportedCall();
    bens.device.close();
    await waitUntil(async () => !(await env.USER_CHANNEL.getByName(ben.id).isConnected()));
    await killConversation(id);
    advanceClock(startedMs);
    await runAlarm(id);
    if (startedMs < callAsleepMs) {
      expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null });
      await waitUntil(() => timer.count() === 2); // the new object waits for a report
      advanceClock(callAsleepMs - startedMs);
      await anas.request({ type: "standing", call });
    }
    await waitForRing(anas, call, "asleep");
    advanceClock(callLongRingMs - Math.max(startedMs, callAsleepMs) - 1);
    await runAlarm(id);
    expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null });
    advanceClock(1);
    await runAlarm(id);
    await anas.waitForEvent(call, "missed");
    expect(await readCallEntries(ana, id)).toHaveLength(1);
  },
);

test("an object that dies before it decides lets the call ring for thirty seconds on a connected device", async () => {
  const restarted = await makeUnreportedCall();
  const { id, anas, call, timer } = restarted;
  await killConversation(id);
  advanceClock(callAsleepMs);
  await runAlarm(id);
  expect(timer.count()).toBe(1); // the new object waits for no report
  await expectMissedAfter(callRingMs, restarted, callAsleepMs);
  expect(ringsOf(anas, call)).toEqual([undefined]);
});

test.each([
  { how: "killed", end: killConversation },
  { how: "evicted", end: evictConversation },
])("an object that is $how after its decision keeps it, and knows whether the phone woke", async ({ end }) => {
  const sleeping = await makeSleepingCall();
  const { id, anas, bens, call } = sleeping;
  await end(id);
  expect(await anas.request({ type: "standing", call })).toMatchObject({ call: { ring: "asleep" } });
  await bens.heartbeat(call);
  await waitForRing(anas, call, "woken");
  await end(id);
  expect(await anas.request({ type: "standing", call })).toMatchObject({ call: { ring: "woken" } });
  await expectMissedAfter(callLongRingMs, sleeping, callAsleepMs);
});

test("a blocked caller cannot tell the block from a phone that is asleep", async () => {
  const { ana, ben, anas, bens } = await makeCallers();
  await callApi("PUT", `/api/blocks/${ana.id}`, { token: ben.token });
  advanceClock(0);
  const timer = suspendTimers(callAsleepMs, callAsleepMs + 100);
  const call = createUuid();
  await anas.dial(call);
  advanceClock(callAsleepMs);
  await timer.go();
  await waitForRing(anas, call, "asleep");
  await bens.heartbeat(call);
  advanceClock(callRingMs);
  expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null, call: { ring: "asleep" } });
  expect(bens.listEvents(call)).toEqual([]);
});
