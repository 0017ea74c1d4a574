import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { pushForegroundWaitMs } from "#contract/limits/push.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";
import { makeOtherSession, PushDevice, servePushes } from "./push-service.ts";

/**
 * Random sequences of messages, reads, deaths of the object, and openings and closings of a device in the foreground. Two
 * devices have to be notified: a closed one, and one whose page is in the background and confirms what arrives.
 */

const stepsPerRun = 14;

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "after any sequence of events the notification agrees with the inbox (seed %i)",
  async (seed) => {
    const random = makeRandom(seed);
    const { ana, ben, id } = await makePair();
    const [phone, tablet] = [await PushDevice.create(), await PushDevice.create()];
    servePushes(() => [phone, tablet]);
    await phone.subscribe(await makeOtherSession(ben));
    const hiddenPage = await makeOtherSession(ben);
    await tablet.subscribe(hiddenPage);
    // A stub that failed stays broken.
    const getChannel = () => env.USER_CHANNEL.getByName(ben.id);
    advanceClock(0); // time passes in steps from here on

    let laptop: Device | undefined;
    let page: Device | undefined = await Device.open(hiddenPage);
    let [sent, deaths] = [0, 0];
    const trace: string[] = [];
    const getConversation = () => env.CONVERSATION.getByName(id);
    /** Lets the objects do what is due. */
    const runDue = async () => {
      await runDurableObjectAlarm(getConversation());
      await runDurableObjectAlarm(getChannel());
      await scheduler.wait(30);
    };
    const events: Record<string, () => Promise<unknown>> = {
      message: () => sendTexts(ana, id, `message ${++sent}`),
      read: async () => {
        const { head } = await readRow(ben, id);
        await request(ben, { type: "mark", conversation: id, delivered: head, read: head });
      },
      death: () => {
        deaths += 1;
        laptop = undefined;
        page = undefined;
        return runInDurableObject(getChannel(), (_, state) => state.abort("as if the machine had died")).catch(
          () => undefined,
        );
      },
      conversationDeath: () =>
        runInDurableObject(getConversation(), (_, state) => state.abort("as if the machine had died")).catch(
          () => undefined,
        ),
      open: async () => {
        laptop ??= await Device.open(ben);
        laptop.send(["l", 1]);
        await laptop.waitForPong();
      },
      close: async () => {
        laptop?.close();
        laptop = undefined;
      },
      confirm: async () => {
        page ??= await Device.open(hiddenPage);
        page.send(["r", id, sent, 0]);
        await page.waitForPong();
      },
      wait: async () => {},
    };
    const names = ["message", "message", "message", ...Object.keys(events)];
    for (let step = 0; step < stepsPerRun; step++) {
      const name = names[Math.floor(random() * names.length)] ?? "wait";
      trace.push(name);
      await events[name]?.();
      if (random() < 0.7) await runDue();
      advanceClock(Math.floor(random() * 9_000));
    }
    await waitUntil(async () => (await readRow(ben, id)).head === sent);
    advanceClock(1);
    await events["confirm"]?.();
    for (let n = 0; n < 3; n++) {
      advanceClock(pushForegroundWaitMs);
      await runDue();
    }

    const { unread, head } = await readRow(ben, id);
    for (const device of [phone, tablet]) {
      const pushes = device.received.map(({ payload }) => payload.data);
      const context = JSON.stringify({ trace, pushes, unread, head, deaths, isConnected: device === tablet });
      // No unread message without a notification: every wait is over.
      if (unread > 0) expect(pushes.at(-1), context).toMatchObject({ head, count: unread });
      // No message is notified twice, except after a death.
      const repeated = pushes.filter((push, n) => pushes.slice(0, n).some((before) => before.head === push.head));
      expect(repeated.length, context).toBeLessThanOrEqual(deaths);
      // Notifications never go back, and never name more messages than there were.
      for (const [n, push] of pushes.entries()) {
        expect(push.head, context).toBeGreaterThanOrEqual(pushes[n - 1]?.head ?? 0);
        expect(push.count, context).toBeLessThanOrEqual(push.head ?? 0);
      }
    }
  },
);
