import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushBackgroundWaitMs, pushConversationPauseMs, pushForegroundWaitMs } from "#contract/limits/push.ts";
import { CallClient } from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { bodies, kinds, runAlarm, settle, startPushServices, subscribe, waitForUnread } from "./push-fixture.ts";
import { makeOtherSession } from "./push-service.ts";

/** Devices whose page is connected but in the background, where it shows nothing by itself. */

startPushServices();

/** Ana, and Ben with a subscribed device that is connected in the background. */
const withBackgroundDevice = async () => {
  const { ana, ben, id } = await makePair();
  return { ana, ben, id, page: await Device.open(ben), push: await subscribe(ben) };
};

/** Reports whether a device is in the foreground, and waits until the server knows it. */
const setForeground = async (device: Device, isForeground: boolean) => {
  device.send(["l", isForeground ? 1 : 0]);
  await device.waitForPong();
  await scheduler.wait(5);
};

/** Confirms a message on a device, at a later millisecond. */
const confirm = async (device: Device, id: string, seq: number) => {
  await waitUntil(() => device.seqs.includes(seq));
  await scheduler.wait(5);
  device.send(["r", id, seq, 0]);
};

test("a device in the background is notified of a message that it confirms, after a second and once", async () => {
  const { ana, ben, id, page, push } = await withBackgroundDevice();
  const sentAt = Date.now();
  await sendTexts(ana, id, "un");
  await confirm(page, id, 1);
  const { at, payload } = await push.next();
  expect(at - sentAt).toBeGreaterThanOrEqual(pushBackgroundWaitMs);
  expect(at - sentAt).toBeLessThan(pushBackgroundWaitMs + 2_000);
  expect(payload).toMatchObject({
    notification: { body: "un", tag: `c:${id}` },
    data: { kind: "message", count: 1, head: 1, isAlerting: true },
  });
  await runAlarm(ben);
  await settle();
  expect(push.requests).toBe(1);
});

test.each(["comes to the foreground", "reads the message"])(
  "a device in the background that %s within a second is not notified",
  async (how) => {
    const { ana, ben, id, page, push } = await withBackgroundDevice();
    await sendTexts(ana, id, "un");
    await confirm(page, id, 1);
    if (how === "comes to the foreground") await setForeground(page, true);
    else await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 });
    await scheduler.wait(pushBackgroundWaitMs);
    await runAlarm(ben);
    await settle();
    expect(push.requests).toBe(0);
  },
);

test("a message that arrives as a device leaves the foreground is notified, and one that it showed before is not", async () => {
  const { ana, ben, id, page, push } = await withBackgroundDevice();
  await setForeground(page, true);
  advanceClock(0);
  await sendTexts(ana, id, "vu");
  await waitForUnread(ben, id, 1);
  advanceClock(3_000);
  await setForeground(page, false);
  await settle();
  expect(push.requests).toBe(0);
  await setForeground(page, true);
  await sendTexts(ana, id, "à peine");
  await waitForUnread(ben, id, 2);
  advanceClock(pushBackgroundWaitMs);
  await setForeground(page, false);
  expect((await push.next()).payload.data).toMatchObject({ count: 2, head: 2 });
});

test("while another device is in the foreground, one in the background is notified only of what is still unread", async () => {
  const { ana, ben, id, page, push } = await withBackgroundDevice();
  const laptop = await Device.open(await makeOtherSession(ben));
  await setForeground(laptop, true);
  advanceClock(0);
  await sendTexts(ana, id, "lu", "non lu");
  await waitForUnread(ben, id, 2);
  await request(ben, { type: "mark", conversation: id, delivered: 2, read: 1 });
  await confirm(page, id, 2);
  advanceClock(pushForegroundWaitMs - 1);
  await runAlarm(ben);
  await settle();
  expect(push.requests).toBe(0);
  advanceClock(1);
  await runAlarm(ben);
  await push.next();
  expect(bodies(push)).toEqual(["non lu"]);
});

test("of two devices in turn, a closed one and one in the background, each sounds for the first of two messages", async () => {
  const { ana, ben, id, push } = await withBackgroundDevice();
  const phone = await subscribe(await makeOtherSession(ben));
  await sendTexts(ana, id, "un");
  await phone.next();
  await sendTexts(ana, id, "deux");
  const { at, payload } = await push.next();
  expect(at - (phone.received[0]?.at ?? 0)).toBeLessThan(pushConversationPauseMs);
  expect(payload.data).toMatchObject({ head: 2, isAlerting: true });
  await phone.next(2);
  await settle();
  expect(phone.received.map(({ payload }) => payload.data.isAlerting)).toEqual([true, false]);
  expect(push.requests).toBe(1);
});

test("a call rings on a device in the background while its page knows of it, and then becomes a silent missed call", async () => {
  const { ana, ben, id } = await makePair();
  const [bens, push] = [await CallClient.open(ben, id), await subscribe(ben)];
  const anas = await CallClient.open(ana, id);
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  await scheduler.wait(5);
  await bens.signal(call, "ringing");
  expect((await push.next()).payload.data).toMatchObject({ kind: "call", call, isAlerting: true });
  await anas.hangUp(call, "missed");
  // The page closes the ring itself, so only the server knows that the missed call was heard.
  expect((await push.next(2)).payload.data).toMatchObject({ kind: "missed_call", call, count: 1, isAlerting: false });
  await settle();
  expect(kinds(push)).toEqual(["call", "missed_call"]);
});

test("a call does not ring by a push on a device that comes to the foreground within a second", async () => {
  const { ana, ben, id } = await makePair();
  const [bens, push] = [await CallClient.open(ben, id), await subscribe(ben)];
  const anas = await CallClient.open(ana, id);
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  await scheduler.wait(5);
  await setForeground(bens.device, true);
  await scheduler.wait(pushBackgroundWaitMs);
  await settle();
  expect(push.requests).toBe(0);
});
