import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callConnectMs, callRingMs } from "#contract/limits/calls.ts";
import {
  CallClient,
  findAlarmTime,
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeRingingCall,
  makeUnansweredEntry,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Calls from the first ring to their entry, reported to every device of both people. */

afterEach(() => {
  vi.restoreAllMocks();
});

test("a call rings on every device of the callee, and the caller's other devices are notified", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  const [anasTablet, bensTablet] = [await CallClient.open(ana, id), await CallClient.open(ben, id)];
  const call = createUuid();
  const before = Date.now();
  const { call: made, over, now = 0 } = await anas.dial(call, "video");
  const expected = { call_id: call, type: "video", conversation: id, from: ana.id, to: ben.id, answered_at: null };
  expect(made).toMatchObject({ ...expected, from_device: anas.id, to_device: null });
  expect(over).toBe(null);
  expect(now).toBeGreaterThanOrEqual(before);
  for (const phone of [anasTablet, bens, bensTablet]) {
    expect((await phone.waitForEvent(call, "ring")).data).toEqual(made);
  }
  expect(await findAlarmTime(id)).not.toBe(null);
  await runAlarm(id);
  // Once everybody has confirmed the ring, the next alarm is its timeout.
  await waitUntil(async () => (await findAlarmTime(id)) === (made?.created_at ?? 0) + callRingMs);
  for (const phone of [anas, anasTablet, bens, bensTablet]) expect(phone.listEvents(call)).toEqual(["ring"]);
});

test("one device answers, the callee's others stop ringing, and all devices of both know who is connected", async () => {
  const { ana, ben, id, anas, bens, call } = await makeRingingCall();
  const [anasTablet, bensTablet] = [await CallClient.open(ana, id), await CallClient.open(ben, id)];
  const answers = await Promise.all([bens.answer(call), bensTablet.answer(call)]);
  expect(answers.filter(({ error }) => error === "answered_elsewhere")).toHaveLength(1);
  const [first] = answers[0].error ? [bensTablet, bens] : [bens, bensTablet];
  for (const phone of [anas, anasTablet, bens, bensTablet]) {
    const { data } = await phone.waitForEvent(call, "answered");
    expect(data).toMatchObject({ from_device: anas.id, to_device: first.id, answered_at: expect.any(Number) });
  }
  // A repeated answer gives the same result and notifies nobody again.
  expect(await first.answer(call)).toMatchObject({ call: { to_device: first.id }, over: null });
  await runAlarm(id);
  for (const phone of [anas, bens]) expect(phone.listEvents(call)).toEqual(["ring", "answered"]);
  expect(await anasTablet.hangUp(call, "ended")).toEqual({ error: "answered_elsewhere" });
  expect(await readCallEntries(ana, id)).toEqual([]);
});

test.each([
  { who: "anas", claim: "missed", is: "missed", unread: 1, rest: {} },
  { who: "anas", claim: "rejected", is: "missed", unread: 1, rest: {} },
  { who: "bens", claim: "rejected", is: "rejected", unread: 0, rest: {} },
  { who: "bens", claim: "missed", is: "missed", unread: 1, rest: { reason: "unanswered" } },
] as const)("a ringing call that is ended by $who as $claim is $is", async ({ who, claim, is, unread, rest }) => {
  const { ana, ben, id, call, ...phones } = await makeRingingCall();
  const entry = makeCallEntry(call, is, rest);
  expect(await phones[who].hangUp(call, claim)).toMatchObject({ over: entry });
  for (const phone of [phones.anas, phones.bens]) {
    expect((await phone.waitForEvent(call, is)).data).toEqual({ call_id: call, conversation: id, seconds: 0, ...rest });
  }
  await waitUntil(async () => (await readRow(ben, id)).head === 1 && (await readRow(ana, id)).head === 1);
  const caller = ana.id < ben.id ? 0 : 1;
  expect(await readLog(ana, id)).toMatchObject([{ seq: 1, sender: caller, cid: call, body: entry }]);
  const [seen] = await readLog(ben, id);
  expect(seen).toMatchObject({ seq: 1, sender: caller, body: entry });
  expect(seen).not.toHaveProperty("cid");
  expect(await readRow(ana, id)).toMatchObject({ unread: 0, sender: caller, preview: entry });
  expect(await readRow(ben, id)).toMatchObject({ unread, sender: caller, preview: entry });
  // A recount gives the same result.
  expect(await request(ben, { type: "mark", conversation: id, delivered: 0, read: 0 })).toMatchObject({ unread });
  expect(await request(ana, { type: "mark", conversation: id, delivered: 0, read: 0 })).toMatchObject({ unread: 0 });
});

test.each([
  { who: "anas", claim: "ended", is: "ended" },
  { who: "bens", claim: "missed", is: "ended" },
  { who: "bens", claim: "cancelled", is: "ended" },
] as const)("an answered call that is ended by $who as $claim is $is", async ({ who, claim, is }) => {
  const { ana, ben, id, call, ...phones } = await makeAnsweredCall();
  advanceClock(40_000);
  expect(await phones.anas.heartbeat(call)).toEqual({ passed: true });
  advanceClock(25_000);
  const seconds = 65;
  expect(await phones[who].hangUp(call, claim)).toMatchObject({ over: makeCallEntry(call, is, { seconds }) });
  for (const phone of [phones.anas, phones.bens]) {
    expect((await phone.waitForEvent(call, is)).data).toEqual({ call_id: call, conversation: id, seconds });
  }
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  for (const person of [ana, ben]) {
    expect((await readCallEntries(person, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, is, { seconds })]);
  }
  expect(await readRow(ben, id)).toMatchObject({ unread: 0, preview: { status: is } });
});

test("a call without any media is cancelled, with a duration of zero", async () => {
  const { ana, ben, id, anas, bens, call } = await makeAnsweredCall();
  advanceClock(callConnectMs + 1_000);
  expect(await bens.hangUp(call, "cancelled", "failed")).toMatchObject({
    over: makeCallEntry(call, "cancelled", { reason: "failed" }),
  });
  const expectedResult = { call_id: call, conversation: id, seconds: 0, reason: "failed" };
  for (const phone of [anas, bens]) expect((await phone.waitForEvent(call, "cancelled")).data).toEqual(expectedResult);
  for (const person of [ana, ben])
    expect((await readCallEntries(person, id)).map(({ body }) => body)).toEqual([
      makeCallEntry(call, "cancelled", { reason: "failed" }),
    ]);
});

test("an unanswered call is missed after thirty seconds, not before, and without a request", async () => {
  const { ana, ben, id, anas, bens, call } = await makeRingingCall();
  advanceClock(callRingMs - 500);
  await runAlarm(id);
  expect(await bens.request({ type: "standing", call })).toMatchObject({ over: null });
  advanceClock(500);
  await runAlarm(id);
  for (const phone of [anas, bens])
    expect((await phone.waitForEvent(call, "missed")).data).toEqual({
      call_id: call,
      conversation: id,
      seconds: 0,
      reason: "unanswered",
    });
  expect((await readCallEntries(ana, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
  await waitUntil(async () => (await readRow(ben, id)).unread === 1);
  expect(await bens.answer(call)).toEqual({ error: "call_not_found" });
  await runAlarm(id);
  expect(await readCallEntries(ben, id)).toHaveLength(1);
});

test("a device that connects after thirty seconds sees it as missed, though the alarm is late", async () => {
  const { ben, id, bens, call } = await makeRingingCall();
  advanceClock(callRingMs);
  expect(await bens.answer(call)).toEqual({ error: "call_not_found" });
  expect(await bens.waitForEvent(call, "missed")).toBeTruthy();
  expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
});

test("repeated dialling, answering and ending has the same result, and notifies once", async () => {
  const { ana, id, anas, bens } = await makeCallers();
  const call = createUuid();
  const bothHear = (event: "ring" | "answered" | "ended") =>
    Promise.all([anas, bens].map((phone) => phone.waitForEvent(call, event)));
  const made = await anas.dial(call);
  expect((await anas.dial(call)).call).toEqual(made.call);
  expect(await anas.dial(createUuid())).toEqual({ error: "call_in_progress" });
  await bothHear("ring");
  const answered = await bens.answer(call);
  expect((await bens.answer(call)).call).toEqual(answered.call);
  expect((await anas.dial(call)).call).toEqual(answered.call);
  await bothHear("answered");
  const ended = await bens.hangUp(call, "ended");
  expect(ended.over).toMatchObject({ status: "ended" });
  for (const phone of [anas, bens]) expect((await phone.hangUp(call, "cancelled")).over).toEqual(ended.over);
  expect((await anas.dial(call)).over).toEqual(ended.over);
  expect((await anas.request({ type: "standing", call })).over).toEqual(ended.over);
  await bothHear("ended");
  await runAlarm(id);
  for (const phone of [anas, bens]) expect(phone.listEvents(call)).toEqual(["ring", "answered", "ended"]);
  expect(await readCallEntries(ana, id)).toHaveLength(1);
  // Once another call followed, the old one cannot be created again.
  const later = createUuid();
  await bens.dial(later);
  await bens.hangUp(later, "missed");
  expect(await anas.dial(call)).toEqual({ error: "call_not_found" });
  expect(await readCallEntries(ana, id)).toHaveLength(2);
});

test("two people who call each other at once are connected in one call with one entry", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  advanceClock(0); // however long the machine takes, they talk for zero seconds
  const bensTablet = await CallClient.open(ben, id);
  const [anasCall, bensCall] = [createUuid(), createUuid()];
  const [one, other] = await Promise.all([anas.dial(anasCall), bens.dial(bensCall)]);
  const made = [one, other].find(({ call }) => call?.answered_at !== null)?.call;
  if (!made) throw new Error("nobody talks");
  expect([anasCall, bensCall]).toContain(made.call_id);
  const [from, to] = made.call_id === anasCall ? [anas, bens] : [bens, anas];
  expect(made).toMatchObject({ from_device: from.id, to_device: to.id });
  for (const phone of [anas, bens, bensTablet]) await phone.waitForEvent(made.call_id, "answered");
  // A side that did not end the call repeats its request and gets the same result.
  expect((await to.dial(to === bens ? bensCall : anasCall)).call).toEqual(made);
  await bens.hangUp(made.call_id, "ended");
  await anas.waitForEvent(made.call_id, "ended");
  for (const person of [ana, ben]) {
    expect((await readCallEntries(person, id)).map(({ body }) => body)).toEqual([makeCallEntry(made.call_id, "ended")]);
  }
  expect(anas.received.map(({ data }) => data.call_id)).toEqual(anas.received.map(() => made.call_id));
});

test("a call entry cannot be deleted for everyone or forwarded, and a search does not find it", async () => {
  const { ana, ben, id, anas, call } = await makeRingingCall();
  await anas.hangUp(call, "missed");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  for (const person of [ana, ben]) {
    expect(await request(person, { type: "deleteForEveryone", conversation: id, seq: 1 })).toEqual({
      error: "not_your_message",
    });
    expect(await getConversationStub(env, id).findOriginal(person.id, 1)).toEqual({ error: "message_not_found" });
  }
  expect((await request(ana, { type: "search", conversation: id, query: "missed", before: 9 })).messages).toEqual([]);
  expect(await readCallEntries(ana, id)).toHaveLength(1);
});

test("a connecting device receives the open call by either transport, and no ended call", async () => {
  const { ana, ben, id, anas, bens, call } = await makeRingingCall();
  const late = await Device.attach(ben);
  expect(late.readCalls(await late.hello())).toMatchObject([{ call_id: call, answered_at: null, from: ana.id }]);
  await bens.answer(call);
  const again = await late.request((ref) => ["c", ref, 0, null]);
  if (again[0] !== "c") throw new Error("not answered");
  expect(late.readCalls(again)).toMatchObject([{ call_id: call, answered_at: expect.any(Number) }]);
  expect((await request(ana, { type: "changes", since: 0 })).calls).toMatchObject([{ call_id: call }]);
  await anas.hangUp(call, "ended");
  await bens.waitForEvent(call, "ended");
  for (const person of [ana, ben]) {
    await waitUntil(async () => (await readRow(person, id)).head === 1); // also notified of its entry
    const device = await Device.attach(person);
    const frames = device.frames.length;
    expect(device.readCalls(await device.hello())).toEqual([]);
    await device.waitForPong();
    expect(device.frames.slice(frames + 1)).toEqual([]);
  }
});

test("a call rings in a deleted or unknown conversation, which is listed again after the call", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  await sendTexts(ana, id, "avant");
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  await request(ben, { type: "clearHistory", conversation: id, upTo: 1, keep: false });
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  await anas.hangUp(call, "missed");
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1, hidden: 1, preview: { type: "call" } });
  expect((await readLog(ben, id)).map(({ seq }) => seq)).toEqual([2]);
});

test("a call cancelled before the server knew it does not ring when it arrives late", async () => {
  const { id, anas, bens } = await makeCallers();
  const call = createUuid();
  expect(await anas.hangUp(call, "missed")).toEqual({ error: "call_not_found" });
  expect(await anas.dial(call)).toEqual({ error: "call_not_found" });
  // Sends both at once, as a hurried device does: the end waits for the start.
  const [other, device] = [createUuid(), anas.id];
  anas.device.send(["j", 901, id, { type: "dial", call: other, kind: "audio", device }]);
  anas.device.send(["j", 902, id, { type: "hangUp", call: other, device, status: "missed" }]);
  await bens.waitForEvent(other, "missed");
  await waitUntil(() =>
    anas.device.frames.some((frame) => Array.isArray(frame) && frame[0] === "j" && frame[1] === 902),
  );
  expect(bens.listEvents(call)).toEqual([]);
  expect(await readCallEntries(bens.person, id)).toHaveLength(1);
});
