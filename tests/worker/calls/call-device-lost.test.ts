import { afterEach, expect, test, vi } from "vitest";
import type { CallRequest } from "#contract/calls/call-commands.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { callHeartbeatMs, callUnreachableMs } from "#contract/limits/calls.ts";
import {
  CallClient,
  channelStub,
  evictConversation,
  makeAnsweredCall,
  makeCallEntry,
  makeContact,
  readCallEntries,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, request, waitUntil } from "#tests/worker/support/device.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/**
 * Calls in which one side's client died: the other hears nothing and reports it, and so does the same person's next
 * device.
 */

afterEach(() => {
  vi.restoreAllMocks();
});

const toldMs = 5_000; // interval in which a side reports that it hears nothing
const talkedMs = 3_000;
const refused = { error: "call_in_progress" };

/**
 * Ana and Ben talk for three seconds, then one of them is gone: `tablet` is their other device, and `lone` hears
 * nothing any more.
 */
const newLoss = async (silent: "caller" | "callee" = "caller") => {
  const talk = await makeAnsweredCall();
  const [gone, remaining] = silent === "caller" ? [talk.anas, talk.bens] : [talk.bens, talk.anas];
  const friend = await makeContact(gone.person);
  const tablet = await CallClient.open(gone.person, friend.id);
  // The device names itself.
  await tablet.hangUp(createUuid(), "missed");
  advanceClock(talkedMs);
  let unheard = 0;
  const beat = (more: Partial<Extract<CallRequest, { type: "beat" }>> = {}) =>
    remaining.request({ type: "beat", call: talk.call, device: remaining.id, ...more });
  const wait = async (ms: number) => {
    for (const until = unheard + ms; unheard < until; ) {
      const step = Math.min(toldMs, until - unheard);
      advanceClock(step);
      unheard += step;
      expect(await beat({ unheard })).toEqual({ passed: true });
    }
  };
  const lines = async () => (await readCallEntries(talk.ana, talk.id)).map(({ body }) => body);
  return { ...talk, gone, remaining, friend, tablet, wait, beat, lines };
};

/** All requests to objects during the call are answered. */
const settled = () => scheduler.wait(30);

test.each(["caller", "callee"] as const)(
  "another device of the %s can call somebody else once the lost one cannot return, and the entry has the connected time",
  async (silent) => {
    const { call, remaining, friend, tablet, wait, lines } = await newLoss(silent);
    await wait(callUnreachableMs - 1);
    expect(await tablet.dial(createUuid())).toEqual(refused);
    expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
    advanceClock(1);
    const other = createUuid();
    expect(await tablet.dial(other)).toMatchObject({ over: null });
    await friend.phone.waitForEvent(other, "ring");
    await remaining.waitForEvent(call, "ended");
    expect(await lines()).toEqual([makeCallEntry(call, "ended", { seconds: talkedMs / 1_000 })]);
  },
);

test("it can call the same person again, and can be called by others", async () => {
  const { id, call, gone, remaining, friend, wait } = await newLoss();
  const tablet = await CallClient.open(gone.person, id);
  await wait(callUnreachableMs);
  const other = createUuid();
  await friend.phone.dial(other);
  await tablet.waitForEvent(other, "ring");
  await friend.phone.hangUp(other, "missed");
  await tablet.waitForEvent(other, "missed");
  const again = createUuid();
  expect(await tablet.dial(again)).toMatchObject({ over: null, call: { call_id: again, answered_at: null } });
  await remaining.waitForEvent(again, "ring");
  expect(remaining.listEvents(call)).toEqual(["ring", "answered", "ended"]);
});

test("a person who waits for a device without a socket is released, with a failed call", async () => {
  const { call, gone, remaining, wait, lines } = await newLoss();
  gone.device.close(1000);
  await gone.device.closed;
  await wait(callUnreachableMs - toldMs);
  await settled();
  expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
  await wait(toldMs);
  expect((await remaining.waitForEvent(call, "ended")).data).toMatchObject({
    reason: "failed",
    seconds: talkedMs / 1_000,
  });
  expect(await lines()).toEqual([makeCallEntry(call, "ended", { seconds: talkedMs / 1_000, reason: "failed" })]);
});

test.each([
  { what: "still has its socket, as in a tunnel", come: async () => {} },
  {
    what: "has reconnected by a socket that has not named its device yet",
    come: async ({ person, device: link }: CallClient) => {
      link.close(1000);
      await link.closed;
      return Device.open(person);
    },
  },
  {
    what: "has no socket any more and requests signals by HTTP",
    come: async ({ person, device: link }: CallClient, call: Uuid) => {
      link.close(1000);
      await link.closed;
      await channelStub(person.id).findRecentSignals(call, 0);
    },
  },
])("waiting for a device that $what continues", async ({ come }) => {
  const { call, gone, remaining, wait } = await newLoss();
  await wait(callUnreachableMs - 1);
  await come(gone, call);
  await wait(1);
  await settled();
  expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
});

test("a call does not end if the channel cannot be asked whether the device is present", async () => {
  const { call, gone, remaining, wait } = await newLoss();
  gone.device.close(1000);
  await gone.device.closed;
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const away = vi.spyOn(UserChannel.prototype, "mayReconnect").mockRejectedValue(new Error("away"));
  await wait(callUnreachableMs);
  await waitUntil(() => away.mock.calls.length > 0);
  await settled();
  expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
  away.mockRestore();
  await wait(toldMs);
  await remaining.waitForEvent(call, "ended");
});

test.each(["socket", "HTTP"])("a device that is present by %s is not given up for missing media", async (carrier) => {
  const { ana, id, call, gone, remaining, tablet, wait } = await newLoss();
  const beat = { type: "beat", call, device: gone.id } as const;
  if (carrier === "HTTP") {
    gone.device.close(1000);
    await gone.device.closed;
  }
  for (let waited = 0; waited < 2 * callUnreachableMs; waited += callHeartbeatMs) {
    await wait(callHeartbeatMs);
    const heartbeatResult =
      carrier === "HTTP" ? await request(ana, { ...beat, conversation: id }) : await gone.request(beat);
    expect(heartbeatResult).toMatchObject({ passed: true });
    expect(await tablet.dial(createUuid())).toEqual(refused);
  }
  await settled();
  expect(remaining.listEvents(call)).toEqual(["ring", "answered"]);
});

test("a side that hears the other again reports no loss", async () => {
  const { call, gone, tablet, wait, beat, lines } = await newLoss();
  await wait(callUnreachableMs - toldMs);
  await beat();
  advanceClock(callUnreachableMs);
  expect(await tablet.dial(createUuid())).toEqual(refused);
  await gone.hangUp(call, "ended");
  const seconds = (talkedMs + 2 * callUnreachableMs - toldMs) / 1_000;
  expect(await lines()).toEqual([makeCallEntry(call, "ended", { seconds })]);
});

test("a conversation that restarts meanwhile waits longer, and is notified again", async () => {
  const { id, call, remaining, tablet, wait } = await newLoss();
  await wait(callUnreachableMs - toldMs);
  await evictConversation(id);
  await wait(toldMs);
  expect(await tablet.dial(createUuid())).toEqual(refused);
  await wait(callUnreachableMs);
  expect(await tablet.dial(createUuid())).toMatchObject({ over: null });
  await remaining.waitForEvent(call, "ended");
});
