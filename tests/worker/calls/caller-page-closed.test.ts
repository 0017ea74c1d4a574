import { afterEach, expect, test, vi } from "vitest";
import { callReconnectMs } from "#contract/limits/calls.ts";
import {
  CallClient,
  makeCallEntry,
  makeContact,
  makeRingingCall,
  readCallEntries,
} from "#tests/worker/support/call-client.ts";
import { advanceClock, suspendTimers } from "#tests/worker/support/clock.ts";
import { Device, request } from "#tests/worker/support/device.ts";

/** Rings whose caller's page closed, for a reload or for good. */

afterEach(() => {
  vi.restoreAllMocks();
});

const pageWent = 1001;

/** Suspends the grace period in which a page may come back, and lets it pass. */
const holdGoing = () => {
  const timers = suspendTimers(callReconnectMs);
  return {
    ...timers,
    go: () => {
      advanceClock(callReconnectMs);
      return timers.go();
    },
  };
};

/** Call state after the suspended timers. */
const overOf = async (phone: CallClient, call: string) => (await phone.request({ type: "standing", call })).over;

test("ends without an answer if nothing of the caller's device returns", async () => {
  const { ana, id, anas, bens, call } = await makeRingingCall();
  const timers = holdGoing();
  anas.device.close(pageWent);
  await timers.whenHeld();
  expect(bens.listEvents(call)).toEqual(["ring"]);
  await timers.go();
  await bens.waitForEvent(call, "missed");
  expect((await readCallEntries(ana, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, "missed")]);
});

test("ends though another device of the caller is connected", async () => {
  const { ana, id, anas, bens, call } = await makeRingingCall();
  const tablet = await CallClient.open(ana, id);
  const friend = await makeContact(ana);
  await tablet.request({ type: "standing", call: call }, friend.id); // names no device
  await tablet.hangUp(call, "missed", undefined, friend.id); // names its device
  const timers = holdGoing();
  advanceClock(1);
  anas.device.close(pageWent);
  await timers.whenHeld();
  await timers.go();
  await bens.waitForEvent(call, "missed");
  await tablet.waitForEvent(call, "missed");
});

test.each([
  { what: "has a socket again", back: async (ana: CallClient["person"]) => void (await Device.open(ana)) },
  {
    what: "asks by HTTP, for it has no socket any more",
    back: async (ana: CallClient["person"], conversation: string, call: string) =>
      void (await request(ana, { type: "standing", conversation, call })),
  },
])("continues to ring when the caller $what", async ({ back }) => {
  const { ana, id, anas, bens, call } = await makeRingingCall();
  const timers = holdGoing();
  anas.device.close(pageWent);
  await timers.whenHeld();
  await back(ana, id, call);
  await timers.go();
  expect(await overOf(bens, call)).toBe(null);
  expect(bens.listEvents(call)).toEqual(["ring"]);
  expect(await bens.answer(call)).toMatchObject({ over: null });
});

test("continues if it was answered meanwhile, because the page may return", async () => {
  const { ana, id, anas, bens, call } = await makeRingingCall();
  const timers = holdGoing();
  anas.device.close(pageWent);
  await timers.whenHeld();
  await bens.answer(call);
  await timers.go();
  expect(await overOf(bens, call)).toBe(null);
  expect(bens.listEvents(call)).toEqual(["ring", "answered"]);
  expect(await readCallEntries(ana, id)).toEqual([]);
});

test("continues to ring when only a socket broke", async () => {
  const { anas, bens, call } = await makeRingingCall();
  const timers = holdGoing();
  anas.device.close(1000);
  await anas.device.closed;
  expect(await overOf(bens, call)).toBe(null);
  expect(timers.count()).toBe(0);
  expect(bens.listEvents(call)).toEqual(["ring"]);
});
