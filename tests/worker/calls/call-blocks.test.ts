import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { callRingMs } from "#contract/limits/calls.ts";
import type { Person } from "#tests/support/people/people.ts";
import {
  type CallClient,
  evictConversation,
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeRingingCall,
  makeUnansweredEntry,
  type Outcome,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call as callApi } from "#tests/worker/support/site.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/**
 * Calls and blocks: the blocking person gets no calls of the blocked one, and the blocked person does not notice the
 * block.
 */

const block = async (by: Person, other: Person, isBlocked = true) => {
  const { status } = await callApi(isBlocked ? "PUT" : "DELETE", `/api/blocks/${other.id}`, { token: by.token });
  if (status >= 300) throw new Error(`not blocked: ${status}`);
  await waitUntil(async () => {
    const { people } = await request(by, { type: "changes", since: 0 });
    return people.find(({ profile }) => profile.id === other.id)?.blocked === isBlocked;
  });
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** Received frames without the parts that differ between any two calls. */
const shapeOf = (phone: CallClient, names: readonly Uuid[]) =>
  phone.device.raw
    .filter((raw) => !raw.startsWith("."))
    .map((raw) => names.reduce((text, name) => text.replaceAll(name, "id"), raw).replace(/-?\d{4,}/g, "n"))
    .map((raw) => (raw.startsWith('["m"') || raw.startsWith('["w"') ? raw.slice(0, 4) : raw));

test("calling somebody who blocks the caller is answered step by step as if nobody were there", async () => {
  const play = async (isBlocked: boolean) => {
    const { ana, ben, id, anas, bens } = await makeCallers();
    const tablet = await Device.open(ben);
    if (isBlocked) await block(ana, ben);
    // Without a block Ana is away; with a block she is online and visible.
    if (!isBlocked) anas.device.close();
    const call = createUuid();
    const outcomes: Outcome[] = [await bens.dial(call), await bens.dial(call)];
    outcomes.push(await bens.signal(call, "offre"), await bens.heartbeat(call));
    if (isBlocked) {
      const late = await Device.attach(ana);
      expect(late.readCalls(await late.hello())).toEqual([]);
      expect((await request(ana, { type: "changes", since: 0 })).calls).toEqual([]);
      for (const asked of [
        { type: "standing", call },
        { type: "beat", call },
        { type: "answer", call, device: anas.id },
        { type: "hangUp", call, device: anas.id, status: "rejected" },
      ] as const) {
        expect(await anas.request(asked), asked.type).toEqual({ error: "call_not_found" });
      }
      expect(await anas.dial(createUuid())).toEqual({ error: "contact_blocked" });
    }
    outcomes.push(await bens.request({ type: "standing", call }));
    await runAlarm(id);
    advanceClock(callRingMs);
    await runAlarm(id);
    await bens.waitForEvent(call, "missed");
    outcomes.push(await bens.dial(call), await bens.hangUp(call, "missed"));
    outcomes.push(await bens.signal(call, "trop tard"), await bens.heartbeat(call));
    await waitUntil(() => tablet.frames.length >= 3);
    expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual([makeUnansweredEntry(call)]);
    const { preview, unread, head, othersDelivered } = await readRow(ben, id);
    if (isBlocked) {
      expect(anas.received).toEqual([]);
      expect(await readCallEntries(ana, id)).toEqual([]);
      expect(await readRow(ana, id)).toMatchObject({ head: 0, unread: 0, preview: null });
    }
    vi.restoreAllMocks();
    const names = [id, call, bens.id, ana.id, ben.id, (await readRow(ben, id)).epoch, bens.device.epoch];
    const plain = names.reduce((text, name) => text.replaceAll(name, "id"), JSON.stringify(outcomes));
    return {
      outcomes: plain.replace(/\d{4,}/g, "n"),
      frames: shapeOf(bens, names).sort(),
      row: { kind: preview?.type, unread, head, othersDelivered },
    };
  };
  const [blocked, away] = [await play(true), await play(false)];
  expect(blocked).toEqual(away);
  expect(blocked.frames.length).toBeGreaterThan(10);
});

test("a suppressed call stays suppressed when the block ends, and never rings", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  await block(ana, ben);
  const call = createUuid();
  await bens.dial(call);
  await bens.hangUp(call, "missed");
  await block(ana, ben, false);
  await sendTexts(ben, id, "après");
  await anas.device.nextOf("m");
  await evictConversation(id);
  await runAlarm(id);
  expect(anas.received).toEqual([]);
  expect((await readLog(ana, id)).map(({ body }) => body.type)).toEqual(["withheld", "text"]);
  expect((await readLog(ben, id))[0]).toMatchObject({ held: true, body: makeCallEntry(call, "missed") });
  expect(await anas.request({ type: "standing", call })).toEqual({ error: "call_not_found" });
  await waitUntil(async () => (await readRow(ana, id)).unread === 1);
  // The next call rings.
  const next = createUuid();
  await bens.dial(next);
  await anas.waitForEvent(next, "ring");
});

test("a call started by a blocked caller does not ring and leaves no entry, even if the block ends before it", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  await block(ana, ben);
  const call = createUuid();
  await bens.dial(call);
  await block(ana, ben, false);
  await sendTexts(ben, id, "tu as débloqué");
  await anas.device.nextLive();
  await evictConversation(id);
  for (const type of ["standing", "beat"] as const) {
    expect(await anas.request({ type, call })).toEqual({ error: "call_not_found" });
  }
  expect(await anas.answer(call)).toEqual({ error: "call_not_found" });
  expect(await anas.hangUp(call, "rejected")).toEqual({ error: "call_not_found" });
  await bens.hangUp(call, "missed");
  await bens.waitForEvent(call, "missed");
  await runAlarm(id);
  await sendTexts(ben, id, "encore");
  await waitUntil(async () => (await readRow(ana, id)).unread === 2);
  expect(anas.received).toEqual([]);
  expect((await readLog(ana, id)).map(({ body }) => body.type)).toEqual(["text", "withheld", "text"]);
  expect((await readLog(ben, id))[1]).toMatchObject({ held: true, body: makeCallEntry(call, "missed") });
});

test("a suppressed call adds nothing to the other's list, and can be joined once the block has ended", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  await block(ana, ben);
  const call = createUuid();
  await bens.dial(call);
  await block(ana, ben, false);
  await sendTexts(ben, id, "tu as débloqué");
  await anas.device.nextLive();
  await bens.hangUp(call, "missed");
  await runAlarm(id);
  expect(await readRow(ana, id)).toMatchObject({ unread: 1, preview: { type: "text" } });
  await block(ana, ben);
  const next = createUuid();
  await bens.dial(next);
  await block(ana, ben, false);
  expect(await anas.dial(createUuid())).toMatchObject({ over: null, call: { call_id: next } });
  await anas.waitForEvent(next, "answered");
  await bens.hangUp(next, "ended");
  await anas.waitForEvent(next, "ended");
});

test.each([
  { who: "whom it rings for", talks: false, by: "ben", is: "rejected" },
  { who: "the caller", talks: false, by: "ana", is: "missed" },
  { who: "one of two who talk", talks: true, by: "ben", is: "ended" },
] as const)("a call ends when $who blocks the other, and both see it as $is", async ({ talks, by, is }) => {
  const { ana, ben, id, anas, bens, call } = await (talks ? makeAnsweredCall() : makeRingingCall());
  const [blocker, other] = by === "ben" ? [ben, ana] : [ana, ben];
  await block(blocker, other);
  for (const phone of [anas, bens]) await phone.waitForEvent(call, is);
  for (const person of [ana, ben]) {
    expect((await readCallEntries(person, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, is)]);
  }
  expect(await (by === "ben" ? anas : bens).signal(call, "encore")).toEqual({ error: "call_not_found" });
});

test("the end of a call caused by a block is not lost when the other calls again before its notice", async () => {
  const { ana, id, anas, bens, call } = await makeAnsweredCall();
  vi.spyOn(console, "error").mockImplementation(() => {});
  const notify = UserChannel.prototype.notify;
  const away = vi.spyOn(UserChannel.prototype, "notify").mockImplementation(function (
    this: InstanceType<typeof UserChannel>,
    notice,
  ) {
    return nameOf(this) === ana.id ? Promise.reject(new Error("away")) : notify.call(this, notice);
  });
  await getConversationStub(env, id).setBlocked(ana.id, true);
  await bens.waitForEvent(call, "ended");
  expect(await bens.dial(createUuid())).toMatchObject({ over: null });
  away.mockRestore();
  advanceClock(callRingMs);
  await runAlarm(id);
  await anas.waitForEvent(call, "ended");
  expect(anas.received.map(({ data }) => data.call_id)).toEqual(anas.received.map(() => call));
  // She is busy for nobody.
  const cleo = await seedPerson();
  const other = await befriend(ana, cleo);
  const ring = createUuid();
  await request(cleo, { type: "dial", conversation: other, call: ring, kind: "audio", device: createUuid() });
  await anas.waitForEvent(ring, "ring");
});

test.each([false, true])(
  "a call ends when the contact is removed (connected: %s), and none can start after it",
  async (talks) => {
    const { ana, ben, id, anas, bens, call } = await (talks ? makeAnsweredCall() : makeRingingCall());
    expect((await callApi("DELETE", `/api/contacts/${ben.id}`, { token: ana.token })).status).toBe(200);
    const is = talks ? "ended" : "missed";
    for (const phone of [anas, bens]) await phone.waitForEvent(call, is);
    expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, is)]);
    for (const phone of [anas, bens]) expect(await phone.dial(createUuid())).toEqual({ error: "not_connected" });
    expect(await anas.signal(call, "encore")).toEqual({ error: "call_not_found" });
  },
);
