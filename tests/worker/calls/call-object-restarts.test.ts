import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callHeardWriteMs, callRingMs, callSilentMaxMs, fanOutAlarmMs } from "#contract/limits.ts";
import { holdAlarms, pass } from "#tests/worker/support/clock.ts";
import { Device, post, request, rowOf, until } from "#tests/worker/support/device.ts";
import {
  alarm,
  alarmAtOf,
  channelStub,
  conversationStub,
  evict,
  line,
  linesOf,
  newCallers,
  newRing,
  newTalk,
} from "#tests/worker/support/phone.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/** Calls whose objects are evicted: stored state continues, and everybody is notified. */

const quiet = () => vi.spyOn(console, "error").mockImplementation(() => {});
/** Channels that cannot be notified. */
const deafen = () =>
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(() => Promise.reject(new Error("away")));

afterEach(() => {
  vi.restoreAllMocks();
});

test("a conversation that is put to sleep while it rings rings on, is answered, and is put to sleep while they talk", async () => {
  const { id, anas, bens, call } = await newRing();
  await evict(id);
  expect(await bens.ask({ type: "standing", call })).toMatchObject({ over: null, call: { answered_at: null } });
  await evict(id);
  await bens.answer(call);
  await anas.hears(call, "answered");
  await evict(id);
  expect(await anas.beat(call)).toEqual({ passed: true });
  await evict(id);
  expect(await anas.hangUp(call, "ended")).toMatchObject({ over: { status: "ended" } });
  await bens.hears(call, "ended");
  for (const phone of [anas, bens]) expect(phone.heard(call)).toEqual(["ring", "answered", "ended"]);
});

test("a call that rings in an object that died is missed by the alarm it left, and told to both", async () => {
  const { ana, ben, id, anas, bens, call } = await newRing();
  await evict(id);
  pass(callRingMs);
  await alarm(id);
  for (const phone of [anas, bens]) await phone.hears(call, "missed");
  await until(async () => (await rowOf(ben, id)).unread === 1);
  expect((await linesOf(ana, id)).map(({ body }) => body)).toEqual([line(call, "missed")]);
  await alarm(id);
  await evict(id);
  await alarm(id);
  for (const phone of [anas, bens]) expect(phone.heard(call)).toEqual(["ring", "missed"]);
});

test("a call under way always has an alarm, also when the one it had was lost", async () => {
  const { id, bens, call } = await newRing();
  await runInDurableObject(conversationStub(id), (_, { storage }) => storage.deleteAlarm());
  await evict(id);
  expect(await bens.ask({ type: "standing", call })).toMatchObject({ over: null });
  expect(await alarmAtOf(id)).not.toBe(null);
  pass(callRingMs);
  await alarm(id);
  await bens.hears(call, "missed");
});

test.each(["ring", "answered", "ended"] as const)(
  "an object that dies after it stored and before it told (%s) tells everybody by its alarm",
  async (event) => {
    holdAlarms();
    const { id, anas, bens } = await newCallers();
    const call = createUuid();
    quiet();
    if (event !== "ring") {
      await anas.dial(call);
      await bens.hears(call, "ring");
    }
    if (event === "ended") {
      await bens.answer(call);
      await anas.hears(call, "answered");
    }
    const deaf = deafen();
    if (event === "ring") await anas.dial(call);
    if (event === "answered") await bens.answer(call);
    if (event === "ended") await bens.hangUp(call, "ended");
    await evict(id);
    deaf.mockRestore();
    const other = event === "ring" ? bens : anas;
    expect(other.heard(call)).not.toContain(event);
    expect(((await alarmAtOf(id)) ?? Number.POSITIVE_INFINITY) - Date.now()).toBeLessThanOrEqual(fanOutAlarmMs);
    await alarm(id);
    await other.hears(call, event);
    for (const phone of [anas, bens]) expect(phone.heard(call).filter((one) => one === event)).toHaveLength(1);
  },
);

test("asking about a call keeps nobody waiting for what an object that died had not told", async () => {
  holdAlarms();
  const { ben, id, anas, bens, call } = await newRing();
  quiet();
  const deaf = deafen();
  await post(anas.person, id, "pas encore dit");
  await evict(id);
  deaf.mockRestore();
  // The alarm of the call is later than the alarm that retries the message notice.
  await anas.dial(call);
  expect(((await alarmAtOf(id)) ?? Number.POSITIVE_INFINITY) - Date.now()).toBeLessThanOrEqual(fanOutAlarmMs);
  await alarm(id);
  await until(async () => (await rowOf(ben, id)).head === 1);
  expect(bens.heard(call)).toEqual(["ring"]);
});

test("messages are told while it rings, and the call is missed in time though their channel is away", async () => {
  const { ben, id, anas, bens, call } = await newRing();
  await post(anas.person, id, "tu es là ?");
  await bens.link.nextLive();
  quiet();
  const deaf = deafen();
  await post(anas.person, id, "et maintenant ?");
  for (let i = 0; i < 3; i++) {
    pass(callRingMs / 3);
    await alarm(id);
  }
  expect((await linesOf(ben, id)).map(({ body }) => body)).toEqual([line(call, "missed")]);
  deaf.mockRestore();
  pass(callRingMs);
  await alarm(id);
  await bens.hears(call, "missed");
  await until(async () => (await rowOf(ben, id)).unread === 3);
});

test("a person's channel that dies knows the call as before, and tells its devices nothing twice", async () => {
  const { ana, ben, id, anas, bens, call } = await newRing();
  for (const { id: user } of [ana, ben]) await evictDurableObject(channelStub(user));
  expect((await request(ben, { type: "changes", since: 0 })).calls).toMatchObject([{ call_id: call }]);
  await evict(id);
  await alarm(id);
  await bens.answer(call);
  await anas.hears(call, "answered");
  for (const { id: user } of [ana, ben]) await evictDurableObject(channelStub(user));
  expect(await bens.signal(call, "offre")).toEqual({ passed: true });
  expect((await anas.hears(call, "signal")).data).toMatchObject({ signal: "offre", from_device: bens.id });
  for (const phone of [anas, bens]) {
    expect(phone.heard(call).filter((event) => event !== "signal")).toEqual(["ring", "answered"]);
  }
});

test("a call of which nobody says that they are there any more ends after a minute, with when they were last heard", async () => {
  const { ana, id, anas, bens, call } = await newTalk();
  pass(callHeardWriteMs);
  expect(await anas.beat(call)).toEqual({ passed: true });
  pass(callSilentMaxMs - 1_000);
  await alarm(id);
  expect(await bens.ask({ type: "standing", call })).toMatchObject({ over: null });
  pass(1_000);
  await alarm(id);
  const seconds = callHeardWriteMs / 1_000;
  expect((await anas.hears(call, "ended")).data).toEqual({ call_id: call, conversation: id, seconds });
  await bens.hears(call, "ended");
  expect((await linesOf(ana, id)).map(({ body }) => body)).toEqual([line(call, "ended", { seconds })]);
});

test("one side alone keeps a call, for as long as it says so", async () => {
  const { id, anas, bens, call } = await newTalk();
  for (let i = 0; i < 4; i++) {
    pass(callSilentMaxMs - 1_000);
    await alarm(id);
    expect(await bens.beat(call), `minute ${i}`).toEqual({ passed: true });
  }
  expect(await anas.ask({ type: "standing", call })).toMatchObject({ over: null });
  pass(callSilentMaxMs);
  // The alarm is late. A request is answered correctly all the same, and a heartbeat learns that the call is over.
  expect(await anas.ask({ type: "standing", call })).toMatchObject({ over: { status: "ended" } });
  expect(await bens.beat(call)).toEqual({ error: "call_not_found" });
});

test("a silent call ends though its object slept through the silence, and one that is kept does not", async () => {
  const { id, anas, bens, call } = await newTalk();
  // Evict the object between any two heartbeats, as the platform does.
  for (let i = 0; i < 6; i++) {
    await evict(id);
    pass(20_000);
    expect(await anas.beat(call)).toEqual({ passed: true });
    if (i % 2) await alarm(id);
  }
  for (let i = 0; i < 4 && !bens.heard(call).includes("ended"); i++) {
    await evict(id);
    pass(callHeardWriteMs);
    await alarm(id);
  }
  const { data } = await bens.hears(call, "ended");
  // The stored time of the last heartbeat may be this old.
  const { seconds } = data as { seconds: number };
  expect(Math.abs(seconds - 120)).toBeLessThanOrEqual(callHeardWriteMs / 1_000);
});

test("a beat writes nothing but once in a while", async () => {
  const { id, anas, call } = await newTalk();
  const heardAt = () =>
    runInDurableObject(conversationStub(id), (_, { storage }) =>
      storage.sql.exec("SELECT caller_heard_at, callee_heard_at FROM calls").one(),
    );
  const before = await heardAt();
  pass(20_000);
  await anas.beat(call);
  expect(await heardAt()).toEqual(before);
  pass(20_000);
  await anas.beat(call);
  expect(await heardAt()).not.toEqual(before);
});

test("notices that come late or twice ring nobody again", async () => {
  const { ben, id, anas, bens } = await newCallers();
  const call = createUuid();
  const notify = UserChannel.prototype.notify;
  const kept: (() => Promise<unknown>)[] = [];
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(function (this: UserChannel, user, notice) {
    kept.push(() => notify.call(this, user, notice));
    return notify.call(this, user, notice);
  });
  await anas.dial(call);
  await bens.hears(call, "ring");
  const rang = [...kept];
  await bens.hangUp(call, "rejected");
  await anas.hears(call, "rejected");
  await Promise.all([...rang, ...kept, ...rang].map((again) => again()));
  const late = await Device.attach(ben);
  expect(late.callsOf(await late.hello())).toEqual([]);
  for (const phone of [anas, bens]) expect(phone.heard(call)).toEqual(["ring", "rejected"]);
  expect(await linesOf(ben, id)).toHaveLength(1);
});

test("a ring that is told after its thirty seconds is not rung", async () => {
  const { id, anas, bens } = await newCallers();
  const call = createUuid();
  quiet();
  const deaf = deafen();
  await anas.dial(call);
  pass(callRingMs);
  // The notice of its end failed as well.
  await alarm(id);
  deaf.mockRestore();
  pass(callRingMs);
  await alarm(id);
  await bens.hears(call, "missed");
  expect(bens.heard(call)).toEqual(["missed"]);
});
