import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callConnectMs, callRingMs } from "#contract/limits.ts";
import { pass } from "#tests/worker/support/clock.ts";
import { Device, post, readLog, request, rowOf, until } from "#tests/worker/support/device.ts";
import { alarm, alarmAtOf, line, linesOf, newCallers, newRing, newTalk, Phone } from "#tests/worker/support/phone.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Calls from the first ring to their entry, reported to every device of both people. */

afterEach(() => {
  vi.restoreAllMocks();
});

test("a call rings on every device of the one called, and the caller's other devices know of it", async () => {
  const { ana, ben, id, anas, bens } = await newCallers();
  const [anasTablet, bensTablet] = [await Phone.of(ana, id), await Phone.of(ben, id)];
  const call = createUuid();
  const before = Date.now();
  const { call: made, over, now = 0 } = await anas.dial(call, "video");
  const expected = { call_id: call, type: "video", conversation: id, from: ana.id, to: ben.id, answered_at: null };
  expect(made).toMatchObject({ ...expected, from_device: anas.id, to_device: null });
  expect(over).toBe(null);
  expect(now).toBeGreaterThanOrEqual(before);
  for (const phone of [anasTablet, bens, bensTablet]) {
    expect((await phone.hears(call, "ring")).data).toEqual(made);
  }
  expect(await alarmAtOf(id)).not.toBe(null);
  await alarm(id);
  // Once everybody has confirmed the ring, the next alarm is its timeout.
  await until(async () => (await alarmAtOf(id)) === (made?.created_at ?? 0) + callRingMs);
  for (const phone of [anas, anasTablet, bens, bensTablet]) expect(phone.heard(call)).toEqual(["ring"]);
});

test("one device answers, the other hears that it was answered elsewhere, and all devices of both who talks", async () => {
  const { ana, ben, id, anas, bens, call } = await newRing();
  const [anasTablet, bensTablet] = [await Phone.of(ana, id), await Phone.of(ben, id)];
  const answers = await Promise.all([bens.answer(call), bensTablet.answer(call)]);
  expect(answers.filter(({ error }) => error === "answered_elsewhere")).toHaveLength(1);
  const [first] = answers[0].error ? [bensTablet, bens] : [bens, bensTablet];
  for (const phone of [anas, anasTablet, bens, bensTablet]) {
    const { data } = await phone.hears(call, "answered");
    expect(data).toMatchObject({ from_device: anas.id, to_device: first.id, answered_at: expect.any(Number) });
  }
  // A repeated answer gives the same result and notifies nobody again.
  expect(await first.answer(call)).toMatchObject({ call: { to_device: first.id }, over: null });
  await alarm(id);
  for (const phone of [anas, bens]) expect(phone.heard(call)).toEqual(["ring", "answered"]);
  expect(await anasTablet.hangUp(call, "ended")).toEqual({ error: "answered_elsewhere" });
  expect(await linesOf(ana, id)).toEqual([]);
});

test.each([
  { who: "anas", claim: "missed", is: "missed", unread: 1 },
  { who: "anas", claim: "rejected", is: "missed", unread: 1 },
  { who: "bens", claim: "rejected", is: "rejected", unread: 0 },
  { who: "bens", claim: "missed", is: "missed", unread: 1 },
] as const)("a call that rings and is ended by $who as $claim is $is", async ({ who, claim, is, unread }) => {
  const { ana, ben, id, call, ...phones } = await newRing();
  const ended = await phones[who].hangUp(call, claim);
  expect(ended).toMatchObject({ over: line(call, is) });
  for (const phone of [phones.anas, phones.bens]) {
    expect((await phone.hears(call, is)).data).toEqual({ call_id: call, conversation: id, seconds: 0 });
  }
  await until(async () => (await rowOf(ben, id)).head === 1 && (await rowOf(ana, id)).head === 1);
  const caller = ana.id < ben.id ? 0 : 1;
  expect(await readLog(ana, id)).toMatchObject([{ seq: 1, sender: caller, cid: call, body: line(call, is) }]);
  const [seen] = await readLog(ben, id);
  expect(seen).toMatchObject({ seq: 1, sender: caller, body: line(call, is) });
  expect(seen).not.toHaveProperty("cid");
  expect(await rowOf(ana, id)).toMatchObject({ unread: 0, sender: caller, preview: line(call, is) });
  expect(await rowOf(ben, id)).toMatchObject({ unread, sender: caller, preview: line(call, is) });
  // A recount gives the same result.
  expect(await request(ben, { type: "mark", conversation: id, delivered: 0, read: 0 })).toMatchObject({ unread });
  expect(await request(ana, { type: "mark", conversation: id, delivered: 0, read: 0 })).toMatchObject({ unread: 0 });
});

test.each([
  { who: "anas", claim: "ended", is: "ended" },
  { who: "bens", claim: "missed", is: "ended" },
  { who: "bens", claim: "cancelled", is: "ended" },
] as const)("a call that was answered and is ended by $who as $claim is $is", async ({ who, claim, is }) => {
  const { ana, ben, id, call, ...phones } = await newTalk();
  pass(40_000);
  expect(await phones.anas.beat(call)).toEqual({ passed: true });
  pass(25_000);
  const seconds = 65;
  expect(await phones[who].hangUp(call, claim)).toMatchObject({ over: line(call, is, { seconds }) });
  for (const phone of [phones.anas, phones.bens]) {
    expect((await phone.hears(call, is)).data).toEqual({ call_id: call, conversation: id, seconds });
  }
  await until(async () => (await rowOf(ben, id)).head === 1);
  for (const person of [ana, ben]) {
    expect((await linesOf(person, id)).map(({ body }) => body)).toEqual([line(call, is, { seconds })]);
  }
  expect(await rowOf(ben, id)).toMatchObject({ unread: 0, preview: { status: is } });
});

test("a call in which nothing was heard is cancelled, and had no seconds", async () => {
  const { ana, ben, id, anas, bens, call } = await newTalk();
  pass(callConnectMs + 1_000);
  expect(await bens.hangUp(call, "cancelled", "failed")).toMatchObject({
    over: line(call, "cancelled", { reason: "failed" }),
  });
  const told = { call_id: call, conversation: id, seconds: 0, reason: "failed" };
  for (const phone of [anas, bens]) expect((await phone.hears(call, "cancelled")).data).toEqual(told);
  for (const person of [ana, ben])
    expect((await linesOf(person, id)).map(({ body }) => body)).toEqual([
      line(call, "cancelled", { reason: "failed" }),
    ]);
});

test("a call nobody answers is missed after thirty seconds, not before, and by itself", async () => {
  const { ana, ben, id, anas, bens, call } = await newRing();
  pass(callRingMs - 500);
  await alarm(id);
  expect(await bens.ask({ type: "standing", call })).toMatchObject({ over: null });
  pass(500);
  await alarm(id);
  for (const phone of [anas, bens])
    expect((await phone.hears(call, "missed")).data).toEqual({ call_id: call, conversation: id, seconds: 0 });
  expect((await linesOf(ana, id)).map(({ body }) => body)).toEqual([line(call, "missed")]);
  await until(async () => (await rowOf(ben, id)).unread === 1);
  expect(await bens.answer(call)).toEqual({ error: "call_not_found" });
  await alarm(id);
  expect(await linesOf(ben, id)).toHaveLength(1);
});

test("whoever comes after the thirty seconds finds it missed, though the alarm is late", async () => {
  const { ben, id, bens, call } = await newRing();
  pass(callRingMs);
  expect(await bens.answer(call)).toEqual({ error: "call_not_found" });
  expect(await bens.hears(call, "missed")).toBeTruthy();
  expect((await linesOf(ben, id)).map(({ body }) => body)).toEqual([line(call, "missed")]);
});

test("dialling, answering and ending again is the same again, and is told once", async () => {
  const { ana, id, anas, bens } = await newCallers();
  const call = createUuid();
  const bothHear = (event: "ring" | "answered" | "ended") =>
    Promise.all([anas, bens].map((phone) => phone.hears(call, event)));
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
  expect((await anas.ask({ type: "standing", call })).over).toEqual(ended.over);
  await bothHear("ended");
  await alarm(id);
  for (const phone of [anas, bens]) expect(phone.heard(call)).toEqual(["ring", "answered", "ended"]);
  expect(await linesOf(ana, id)).toHaveLength(1);
  // Once another call followed, the old one cannot be created again.
  const later = createUuid();
  await bens.dial(later);
  await bens.hangUp(later, "missed");
  expect(await anas.dial(call)).toEqual({ error: "call_not_found" });
  expect(await linesOf(ana, id)).toHaveLength(2);
});

test("two who call each other at once talk in one call, which leaves one line", async () => {
  const { ana, ben, id, anas, bens } = await newCallers();
  pass(0); // however long the machine takes, they talk for zero seconds
  const bensTablet = await Phone.of(ben, id);
  const [anasCall, bensCall] = [createUuid(), createUuid()];
  const [one, other] = await Promise.all([anas.dial(anasCall), bens.dial(bensCall)]);
  const made = [one, other].find(({ call }) => call?.answered_at !== null)?.call;
  if (!made) throw new Error("nobody talks");
  expect([anasCall, bensCall]).toContain(made.call_id);
  const [from, to] = made.call_id === anasCall ? [anas, bens] : [bens, anas];
  expect(made).toMatchObject({ from_device: from.id, to_device: to.id });
  for (const phone of [anas, bens, bensTablet]) await phone.hears(made.call_id, "answered");
  // A side that did not end the call repeats its request and gets the same result.
  expect((await to.dial(to === bens ? bensCall : anasCall)).call).toEqual(made);
  await bens.hangUp(made.call_id, "ended");
  await anas.hears(made.call_id, "ended");
  for (const person of [ana, ben]) {
    expect((await linesOf(person, id)).map(({ body }) => body)).toEqual([line(made.call_id, "ended")]);
  }
  expect(anas.told.map(({ data }) => data.call_id)).toEqual(anas.told.map(() => made.call_id));
});

test("the line of a call is neither deleted for all nor passed on, nor found by its words", async () => {
  const { ana, ben, id, anas, call } = await newRing();
  await anas.hangUp(call, "missed");
  await until(async () => (await rowOf(ben, id)).head === 1);
  for (const person of [ana, ben]) {
    expect(await request(person, { type: "retract", conversation: id, seq: 1 })).toEqual({ error: "not_your_message" });
    expect(await getConversationStub(env, id).findOriginal(id, person.id, 1)).toEqual({ error: "message_not_found" });
  }
  expect((await request(ana, { type: "search", conversation: id, query: "missed", before: 9 })).messages).toEqual([]);
  expect(await linesOf(ana, id)).toHaveLength(1);
});

test("a device that comes hears of the call under way by either carrier, and of none that is over", async () => {
  const { ana, ben, id, anas, bens, call } = await newRing();
  const late = await Device.attach(ben);
  expect(late.callsOf(await late.hello())).toMatchObject([{ call_id: call, answered_at: null, from: ana.id }]);
  await bens.answer(call);
  const again = await late.ask((ref) => ["c", ref, 0, null]);
  if (again[0] !== "c") throw new Error("not answered");
  expect(late.callsOf(again)).toMatchObject([{ call_id: call, answered_at: expect.any(Number) }]);
  expect((await request(ana, { type: "changes", since: 0 })).calls).toMatchObject([{ call_id: call }]);
  await anas.hangUp(call, "ended");
  await bens.hears(call, "ended");
  for (const person of [ana, ben]) {
    await until(async () => (await rowOf(person, id)).head === 1); // also notified of its entry
    const device = await Device.attach(person);
    const frames = device.frames.length;
    expect(device.callsOf(await device.hello())).toEqual([]);
    await device.pong();
    expect(device.frames.slice(frames + 1)).toEqual([]);
  }
});

test("a conversation that was deleted, or never seen, rings, and is listed again when the call is over", async () => {
  const { ana, ben, id, anas, bens } = await newCallers();
  await post(ana, id, "avant");
  await until(async () => (await rowOf(ben, id)).head === 1);
  await request(ben, { type: "hide", conversation: id, upTo: 1, keep: false });
  const call = createUuid();
  await anas.dial(call);
  await bens.hears(call, "ring");
  await anas.hangUp(call, "missed");
  await until(async () => (await rowOf(ben, id)).head === 2);
  expect(await rowOf(ben, id)).toMatchObject({ unread: 1, hidden: 1, preview: { type: "call" } });
  expect((await readLog(ben, id)).map(({ seq }) => seq)).toEqual([2]);
});

test("a call that is given up before it is known does not ring when it comes late", async () => {
  const { id, anas, bens } = await newCallers();
  const call = createUuid();
  expect(await anas.hangUp(call, "missed")).toEqual({ error: "call_not_found" });
  expect(await anas.dial(call)).toEqual({ error: "call_not_found" });
  // Sends both at once, as a hurried device does: the end waits for the start.
  const [other, device] = [createUuid(), anas.id];
  anas.link.send(["j", 901, id, { type: "dial", call: other, kind: "audio", device }]);
  anas.link.send(["j", 902, id, { type: "hangUp", call: other, device, status: "missed" }]);
  await bens.hears(other, "missed");
  await until(() => anas.link.frames.some((frame) => Array.isArray(frame) && frame[0] === "j" && frame[1] === 902));
  expect(bens.heard(call)).toEqual([]);
  expect(await linesOf(bens.person, id)).toHaveLength(1);
});
