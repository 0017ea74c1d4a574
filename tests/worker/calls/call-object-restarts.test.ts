import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callAsleepMs, callHeardWriteMs, callRingMs, callSilentMaxMs } from "#contract/limits/calls.ts";
import { fanOutAlarmMs } from "#contract/limits/delivery.ts";
import {
  channelStub,
  conversationStub,
  evictConversation,
  findAlarmTime,
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeRingingCall,
  makeUnansweredEntry,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { advanceClock, elapseTimers, suspendAlarms } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/** Calls whose objects are evicted: stored state continues, and everybody is notified. */

const quiet = () => vi.spyOn(console, "error").mockImplementation(() => {});
/** Channels that cannot be notified. */
const deafen = () =>
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(() => Promise.reject(new Error("away")));

afterEach(() => {
  vi.restoreAllMocks();
});

test("a conversation evicted while a call rings continues to ring, is answered, and is evicted again while connected", async () => {
  const { id, anas, bens, call } = await makeRingingCall();
  await evictConversation(id);
  expect(await bens.request({ type: "standing", call })).toMatchObject({ over: null, call: { answered_at: null } });
  await evictConversation(id);
  await bens.answer(call);
  await anas.waitForEvent(call, "answered");
  await evictConversation(id);
  expect(await anas.heartbeat(call)).toEqual({ passed: true });
  await evictConversation(id);
  expect(await anas.hangUp(call, "ended")).toMatchObject({ over: { status: "ended" } });
  await bens.waitForEvent(call, "ended");
  for (const phone of [anas, bens]) expect(phone.listEvents(call)).toEqual(["ring", "answered", "ended"]);
});

test("a call that rings in an evicted object is missed by the alarm it left, and both are notified", async () => {
  const { ana, ben, id, anas, bens, call } = await makeRingingCall();
  await evictConversation(id);
  advanceClock(callRingMs);
  await runAlarm(id);
  for (const phone of [anas, bens]) await phone.waitForEvent(call, "missed");
  await waitUntil(async () => (await readRow(ben, id)).unread === 1);
  expect((await readCallEntries(ana, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
  await runAlarm(id);
  await evictConversation(id);
  await runAlarm(id);
  for (const phone of [anas, bens]) expect(phone.listEvents(call)).toEqual(["ring", "missed"]);
});

test("an open call always has an alarm, also after its alarm was lost", async () => {
  const { id, bens, call } = await makeRingingCall();
  await runInDurableObject(conversationStub(id), (_, { storage }) => storage.deleteAlarm());
  await evictConversation(id);
  expect(await bens.request({ type: "standing", call })).toMatchObject({ over: null });
  expect(await findAlarmTime(id)).not.toBe(null);
  advanceClock(callRingMs);
  await runAlarm(id);
  await bens.waitForEvent(call, "missed");
});

test.each(["ring", "answered", "ended"] as const)(
  "an object that is evicted after storing and before notifying (%s) notifies everybody by its alarm",
  async (event) => {
    suspendAlarms();
    elapseTimers(callAsleepMs, 2 * callAsleepMs); // an object is not evicted before
    const { id, anas, bens } = await makeCallers();
    const call = createUuid();
    quiet();
    if (event !== "ring") {
      await anas.dial(call);
      await bens.waitForEvent(call, "ring");
    }
    if (event === "ended") {
      await bens.answer(call);
      await anas.waitForEvent(call, "answered");
    }
    const silenced = deafen();
    if (event === "ring") await anas.dial(call);
    if (event === "answered") await bens.answer(call);
    if (event === "ended") await bens.hangUp(call, "ended");
    await evictConversation(id);
    silenced.mockRestore();
    const other = event === "ring" ? bens : anas;
    expect(other.listEvents(call)).not.toContain(event);
    expect(((await findAlarmTime(id)) ?? Number.POSITIVE_INFINITY) - Date.now()).toBeLessThanOrEqual(fanOutAlarmMs);
    await runAlarm(id);
    await other.waitForEvent(call, event);
    for (const phone of [anas, bens]) expect(phone.listEvents(call).filter((one) => one === event)).toHaveLength(1);
  },
);

test("a request about a call does not wait for pending notices of an evicted object", async () => {
  suspendAlarms();
  const { ben, id, anas, bens, call } = await makeRingingCall();
  quiet();
  const deaf = deafen();
  await sendTexts(anas.person, id, "pas encore dit");
  await evictConversation(id);
  deaf.mockRestore();
  // The alarm of the call is later than the alarm that retries the message notice.
  await anas.dial(call);
  expect(((await findAlarmTime(id)) ?? Number.POSITIVE_INFINITY) - Date.now()).toBeLessThanOrEqual(fanOutAlarmMs);
  await runAlarm(id);
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  expect(bens.listEvents(call)).toEqual(["ring"]);
});

test("messages are delivered while a call rings, and the call is missed in time though their channel is unreachable", async () => {
  const { ben, id, anas, bens, call } = await makeRingingCall();
  await sendTexts(anas.person, id, "tu es là ?");
  await bens.device.nextLive();
  quiet();
  const deaf = deafen();
  await sendTexts(anas.person, id, "et maintenant ?");
  for (let i = 0; i < 3; i++) {
    advanceClock(callRingMs / 3);
    await runAlarm(id);
  }
  expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
  deaf.mockRestore();
  advanceClock(callRingMs);
  await runAlarm(id);
  await bens.waitForEvent(call, "missed");
  await waitUntil(async () => (await readRow(ben, id)).unread === 3);
});

test("an evicted channel knows the call as before, and notifies its devices of nothing twice", async () => {
  const { ana, ben, id, anas, bens, call } = await makeRingingCall();
  for (const { id: user } of [ana, ben]) await evictDurableObject(channelStub(user));
  expect((await request(ben, { type: "changes", since: 0 })).calls).toMatchObject([{ call_id: call }]);
  await evictConversation(id);
  await runAlarm(id);
  await bens.answer(call);
  await anas.waitForEvent(call, "answered");
  for (const { id: user } of [ana, ben]) await evictDurableObject(channelStub(user));
  expect(await bens.signal(call, "offre")).toEqual({ passed: true });
  expect((await anas.waitForEvent(call, "signal")).data).toMatchObject({ signal: "offre", from_device: bens.id });
  for (const phone of [anas, bens]) {
    expect(phone.listEvents(call).filter((event) => event !== "signal")).toEqual(["ring", "answered"]);
  }
});

test("a call without heartbeats ends after a minute, with the time of the last one", async () => {
  const { ana, id, anas, bens, call } = await makeAnsweredCall();
  advanceClock(callHeardWriteMs);
  expect(await anas.heartbeat(call)).toEqual({ passed: true });
  advanceClock(callSilentMaxMs - 1_000);
  await runAlarm(id);
  expect(await bens.request({ type: "standing", call })).toMatchObject({ over: null });
  advanceClock(1_000);
  await runAlarm(id);
  const seconds = callHeardWriteMs / 1_000;
  expect((await anas.waitForEvent(call, "ended")).data).toEqual({ call_id: call, conversation: id, seconds });
  await bens.waitForEvent(call, "ended");
  expect((await readCallEntries(ana, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, "ended", { seconds })]);
});

test("one side alone keeps a call open for as long as it sends heartbeats", async () => {
  const { id, anas, bens, call } = await makeAnsweredCall();
  for (let i = 0; i < 4; i++) {
    advanceClock(callSilentMaxMs - 1_000);
    await runAlarm(id);
    expect(await bens.heartbeat(call), `minute ${i}`).toEqual({ passed: true });
  }
  expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null });
  advanceClock(callSilentMaxMs);
  // The alarm is late. A request is answered correctly all the same, and a heartbeat learns that the call is over.
  expect(await anas.request({ type: "standing", call })).toMatchObject({ over: { status: "ended" } });
  expect(await bens.heartbeat(call)).toEqual({ error: "call_not_found" });
});

test("a silent call ends though its object was evicted meanwhile, and one with heartbeats continues", async () => {
  const { id, anas, bens, call } = await makeAnsweredCall();
  // Evict the object between any two heartbeats, as the platform does.
  for (let i = 0; i < 6; i++) {
    await evictConversation(id);
    advanceClock(20_000);
    expect(await anas.heartbeat(call)).toEqual({ passed: true });
    if (i % 2) await runAlarm(id);
  }
  for (let i = 0; i < 4 && !bens.listEvents(call).includes("ended"); i++) {
    await evictConversation(id);
    advanceClock(callHeardWriteMs);
    await runAlarm(id);
  }
  const { data } = await bens.waitForEvent(call, "ended");
  // The stored time of the last heartbeat may be this old.
  const { seconds } = data as { seconds: number };
  expect(Math.abs(seconds - 120)).toBeLessThanOrEqual(callHeardWriteMs / 1_000);
});

test("a heartbeat writes a row only at long intervals", async () => {
  const { id, anas, call } = await makeAnsweredCall();
  const heardAt = () =>
    runInDurableObject(conversationStub(id), (_, { storage }) =>
      storage.sql.exec("SELECT caller_heard_at, callee_heard_at FROM calls").one(),
    );
  const before = await heardAt();
  advanceClock(20_000);
  await anas.heartbeat(call);
  expect(await heardAt()).toEqual(before);
  advanceClock(20_000);
  await anas.heartbeat(call);
  expect(await heardAt()).not.toEqual(before);
});

test("late or duplicate notices do not ring again", async () => {
  const { ben, id, anas, bens } = await makeCallers();
  const call = createUuid();
  const notify = UserChannel.prototype.notify;
  const kept: (() => Promise<unknown>)[] = [];
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(function (this: UserChannel, notice) {
    kept.push(() => channelStub(nameOf(this)).notify(notice));
    return notify.call(this, notice);
  });
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  const rang = [...kept];
  await bens.hangUp(call, "rejected");
  await anas.waitForEvent(call, "rejected");
  await Promise.all([...rang, ...kept, ...rang].map((again) => again()));
  const late = await Device.attach(ben);
  expect(late.readCalls(await late.hello())).toEqual([]);
  for (const phone of [anas, bens]) expect(phone.listEvents(call)).toEqual(["ring", "rejected"]);
  expect(await readCallEntries(ben, id)).toHaveLength(1);
});

test("a ring delivered after its thirty seconds does not ring", async () => {
  const { id, anas, bens } = await makeCallers();
  const call = createUuid();
  quiet();
  const deaf = deafen();
  await anas.dial(call);
  advanceClock(callRingMs);
  // The notice of its end failed as well.
  await runAlarm(id);
  deaf.mockRestore();
  advanceClock(callRingMs);
  await runAlarm(id);
  await bens.waitForEvent(call, "missed");
  expect(bens.listEvents(call)).toEqual(["missed"]);
});
