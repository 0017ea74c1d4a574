import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callHeartbeatMs, callUnreachableMs } from "#contract/limits/calls.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { channelStub, makeAnsweredCall, makeCallers, runAlarm } from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device } from "#tests/worker/support/device.ts";
import { countObjectRows } from "#tests/worker/support/row-counter.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/** Rows and object requests of a call: the local counterpart of the bill. */
const writtenMax = 24; // measured: 21
const requestsMax = 12; // measured: 10
const writtenAMinuteMax = 2.5; // measured: 2.25
const toldMs = 5_000; // interval in which a side reports that it hears nothing

let counted = { read: 0, written: 0, requests: 0 };
beforeAll(async () => {
  counted = Object.assign(await countObjectRows(), { requests: 0 });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Counts requests between objects, not those of devices. */
const countRequests = () => {
  for (const [of, names] of [
    [Conversation.prototype, ["runCallCommand", "recordCallHeartbeat", "getCallState"]],
    [UserChannel.prototype, ["notify", "deliverSignal"]],
  ] as const) {
    for (const name of names) {
      const prototype = of as unknown as Record<string, (...values: unknown[]) => unknown>;
      const done = prototype[name];
      vi.spyOn(prototype, name).mockImplementation(function (this: unknown, ...values) {
        counted.requests += 1;
        return done?.apply(this, values);
      });
    }
  }
};

test("a call writes a bounded number of rows and requests, and during a long call one row now and then", async () => {
  const { id, anas, bens } = await makeCallers();
  await runAlarm(id);
  await scheduler.wait(receiptHoldMs + 200);
  countRequests();
  Object.assign(counted, { read: 0, written: 0, requests: 0 });
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  await bens.heartbeat(call); // it rings there
  await bens.answer(call);
  await anas.waitForEvent(call, "answered");
  await runAlarm(id);
  const begun = { ...counted };
  const minutes = 4;
  for (let beat = 0; beat < (minutes * 60_000) / callHeartbeatMs; beat++) {
    advanceClock(callHeartbeatMs);
    await Promise.all([anas.heartbeat(call), bens.heartbeat(call)]);
  }
  const talked = { written: counted.written - begun.written, requests: counted.requests - begun.requests };
  await anas.hangUp(call, "ended");
  await bens.waitForEvent(call, "ended");
  await runAlarm(id);
  await scheduler.wait(receiptHoldMs + 200);
  const figures = { begun, talked, all: { ...counted } };
  expect(talked.written / minutes, JSON.stringify(figures)).toBeLessThanOrEqual(writtenAMinuteMax);
  expect(talked.requests).toBe((2 * minutes * 60_000) / callHeartbeatMs);
  expect(counted.written - talked.written).toBeLessThanOrEqual(writtenMax);
  expect(counted.requests - talked.requests).toBeLessThanOrEqual(requestsMax);
});

test("a side that reports hearing nothing writes no row for as long as the other may be away", async () => {
  const { id, bens, call } = await makeAnsweredCall();
  await runAlarm(id);
  await scheduler.wait(receiptHoldMs + 200);
  advanceClock(0);
  countRequests();
  Object.assign(counted, { read: 0, written: 0, requests: 0 });
  for (let unheard = toldMs; unheard < callUnreachableMs; unheard += toldMs) {
    advanceClock(toldMs);
    expect(await bens.request({ type: "beat", call, device: bens.id, unheard })).toEqual({ passed: true });
  }
  expect(counted).toMatchObject({ written: 0, requests: callUnreachableMs / toldMs - 1 });
});

test("a connecting device reads open calls only, however many there were", async () => {
  const { ana } = await makeCallers();
  await runInDurableObject(channelStub(ana.id), (_, { storage }) => {
    for (let i = 0; i < 1_000; i++) storage.sql.exec("INSERT INTO calls VALUES (?, 2, NULL)", `c${i}`);
  });
  await runInDurableObject(channelStub(ana.id), (_, state) => state.abort("as if the machine had died")).catch(
    () => {},
  );
  Object.assign(counted, { read: 0, written: 0, requests: 0 });
  await Device.open(ana);
  await scheduler.wait(20);
  expect(counted.read).toBeLessThanOrEqual(50);
});
