import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { callRingMs, callServerWaitMs } from "#contract/limits/calls.ts";
import {
  CallClient,
  channelStub,
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeContact,
  makeRingingCall,
  makeUnansweredEntry,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, waitUntil } from "#tests/worker/support/device.ts";
import { Conversation } from "#worker/objects/conversation.ts";

/** A person who is in a call, calls, or is being called is busy for everybody else, but never forever. */

afterEach(() => {
  vi.restoreAllMocks();
});

/** The caller gets "busy", the called person a missed-call entry, and nothing rings. */
const expectBusy = async (caller: CallClient, called: CallClient, conversation: ConversationId, call: string) => {
  expect((await caller.waitForEvent(call, "missed")).data).toEqual({
    call_id: call,
    conversation,
    seconds: 0,
    reason: "busy",
  });
  await called.waitForEvent(call, "missed");
  expect(called.listEvents(call)).toEqual(["missed"]);
  await waitUntil(async () => (await readRow(called.person, conversation)).unread === 1);
  for (const { person } of [caller, called]) {
    expect((await readCallEntries(person, conversation)).map(({ body }) => body)).toEqual([
      makeCallEntry(call, "missed", { reason: "busy" }),
    ]);
  }
};

test.each(["rung", "talks", "calls"] as const)("a person who %s is busy for a third person", async (state) => {
  const { ana, ben, anas, bens, call } = await (state === "talks" ? makeAnsweredCall() : makeRingingCall());
  const [busy, phone] = state === "calls" ? [ana, anas] : [ben, bens];
  const cleo = await makeContact(busy);
  const other = createUuid();
  expect(await cleo.phone.dial(other)).toMatchObject({ over: null });
  await expectBusy(cleo.phone, phone, cleo.id, other);
  // The call that made them busy continues, and after it they can be called.
  expect(await phone.request({ type: "standing", call })).toMatchObject({ over: null });
  await anas.hangUp(call, "ended");
  await waitUntil(() => phone.received.at(-1)?.data.call_id === call);
  const again = createUuid();
  await cleo.phone.dial(again);
  await phone.waitForEvent(again, "ring");
});

test("of two simultaneous callers one rings, and the other gets the busy result", async () => {
  const { ana, bens, ben, id } = await makeCallers();
  const anas = await CallClient.open(ana, id);
  const cleo = await makeContact(ben);
  const [anasCall, cleosCall] = [createUuid(), createUuid()];
  await Promise.all([anas.dial(anasCall), cleo.phone.dial(cleosCall)]);
  await waitUntil(() => [anasCall, cleosCall].some((one) => bens.listEvents(one).includes("missed")));
  const isAnas = bens.listEvents(anasCall).includes("ring");
  expect(bens.listEvents(isAnas ? anasCall : cleosCall)).toEqual(["ring"]);
  if (isAnas) await expectBusy(cleo.phone, bens, cleo.id, cleosCall);
  else await expectBusy(anas, bens, id, anasCall);
});

test("a person who calls somebody else while being called is busy for the first caller from then on", async () => {
  const { anas, bens, ben, call } = await makeRingingCall();
  const cleo = await makeContact(ben);
  const other = createUuid();
  expect(await bens.dial(other, "audio", cleo.id)).toMatchObject({ over: null });
  await cleo.phone.waitForEvent(other, "ring");
  expect((await anas.waitForEvent(call, "missed")).data).toMatchObject({ reason: "busy" });
  await bens.waitForEvent(call, "missed");
  expect(cleo.phone.listEvents(other)).toEqual(["ring"]);
});

test("a person in a call, or calling, cannot call anybody else, from any device", async () => {
  const { ana, anas, bens, call } = await makeAnsweredCall();
  const cleo = await makeContact(ana);
  const tablet = await CallClient.open(ana, cleo.id);
  for (const state of ["talks", "calls"]) {
    for (const phone of [anas, tablet]) {
      expect(await phone.dial(createUuid(), "audio", cleo.id), state).toEqual({ error: "call_in_progress" });
    }
    if (state === "talks") {
      await anas.hangUp(call, "ended");
      await bens.waitForEvent(call, "ended");
      await anas.dial(createUuid());
    }
  }
  expect(await readCallEntries(cleo.person, cleo.id)).toEqual([]);
});

test("of two devices of one person that call two people at the same moment, one succeeds", async () => {
  const { ana, id, anas } = await makeCallers();
  const cleo = await makeContact(ana);
  const tablet = await CallClient.open(ana, cleo.id);
  for (let round = 0; round < 5; round++) {
    const [one, other] = [createUuid(), createUuid()];
    const outcomes = await Promise.all([anas.dial(one), tablet.dial(other)]);
    expect(outcomes.filter(({ error }) => error === "call_in_progress")).toHaveLength(1);
    if (outcomes[0].error) await tablet.hangUp(other, "missed");
    else await anas.hangUp(one, "missed");
  }
  expect((await readCallEntries(ana, id)).length + (await readCallEntries(ana, cleo.id)).length).toBe(5);
});

test("a person whose channel cannot be reached stays busy; a lost notice of a call's end makes nobody busy forever", async () => {
  const { ana, ben, id, anas, bens, call } = await makeAnsweredCall();
  // The notice of its end is lost for good.
  await anas.hangUp(call, "ended");
  await bens.waitForEvent(call, "ended");
  await runAlarm(id);
  for (const { id: user } of [ana, ben]) {
    await runInDurableObject(channelStub(user), (_, { storage }) =>
      storage.sql.exec("UPDATE calls SET call = ? WHERE conversation = ?", JSON.stringify(openOf(bens, call)), id),
    );
    // The object's in-memory state of it is gone with the instance.
    await runInDurableObject(channelStub(user), (_, state) => state.abort("as if the machine had died")).catch(
      () => {},
    );
  }
  const cleo = await makeContact(ben);
  const other = createUuid();
  const bensNew = await CallClient.open(ben, id);
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  const away = vi.spyOn(Conversation.prototype, "getCallState").mockRejectedValue(new Error("away"));
  await cleo.phone.dial(other);
  await cleo.phone.waitForEvent(other, "missed");
  away.mockRestore();
  const again = createUuid();
  await cleo.phone.dial(again);
  await bensNew.waitForEvent(again, "ring");
  expect(bensNew.listEvents(call)).toEqual(["ended"]);
  await cleo.phone.hangUp(again, "missed");
  // The other side can call as well, because its conversation reports that the call ended.
  const dora = await makeContact(ana);
  const anasNew = await CallClient.open(ana, dora.id);
  expect(await anasNew.dial(createUuid())).toMatchObject({ over: null });
});

/** Call as a channel stores it. */
const openOf = (phone: CallClient, call: string) => {
  const answeredEvent = phone.received.find(
    ({ event_type, data }) => event_type === "answered" && data.call_id === call,
  );
  if (!answeredEvent) throw new Error("it was never answered");
  return answeredEvent.data;
};

test("a ring whose end was never notified is not shown to later devices, and is corrected", async () => {
  const { ben, id, bens, call } = await makeRingingCall();
  const dead = await Device.attach(ben);
  expect(dead.readCalls(await dead.hello())).toHaveLength(1);
  advanceClock(callRingMs);
  const late = await Device.attach(ben);
  expect(late.readCalls(await late.hello())).toEqual([]);
  expect((await request(ben, { type: "changes", since: 0 })).calls).toEqual([]);
  // Neither the alarm nor a notice has arrived: the channel asks.
  expect(bens.listEvents(call)).toEqual(["ring"]);
  advanceClock(callServerWaitMs);
  await late.request((ref) => ["c", ref, 0, null]);
  await bens.waitForEvent(call, "missed");
  expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
});

test("a device that connects while a busy call is being refused does not ring", async () => {
  const { ben, call } = await makeRingingCall();
  const cleo = await makeContact(ben);
  const other = createUuid();
  const standing = Conversation.prototype.getCallState;
  let go = (): void => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  vi.spyOn(Conversation.prototype, "getCallState").mockImplementation(async function (this: Conversation, ...args) {
    await held;
    return standing.apply(this, args);
  });
  await cleo.phone.dial(other);
  await waitUntil(async () => {
    const late = await Device.attach(ben);
    const calls = late.readCalls(await late.hello());
    expect(calls.map(({ call_id }) => call_id)).toEqual([call]);
    return runInDurableObject(
      channelStub(ben.id),
      (_, { storage }) => storage.sql.exec("SELECT 1 FROM calls WHERE call IS NOT NULL").toArray().length === 2,
    );
  });
  go();
  await cleo.phone.waitForEvent(other, "missed");
});
