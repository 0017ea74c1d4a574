import { evictDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import {
  callSignalMaxBytes,
  dialBurst,
  dialsPerSecond,
  ringSignalBytes,
  ringSignalBytesPerSecond,
  talkSignalBytes,
  talkSignalBytesPerSecond,
  unansweredMax,
  unansweredMs,
} from "#contract/limits/calls.ts";
import {
  CallClient,
  channelStub,
  evictConversation,
  makeCallers,
  makeContact,
  makeRingingCall,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { call as ask } from "#tests/worker/support/site.ts";

/** Limits of ringing a person, in objects that may be evicted within seconds. */

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Dials and cancels this many times. If a client is named, waits for its ring each time, because a call that is
 * cancelled at once may not ring.
 */
const ringInVain = async (caller: CallClient, times: number, callee?: CallClient): Promise<void> => {
  for (let i = 0; i < times; i++) {
    const call = createUuid();
    expect(await caller.dial(call), `ring ${i}`).toMatchObject({ over: null });
    await callee?.waitForEvent(call, "ring");
    // Requests about a known call are not limited.
    expect(await caller.dial(call)).toMatchObject({ over: null });
    await caller.hangUp(call, "missed");
  }
};
const limited = { error: "rate_limited" };

test("repeated dialling is limited, even if the caller's channel is evicted in between", async () => {
  const { ana, anas } = await makeCallers();
  const now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  const contacts = [await makeContact(ana), await makeContact(ana), await makeContact(ana)];
  const phones = [anas, ...(await Promise.all(contacts.map(({ id }) => CallClient.open(ana, id))))];
  for (let i = 0; i < dialBurst; i++) {
    if (i % 5 === 0) await evictDurableObject(channelStub(ana.id));
    await ringInVain(phones[i % phones.length] as CallClient, 1);
  }
  await evictDurableObject(channelStub(ana.id));
  for (const phone of phones) expect(await phone.dial(createUuid())).toEqual(limited);
  vi.spyOn(Date, "now").mockImplementation(() => now + 1_000 / dialsPerSecond);
  await ringInVain(anas, 1);
  expect(await anas.dial(createUuid())).toEqual(limited);
});

test("a person who does not answer is rung at most six times in ten minutes by one caller", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  await ringInVain(anas, unansweredMax / 2, bens);
  await evictConversation(id);
  await ringInVain(anas, unansweredMax / 2, bens);
  await evictConversation(id);
  const body = { conversation: id, type: "audio" };
  const refused = await ask("POST", "/api/calls", { token: ana.token, body });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  const wait = Number(refused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(unansweredMs / 1_000 - 60);
  expect(wait).toBeLessThanOrEqual(unansweredMs / 1_000);
  expect(bens.received.filter(({ event_type }) => event_type === "ring")).toHaveLength(unansweredMax);
  // The called person may still call, and others may call them.
  const friend = await makeContact(ben);
  await ringInVain(friend.phone, 1);
  advanceClock(unansweredMs);
  await ringInVain(anas, unansweredMax);
  expect(await anas.dial(createUuid())).toEqual(limited);
  await ringInVain(bens, 1);
  await ringInVain(anas, 1);
});

test("answering, or sending a message, resets the ring limit", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  await ringInVain(anas, unansweredMax - 1);
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  await bens.answer(call);
  await anas.hangUp(call, "ended");
  advanceClock(60_000);
  await ringInVain(anas, unansweredMax);
  expect(await anas.dial(createUuid())).toEqual(limited);
  await sendTexts(ana, id, "décroche");
  expect(await anas.dial(createUuid())).toEqual(limited);
  await sendTexts(ben, id, "dans un moment");
  await ringInVain(anas, 1);
});

/**
 * Sends a signal as often as allowed, without time passing. Returns the bytes received by a device of the other person.
 */
const pour = async (phone: CallClient, call: Uuid, on: CallClient, signal: string): Promise<number> => {
  const before = on.device.raw.length;
  let passed = 0;
  while ((await phone.signal(call, signal)).passed) passed++;
  const heard = () => on.device.raw.slice(before).filter((text) => text.includes('"signal"'));
  await waitUntil(() => heard().length === passed);
  return heard().reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
};

// Some signals grow inside a frame, and some are almost nothing but frame.
test.each([
  "x".repeat(callSignalMaxBytes),
  "\u0001".repeat(callSignalMaxBytes / 4),
  "é".repeat(4_000),
  "x".repeat(100),
])("signals before a call is answered are limited in size, whatever they contain (%#)", async (signal) => {
  const { anas, bens, call } = await makeRingingCall();
  const now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  for (const [phone, on] of [
    [anas, bens],
    [bens, anas],
  ] as const) {
    const bytes = await pour(phone, call, on, signal);
    expect(bytes).toBeLessThanOrEqual(ringSignalBytes);
    expect(bytes).toBeGreaterThan(ringSignalBytes / 2);
  }
});

test("a signal over the limit is accepted when sent again later, and a connected call has a higher limit", async () => {
  const { id, anas, bens, call } = await makeRingingCall();
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  const signal = "x".repeat(4_000);
  await pour(anas, call, bens, signal);
  const asked = { type: "signal", call, from: anas.id, to: null, signal } as const;
  const refused = await anas.device.request((ref) => ["j", ref, id, asked]);
  expect(refused).toEqual(["n", expect.any(Number), "rate_limited", expect.any(Number)]);
  const wait = refused[0] === "n" ? (refused[3] ?? 0) : 0;
  expect(wait).toBeLessThanOrEqual((5_000 / ringSignalBytesPerSecond) * 1_000);
  now += wait - 100;
  expect(await anas.signal(call, signal)).toEqual(limited);
  now += 100;
  expect(await anas.signal(call, signal)).toEqual({ passed: true });
  expect(await anas.signal(call, signal)).toEqual(limited);
  await bens.answer(call);
  await anas.waitForEvent(call, "answered");
  const talked = await pour(anas, call, bens, signal);
  expect(talked).toBeLessThanOrEqual(talkSignalBytes);
  expect(talked).toBeGreaterThan(talkSignalBytes - 5_000);
  now += 10_000;
  const later = await pour(anas, call, bens, signal);
  expect(later).toBeLessThanOrEqual(10 * talkSignalBytesPerSecond + 5_000);
  expect(later).toBeGreaterThan(10 * talkSignalBytesPerSecond - 5_000);
  expect(await anas.heartbeat(call)).toEqual({ passed: true });
});
