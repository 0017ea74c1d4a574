import { afterEach, expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { callLongRingMs } from "#contract/limits/calls.ts";
import { pushForegroundWaitMs } from "#contract/limits/push.ts";
import { CallClient, runAlarm as runConversationAlarm } from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";
import { kill, runAlarm, startPushServices, subscribe } from "./push-fixture.ts";
import { makeOtherSession } from "./push-service.ts";

/**
 * Random sequences of calls and messages to a person with a closed phone and a laptop that opens and closes, and whose
 * object dies, also while the push service is asked.
 */

startPushServices();
afterEach(() => {
  vi.restoreAllMocks();
});

const stepsPerRun = 14;
const quietMs = 40; // in which a local push service has answered

type Outcome = "missed" | "answered" | "declined";

test.each([1, 2, 3, 4, 5, 6])(
  "after any sequence of calls and messages each call has one notification, and it agrees with the inbox (seed %i)",
  async (seed) => {
    const random = makeRandom(seed);
    vi.spyOn(console, "error").mockImplementation(() => undefined); // of requests that a death interrupted
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { ana, ben, id } = await makePair();
    const phone = await subscribe(await makeOtherSession(ben));
    const isAccepted = phone.answer;
    advanceClock(0); // time passes in steps from here on

    const anas = await CallClient.open(ana, id);
    let laptop: CallClient | undefined;
    let call: Uuid | undefined;
    let [sent, deaths, newestUnread] = [0, 0, 0];
    const outcomes = new Map<Uuid, Outcome>();
    const deathsBefore = new Map<Uuid, number>();
    /** Calls whose push was accepted by an object that died before it recorded that. */
    const unrecorded = new Set<Uuid>();
    const trace: string[] = [];
    const die = async () => {
      deaths += 1;
      laptop = undefined;
      await kill(ben);
    };
    const dial = async () => {
      const next = createUuid();
      deathsBefore.set(next, deaths);
      if ((await anas.dial(next)).error === undefined) call = next;
      return call !== undefined;
    };
    const end = async (outcome: Outcome, run: (ringing: Uuid) => Promise<unknown>) => {
      if (call === undefined) return;
      const ended = call;
      call = undefined;
      await run(ended);
      const status = { missed: "missed", answered: "ended", declined: "rejected" } as const;
      await anas.waitForEvent(ended, status[outcome]);
      outcomes.set(ended, outcome);
      if (outcome === "missed") newestUnread = sent + outcomes.size;
    };
    /** Rings, and dies while the push service is asked, or once it has accepted the push. */
    const dialAndDie = async (isPushAccepted: boolean) => {
      if (call !== undefined) return;
      const requests = phone.requests;
      if (isPushAccepted) phone.losesAnswers = true;
      else phone.answer = undefined;
      if (await dial()) {
        await waitUntil(() => phone.requests > requests);
        await scheduler.wait(quietMs);
        await die();
        if (isPushAccepted && call) unrecorded.add(call);
      }
      phone.losesAnswers = false;
      phone.answer = isAccepted;
    };
    const onLaptop = async (outcome: "answered" | "declined") => {
      if (call === undefined) return;
      laptop ??= await CallClient.open(ben, id);
      const device = laptop;
      await end(outcome, async (ringing) => {
        if (outcome === "declined") return device.hangUp(ringing, "rejected");
        await device.answer(ringing);
        await scheduler.wait(quietMs);
        return device.hangUp(ringing, "ended");
      });
    };
    const events: Record<string, () => Promise<unknown>> = {
      ring: async () => call === undefined && dial(),
      cancel: () => end("missed", (ringing) => anas.hangUp(ringing, "missed")),
      ringOut: () =>
        end("missed", async () => {
          advanceClock(callLongRingMs);
          await runConversationAlarm(id);
        }),
      answer: () => onLaptop("answered"),
      decline: () => onLaptop("declined"),
      message: async () => {
        await sendTexts(ana, id, `message ${++sent}`);
        newestUnread = sent + outcomes.size;
      },
      read: async () => {
        const { head } = await readRow(ben, id);
        await request(ben, { type: "mark", conversation: id, delivered: head, read: head });
      },
      death: async () => {
        await scheduler.wait(quietMs);
        await die();
      },
      deathBeforePush: () => dialAndDie(false),
      deathAfterPush: () => dialAndDie(true),
      open: async () => {
        laptop ??= await CallClient.open(ben, id);
      },
      close: async () => {
        laptop?.device.close();
        laptop = undefined;
      },
    };
    const runDue = async () => {
      await runAlarm(ben);
      await scheduler.wait(quietMs);
    };
    const names = ["ring", "ring", "ring", "cancel", ...Object.keys(events)];
    for (let step = 0; step < stepsPerRun; step++) {
      const name = names[Math.floor(random() * names.length)] ?? "ring";
      trace.push(name);
      await events[name]?.();
      if (random() < 0.8) await runDue();
      advanceClock(Math.floor(random() * 4_000));
    }
    await events["cancel"]?.();
    await waitUntil(async () => (await readRow(ben, id)).head === sent + outcomes.size);
    for (let n = 0; n < 3; n++) {
      advanceClock(pushForegroundWaitMs);
      await runDue();
    }

    const { unread, head } = await readRow(ben, id);
    const pushes = phone.received.map(({ payload }) => payload.data);
    const context = JSON.stringify({ trace, outcomes: [...outcomes], pushes, unread, head, deaths });
    const count = (kinds: readonly string[], of: Uuid) =>
      pushes.filter(({ kind, call }) => call === of && kinds.includes(kind)).length;
    for (const [ended, outcome] of outcomes) {
      const rings = pushes.filter(({ kind, call }) => kind === "call" && call === ended);
      const lengths = new Set(rings.map(({ expiresAt }) => expiresAt)); // a call that rings longer is pushed again
      const repetitions = deaths - (deathsBefore.get(ended) ?? 0);
      expect(rings.length, context).toBeLessThanOrEqual(lengths.size + repetitions);
      // What rang is replaced once, by the kind of its end, and what did not ring is not.
      const endings = count(["missed_call", "call_ended"], ended);
      expect(endings, context).toBeLessThanOrEqual(rings.length === 0 ? 0 : 1 + repetitions);
      if (rings.length > 0 && !unrecorded.has(ended)) expect(endings, context).toBeGreaterThanOrEqual(1);
      if (outcome !== "missed") expect(count(["missed_call"], ended), context).toBe(0);
      // No ring after the end.
      const lastRing = pushes.findLastIndex(({ kind, call }) => kind === "call" && call === ended);
      const firstEnd = pushes.findIndex(({ kind, call }) => kind !== "call" && call === ended);
      if (firstEnd >= 0) expect(firstEnd, context).toBeGreaterThan(lastRing);
    }
    // Messages and missed calls of a conversation are one notification, which agrees with the inbox.
    const described = pushes.filter((push) => push.head !== undefined);
    if (unread > 0) {
      expect(described.at(-1)?.count, context).toBe(unread);
      expect(described.at(-1)?.head, context).toBeGreaterThanOrEqual(newestUnread);
    }
    const repeated = described.filter((push, n) => described.slice(0, n).some((before) => before.head === push.head));
    expect(repeated.length, context).toBeLessThanOrEqual(deaths);
    for (const [n, push] of described.entries()) {
      expect(push.head, context).toBeGreaterThanOrEqual(described[n - 1]?.head ?? 0);
      expect(push.count, context).toBeLessThanOrEqual(push.head ?? 0);
    }
  },
);
