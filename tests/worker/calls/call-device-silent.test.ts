import { evictDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callHeardWriteMs, callHeartbeatMs, callStaleMs } from "#contract/limits/calls.ts";
import {
  CallClient,
  channelStub,
  evictConversation,
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeContact,
  readCallEntries,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, request } from "#tests/worker/support/device.ts";

/**
 * A call in which one side's device is gone while the other's still sends heartbeats: the person of the lost device is
 * free.
 */

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Ana and Ben are in a call, and the client of one of them stops. `other` is the stopped side, `lone` the one that goes
 * on.
 */
const makeSilentDevice = async (silent: "caller" | "callee") => {
  const talk = await makeAnsweredCall();
  const [gone, remaining] = silent === "caller" ? [talk.anas, talk.bens] : [talk.bens, talk.anas];
  const friend = await makeContact(gone.person);
  const tablet = await CallClient.open(gone.person, friend.id);
  const wait = async (ms: number) => {
    for (let waited = 0; waited < ms; waited += callHeartbeatMs) {
      advanceClock(callHeartbeatMs);
      expect(await remaining.heartbeat(talk.call)).toEqual({ passed: true });
    }
  };
  return { ...talk, gone, remaining, friend, tablet, wait };
};
const refused = { error: "call_in_progress" };

test.each(["caller", "callee"] as const)(
  "the %s whose device was silent for a minute can call somebody else, and has left that call",
  async (silent) => {
    const { ana, id, call, gone, remaining, friend, tablet, wait } = await makeSilentDevice(silent);
    await wait(callStaleMs - callHeartbeatMs);
    expect(await tablet.dial(createUuid())).toEqual(refused);
    await wait(callHeartbeatMs);
    // Missing heartbeats of one side end nothing: the media may still be connected.
    expect(await remaining.request({ type: "standing", call })).toMatchObject({ over: null });
    const other = createUuid();
    expect(await tablet.dial(other)).toMatchObject({ over: null });
    await friend.phone.waitForEvent(other, "ring");
    for (const phone of [gone, remaining]) await phone.waitForEvent(call, "ended");
    const seconds = callStaleMs / 1_000;
    expect((await readCallEntries(ana, id)).map(({ body }) => body)).toEqual([
      makeCallEntry(call, "ended", { seconds }),
    ]);
    expect(tablet.listEvents(other)).toEqual(["ring"]);
  },
);

test("a call of a person whose device is gone rings on their other devices, later ones too, and the old one ends when they answer", async () => {
  const { ana, call, remaining, friend, tablet, wait } = await makeSilentDevice("caller");
  const other = createUuid();
  await friend.phone.dial(other);
  expect((await friend.phone.waitForEvent(other, "missed")).data).toMatchObject({ reason: "busy" });
  await wait(callStaleMs);
  const again = createUuid();
  await friend.phone.dial(again);
  await tablet.waitForEvent(again, "ring");
  const late = await Device.attach(ana);
  expect(late.readCalls(await late.hello()).map(({ call_id }) => call_id)).toContain(again);
  expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
  // The channel forgets its result and determines it again.
  await evictDurableObject(channelStub(ana.id));
  const latest = await CallClient.open(ana, friend.id);
  await latest.waitForEvent(again, "ring");
  expect(await latest.answer(again)).toMatchObject({ over: null, call: { to_device: latest.id } });
  await remaining.waitForEvent(call, "ended");
  expect(friend.phone.listEvents(again)).toEqual(["ring", "answered"]);
});

test("a device that sends a heartbeat again makes its person busy again", async () => {
  const { id, call, gone, friend, tablet, wait } = await makeSilentDevice("callee");
  await wait(callStaleMs);
  const other = createUuid();
  await friend.phone.dial(other);
  await tablet.waitForEvent(other, "ring");
  expect(await gone.heartbeat(call)).toEqual({ passed: true });
  expect(await tablet.answer(other)).toEqual(refused);
  await friend.phone.hangUp(other, "missed");
  const again = createUuid();
  await friend.phone.dial(again);
  expect((await friend.phone.waitForEvent(again, "missed")).data).toMatchObject({ reason: "busy" });
  expect(await tablet.hangUp(call, "ended", undefined, id)).toEqual({
    error: "answered_elsewhere",
  });
});

test("heartbeats of another device do not keep the call of a lost device, over either transport", async () => {
  const { ana, id, call, gone, remaining, friend, wait } = await makeSilentDevice("caller");
  const tablet = await CallClient.open(gone.person, id);
  const refusal = { error: "call_not_found" };
  for (let waited = 0; waited < callStaleMs; waited += callHeartbeatMs) {
    await wait(callHeartbeatMs);
    expect(await tablet.heartbeat(call)).toEqual(refusal);
    const beat = { type: "beat", conversation: id, call, device: tablet.id } as const;
    expect(await request(ana, beat)).toMatchObject(refusal);
  }
  expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
  expect(await tablet.dial(createUuid(), "audio", friend.id)).toMatchObject({ over: null });
  await remaining.waitForEvent(call, "ended");
});

test.each(["caller", "callee"] as const)(
  "any device of the %s can end a call in which another device was silent for a minute",
  async (silent) => {
    const { id, call, gone, remaining, wait } = await makeSilentDevice(silent);
    const tablet = await CallClient.open(gone.person, id);
    await wait(callStaleMs - callHeartbeatMs);
    expect(await tablet.hangUp(call, "ended")).toEqual({ error: "answered_elsewhere" });
    await wait(callHeartbeatMs);
    expect(await tablet.hangUp(call, "ended")).toMatchObject({
      over: { status: "ended", seconds: callStaleMs / 1_000 },
    });
    await remaining.waitForEvent(call, "ended");
  },
);

test.each(["caller", "callee"] as const)(
  "the %s can call the same person again when the connected device is gone",
  async (silent) => {
    const { ana, id, call, gone, remaining, wait } = await makeSilentDevice(silent);
    const tablet = await CallClient.open(gone.person, id);
    await wait(callStaleMs - callHeartbeatMs);
    expect(await tablet.dial(createUuid())).toEqual(refused);
    await wait(callHeartbeatMs);
    const again = createUuid();
    expect(await tablet.dial(again)).toMatchObject({ over: null, call: { call_id: again, answered_at: null } });
    await remaining.waitForEvent(again, "ring");
    expect(remaining.listEvents(call)).toEqual(["ring", "answered", "ended"]);
    await remaining.answer(again);
    await tablet.waitForEvent(again, "answered");
    await remaining.hangUp(again, "ended");
    expect((await readCallEntries(ana, id)).map(({ body }) => body)).toMatchObject([
      { id: call, seconds: 60 },
      { id: again },
    ]);
  },
);

test("an object evicted between any two heartbeats still knows which side is present and which is gone", async () => {
  const { id, call, gone, remaining, friend, tablet } = await makeSilentDevice("caller");
  const alone = await makeContact(remaining.person);
  const beat = async (...phones: CallClient[]) => {
    for (const phone of phones) {
      await evictConversation(id);
      advanceClock(callHeartbeatMs / 2);
      expect(await phone.heartbeat(call)).toEqual({ passed: true });
    }
  };
  for (let i = 0; i < 9; i++) await beat(remaining, gone);
  expect(await tablet.dial(createUuid())).toEqual(refused);
  for (let heard = 0; heard < callStaleMs + callHeardWriteMs; heard += callHeartbeatMs)
    await beat(remaining, remaining);
  expect(await alone.phone.dial(createUuid(), "audio", alone.id)).toMatchObject({ over: null });
  expect(await remaining.dial(createUuid(), "audio", alone.id)).toEqual(refused);
  const other = createUuid();
  expect(await tablet.dial(other)).toMatchObject({ over: null });
  await friend.phone.waitForEvent(other, "ring");
  await remaining.waitForEvent(call, "ended");
});

test("a call that was just answered does not count as abandoned, however long it rang", async () => {
  const { ana, anas, bens } = await makeCallers();
  const call = createUuid();
  const friend = await makeContact(ana);
  await anas.dial(call);
  advanceClock(callHeartbeatMs);
  await bens.answer(call);
  await anas.waitForEvent(call, "answered");
  advanceClock(callStaleMs - 1_000);
  const tablet = await CallClient.open(ana, friend.id);
  expect(await tablet.dial(createUuid())).toEqual(refused);
});
