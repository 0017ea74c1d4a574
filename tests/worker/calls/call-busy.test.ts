import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { callRingMs, callServerWaitMs } from "#contract/limits.ts";
import { pass } from "#tests/worker/support/clock.ts";
import { Device, request, rowOf, until } from "#tests/worker/support/device.ts";
import {
  alarm,
  channelStub,
  line,
  linesOf,
  newCallers,
  newContact,
  newRing,
  newTalk,
  Phone,
} from "#tests/worker/support/phone.ts";
import { Conversation } from "#worker/objects/conversation.ts";

/** A person who is in a call, calls, or is being called is busy for everybody else, but never forever. */

afterEach(() => {
  vi.restoreAllMocks();
});

/** The caller gets "busy", the called person a missed-call entry, and nothing rings. */
const expectBusy = async (caller: Phone, called: Phone, conversation: ConversationId, call: string) => {
  expect((await caller.hears(call, "missed")).data).toEqual({
    call_id: call,
    conversation,
    seconds: 0,
    reason: "busy",
  });
  await called.hears(call, "missed");
  expect(called.heard(call)).toEqual(["missed"]);
  await until(async () => (await rowOf(called.person, conversation)).unread === 1);
  for (const { person } of [caller, called]) {
    expect((await linesOf(person, conversation)).map(({ body }) => body)).toEqual([
      line(call, "missed", { reason: "busy" }),
    ]);
  }
};

test.each(["rung", "talks", "calls"] as const)("somebody who %s is busy for a third person", async (state) => {
  const { ana, ben, anas, bens, call } = await (state === "talks" ? newTalk() : newRing());
  const [busy, phone] = state === "calls" ? [ana, anas] : [ben, bens];
  const cleo = await newContact(busy);
  const other = createUuid();
  expect(await cleo.phone.dial(other)).toMatchObject({ over: null });
  await expectBusy(cleo.phone, phone, cleo.id, other);
  // The call that made them busy continues, and after it they can be called.
  expect(await phone.ask({ type: "standing", call })).toMatchObject({ over: null });
  await anas.hangUp(call, "ended");
  await until(() => phone.told.at(-1)?.data.call_id === call);
  const again = createUuid();
  await cleo.phone.dial(again);
  await phone.hears(again, "ring");
});

test("of two who ring somebody at once one rings, and the other hears that it is busy", async () => {
  const { ana, bens, ben, id } = await newCallers();
  const anas = await Phone.of(ana, id);
  const cleo = await newContact(ben);
  const [anasCall, cleosCall] = [createUuid(), createUuid()];
  await Promise.all([anas.dial(anasCall), cleo.phone.dial(cleosCall)]);
  await until(() => [anasCall, cleosCall].some((one) => bens.heard(one).includes("missed")));
  const isAnas = bens.heard(anasCall).includes("ring");
  expect(bens.heard(isAnas ? anasCall : cleosCall)).toEqual(["ring"]);
  if (isAnas) await expectBusy(cleo.phone, bens, cleo.id, cleosCall);
  else await expectBusy(anas, bens, id, anasCall);
});

test("who calls somebody else while being rung is busy from then on for the one who rang", async () => {
  const { anas, bens, ben, call } = await newRing();
  const cleo = await newContact(ben);
  const other = createUuid();
  expect(await bens.dial(other, "audio", cleo.id)).toMatchObject({ over: null });
  await cleo.phone.hears(other, "ring");
  expect((await anas.hears(call, "missed")).data).toMatchObject({ reason: "busy" });
  await bens.hears(call, "missed");
  expect(cleo.phone.heard(other)).toEqual(["ring"]);
});

test("whoever is in a call, or calls, calls nobody else, from any device", async () => {
  const { ana, anas, bens, call } = await newTalk();
  const cleo = await newContact(ana);
  const tablet = await Phone.of(ana, cleo.id);
  for (const state of ["talks", "calls"]) {
    for (const phone of [anas, tablet]) {
      expect(await phone.dial(createUuid(), "audio", cleo.id), state).toEqual({ error: "call_in_progress" });
    }
    if (state === "talks") {
      await anas.hangUp(call, "ended");
      await bens.hears(call, "ended");
      await anas.dial(createUuid());
    }
  }
  expect(await linesOf(cleo.person, cleo.id)).toEqual([]);
});

test("of two devices of one person who call two others at the same moment, one does", async () => {
  const { ana, id, anas } = await newCallers();
  const cleo = await newContact(ana);
  const tablet = await Phone.of(ana, cleo.id);
  for (let round = 0; round < 5; round++) {
    const [one, other] = [createUuid(), createUuid()];
    const outcomes = await Promise.all([anas.dial(one), tablet.dial(other)]);
    expect(outcomes.filter(({ error }) => error === "call_in_progress")).toHaveLength(1);
    if (outcomes[0].error) await tablet.hangUp(other, "missed");
    else await anas.hangUp(one, "missed");
  }
  expect((await linesOf(ana, id)).length + (await linesOf(ana, cleo.id)).length).toBe(5);
});

test("somebody who cannot be asked stays busy; the end of a call that was never told makes nobody busy for ever", async () => {
  const { ana, ben, id, anas, bens, call } = await newTalk();
  // The notice of its end is lost for good.
  await anas.hangUp(call, "ended");
  await bens.hears(call, "ended");
  await alarm(id);
  for (const { id: user } of [ana, ben]) {
    await runInDurableObject(channelStub(user), (_, { storage }) =>
      storage.sql.exec("UPDATE calls SET call = ? WHERE conversation = ?", JSON.stringify(openOf(bens, call)), id),
    );
    // The object's in-memory state of it is gone with the instance.
    await runInDurableObject(channelStub(user), (_, state) => state.abort("as if the machine had died")).catch(
      () => {},
    );
  }
  const cleo = await newContact(ben);
  const other = createUuid();
  const bensNew = await Phone.of(ben, id);
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  const away = vi.spyOn(Conversation.prototype, "getCallState").mockRejectedValue(new Error("away"));
  await cleo.phone.dial(other);
  await cleo.phone.hears(other, "missed");
  away.mockRestore();
  const again = createUuid();
  await cleo.phone.dial(again);
  await bensNew.hears(again, "ring");
  expect(bensNew.heard(call)).toEqual(["ended"]);
  await cleo.phone.hangUp(again, "missed");
  // The other side can call as well, because its conversation reports that the call ended.
  const dora = await newContact(ana);
  const anasNew = await Phone.of(ana, dora.id);
  expect(await anasNew.dial(createUuid())).toMatchObject({ over: null });
});

/** Call as a channel stores it. */
const openOf = (phone: Phone, call: string) => {
  const told = phone.told.find(({ event_type, data }) => event_type === "answered" && data.call_id === call);
  if (!told) throw new Error("it was never answered");
  return told.data;
};

test("a ring whose end was never told is shown to no device that comes later, and is found out", async () => {
  const { ben, id, bens, call } = await newRing();
  const dead = await Device.attach(ben);
  expect(dead.callsOf(await dead.hello())).toHaveLength(1);
  pass(callRingMs);
  const late = await Device.attach(ben);
  expect(late.callsOf(await late.hello())).toEqual([]);
  expect((await request(ben, { type: "changes", since: 0 })).calls).toEqual([]);
  // Neither the alarm nor a notice has arrived: the channel asks.
  expect(bens.heard(call)).toEqual(["ring"]);
  pass(callServerWaitMs);
  await late.ask((ref) => ["c", ref, 0, null]);
  await bens.hears(call, "missed");
  expect((await linesOf(ben, id)).map(({ body }) => body)).toEqual([line(call, "missed")]);
});

test("a device that comes while somebody is being told that it is busy does not ring", async () => {
  const { ben, call } = await newRing();
  const cleo = await newContact(ben);
  const other = createUuid();
  const standing = Conversation.prototype.getCallState;
  let go = (): void => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  vi.spyOn(Conversation.prototype, "getCallState").mockImplementation(async function (this: Conversation, ...args) {
    await held;
    return standing.apply(this, args);
  });
  await cleo.phone.dial(other);
  await until(async () => {
    const late = await Device.attach(ben);
    const calls = late.callsOf(await late.hello());
    expect(calls.map(({ call_id }) => call_id)).toEqual([call]);
    return runInDurableObject(
      channelStub(ben.id),
      (_, { storage }) => storage.sql.exec("SELECT 1 FROM calls WHERE call IS NOT NULL").toArray().length === 2,
    );
  });
  go();
  await cleo.phone.hears(other, "missed");
});
