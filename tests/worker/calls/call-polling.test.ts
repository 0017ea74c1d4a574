import { evictDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import type { CallSignals } from "#contract/calls/call.ts";
import type { Person } from "#tests/support/people/people.ts";
import { channelStub, makeAnsweredCall } from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, waitUntil } from "#tests/worker/support/device.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket } from "#tests/worker/support/site.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

/** Information about a call that a device without a socket can request. */

afterEach(() => {
  vi.restoreAllMocks();
});

const ask = async ({ token }: Person, id: string, after = 0) => {
  const { status, body } = await call("GET", `/api/calls/${id}/signals?after=${after}`, { token });
  return { status, ...(body as CallSignals) };
};
const wordsOf = ({ signals }: CallSignals) => signals.map(({ signal }) => signal);

test("signals of a call are returned once more on request, from the position of the last request", async () => {
  const { ana, ben, id, anas, bens, call: callId } = await makeAnsweredCall();
  expect(await ask(ben, callId)).toMatchObject({ status: 200, signals: [] });
  await anas.signal(callId, "pour tous");
  await anas.signal(callId, "pour lui", bens.id);
  const first = await ask(ben, callId);
  expect(first.call).toMatchObject({ call_id: callId, conversation: id, from: ana.id });
  expect(first.signals).toEqual([
    { call_id: callId, conversation: id, from_device: anas.id, to_device: null, signal: "pour tous" },
    { call_id: callId, conversation: id, from_device: anas.id, to_device: bens.id, signal: "pour lui" },
  ]);
  expect(await ask(ben, callId, first.at)).toMatchObject({ signals: [], at: first.at });
  await anas.signal(callId, "encore");
  const second = await ask(ben, callId, first.at);
  expect([wordsOf(second), second.at > first.at]).toEqual([["encore"], true]);
  expect(wordsOf(await ask(ana, callId))).toEqual([]); // her own signals are not for her
});

test("they are returned only to that person, for that call, for a limited time, and not after the call", async () => {
  const { ben, anas, bens, call: callId } = await makeAnsweredCall();
  await anas.signal(callId, "pour tous");
  for (const stranger of [await seedPerson(), (await makeAnsweredCall()).ben]) {
    expect((await ask(stranger, callId)).status).toBe(404);
  }
  const now = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(now + 10_001);
  expect((await ask(ben, callId)).signals).toEqual([]);
  clock.mockRestore();
  await bens.hangUp(callId, "ended");
  await waitUntil(async () => (await ask(ben, callId)).status === 404);
});

test("an evicted channel continues from the same position", async () => {
  const { ben, anas, call: callId } = await makeAnsweredCall();
  await anas.signal(callId, "avant");
  const { at } = await ask(ben, callId);
  await evictDurableObject(channelStub(ben.id));
  advanceClock(1_000);
  const device = await Device.open(ben);
  expect((await ask(ben, callId, at)).signals).toEqual([]);
  await anas.signal(callId, "après");
  expect(wordsOf(await ask(ben, callId, at))).toEqual(["après"]);
  device.close();
});

test("polling without a socket is allowed once a second for as long as needed, but not faster", async () => {
  expect(rateLimitPolicies.call_poll_by_user).toEqual({ burst: 120, everyMs: 500 });
  const { ana, ben, call: callId } = await makeAnsweredCall();
  await drainBucket("call_poll_by_user", ben.id);
  for (const path of [`/api/calls/${callId}/signals`, "/api/calls"]) {
    const limited = await call("GET", path, { token: ben.token });
    expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect((await call("GET", path, { token: ana.token })).status).toBe(200);
  }
});
