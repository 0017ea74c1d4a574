import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import {
  CallClient,
  evictConversation,
  makeCallers,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";

/**
 * Commands that exclude each other, sent at the same moment many times: a call is accepted or refused, and both sides
 * agree.
 */

const pairs = 20;
const roundsOfPair = 10; // few enough to stay within the dial limit
const patienceMs = 600_000; // ends a hanging test: two hundred rounds on a machine that may be busy

/** Run the pairs concurrently, so that waiting in one pair does not delay the others. */
const withPairs = (play: (pair: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: pairs }, (_, pair) => play(pair)));

const lastOf = (phone: CallClient, call: string): string | undefined => phone.listEvents(call).at(-1);
const ends = ["missed", "rejected", "cancelled", "ended"];
const isOver = (phone: CallClient, call: string): boolean => ends.includes(lastOf(phone, call) ?? "");

test(
  "answered and cancelled at the same moment, a call has one result, for both sides and in the log",
  async () => {
    const random = makeRandom(7);
    const seen = { answered: 0, missed: 0 };
    await withPairs(async () => {
      const { ana, ben, id, anas, bens } = await makeCallers();
      const expected: [string, string][] = [];
      for (let round = 0; round < roundsOfPair; round++) {
        const call = createUuid();
        await anas.dial(call);
        await bens.waitForEvent(call, "ring");
        const late = [random() * 3, random() * 3];
        const [answer, end] = await Promise.all([
          scheduler.wait(late[0] ?? 0).then(() => bens.answer(call)),
          scheduler.wait(late[1] ?? 0).then(() => anas.hangUp(call, "missed")),
          round === 5 ? evictConversation(id) : undefined,
        ]);
        // The end always applies; its status shows which command came first.
        const status = end.over?.status ?? "";
        if (answer.error) expect([answer.error, status]).toEqual(["call_not_found", "missed"]);
        else expect([answer.call?.to_device, status]).toEqual([bens.id, "ended"]);
        seen[answer.error ? "missed" : "answered"] += 1;
        expected.push([call, status]);
        await waitUntil(() => isOver(anas, call) && isOver(bens, call));
        for (const phone of [anas, bens]) {
          expect(lastOf(phone, call)).toBe(status);
          expect(phone.listEvents(call).filter((event) => ends.includes(event))).toHaveLength(1);
          if (answer.error) expect(phone.listEvents(call)).not.toContain("answered");
        }
      }
      for (const person of [ana, ben]) {
        const lines = await readCallEntries(person, id);
        expect(lines.map(({ body }) => (body.type === "call" ? [body.id, body.status] : []))).toEqual(expected);
      }
    });
    // Both orders must have occurred, otherwise the test proves nothing.
    expect(Math.min(seen.answered, seen.missed)).toBeGreaterThan(0);
  },
  patienceMs,
);

test(
  "two people who call each other at the same moment are always connected, in one call with one entry",
  async () => {
    await withPairs(async () => {
      const { ana, ben, id, anas, bens } = await makeCallers();
      const made: string[] = [];
      for (let round = 0; round < roundsOfPair; round++) {
        const [one, other] = [createUuid(), createUuid()];
        const outcomes = await Promise.all([anas.dial(one), bens.dial(other)]);
        const ids = new Set(outcomes.map(({ call }) => call?.call_id));
        expect(ids.size, JSON.stringify(outcomes)).toBe(1);
        const [call = ""] = [...ids] as string[];
        made.push(call);
        await Promise.all([anas.waitForEvent(call, "answered"), bens.waitForEvent(call, "answered")]);
        const finished = await Promise.all([anas.hangUp(call, "ended"), bens.hangUp(call, "ended")]);
        expect(finished[0].over).toEqual(finished[1].over);
        await waitUntil(() => isOver(anas, call) && isOver(bens, call));
        const unborn = call === one ? other : one;
        expect([...anas.listEvents(unborn), ...bens.listEvents(unborn)]).toEqual([]);
      }
      for (const person of [ana, ben]) {
        const lines = await readCallEntries(person, id);
        expect(lines.map(({ body }) => (body.type === "call" ? body.id : ""))).toEqual(made);
      }
    });
  },
  patienceMs,
);

test("after random actions of two people with two devices each, events, log and answers agree", async () => {
  const random = makeRandom(11);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (let pair = 0; pair < 6; pair++) {
    const { ana, ben, id, anas, bens } = await makeCallers();
    const more = await Promise.all([ana, ben].map((person) => CallClient.open(person, id)));
    const phones = [anas, bens, ...more];
    const calls: string[] = [];
    for (let step = 0; step < 15; step++) {
      await Promise.all(
        phones.map((phone) => {
          const call = calls.at(-1) ?? "";
          const action = pick(["dial", "answer", "answer", "hangUp", "nothing"]);
          if (action === "dial" && random() < 0.5) {
            const fresh = createUuid();
            calls.push(fresh);
            return phone.dial(fresh);
          }
          if (action === "answer" && call) return phone.answer(call);
          if (action === "hangUp" && call)
            return phone.hangUp(call, pick(["missed", "rejected", "cancelled", "ended"]));
          return undefined;
        }),
      );
      if (random() < 0.2) await evictConversation(id);
      if (random() < 0.2) await runAlarm(id);
    }
    // A call that is still open is ended by whoever may end it.
    for (const call of calls) for (const phone of phones) await phone.hangUp(call, "ended");
    const lines = await readCallEntries(ana, id);
    expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual(lines.map(({ body }) => body));
    const ended = new Map(lines.map(({ body }) => (body.type === "call" ? [body.id, body.status] : ["", ""])));
    expect(ended.size).toBe(lines.length);
    await waitUntil(() =>
      phones.every((phone) => [...ended].every(([call, status]) => lastOf(phone, call) === status)),
    );
    for (const phone of phones) {
      for (const call of new Set(phone.received.map(({ data }) => data.call_id))) {
        expect(phone.listEvents(call).filter((event) => ends.includes(event))).toEqual([ended.get(call)]);
        expect(phone.listEvents(call).filter((event) => event === "ring").length).toBeLessThanOrEqual(1);
      }
    }
  }
});
