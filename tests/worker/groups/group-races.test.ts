import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { groupMembersMax } from "#contract/limits/groups.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { makeText } from "#tests/worker/support/device.ts";
import { GroupOracle } from "#tests/worker/support/group-oracle.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";
import type { Conversation } from "#worker/objects/conversation.ts";
import type { GroupCommand } from "#worker/objects/rpc/groups.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";

/**
 * Commands that exclude each other, at the same moment, five hundred times each: one is applied as a whole and the other
 * refused as a whole. Only the objects know these people, so that no round waits for the directory.
 */
vi.setConfig({ testTimeout: 900_000 });

const groupsAtOnce = 4;
const roundsOfEach = 125;
const rounds = groupsAtOnce * roundsOfEach;
/** Each order of two commands must occur at least this often on any machine. */
const rareAtLeast = rounds / 50;

type Dice = ReturnType<typeof makeRandom>;

const newcomer = (user: Uuid, quiet = false) => ({ user, isHidden: quiet });
const newPeople = (count: number) => Array.from({ length: count }, () => createUuid()) as [Uuid, Uuid, Uuid];

type Group = { id: Uuid; change: Change; oracle: GroupOracle };
type Change = (user: Uuid, command: GroupCommand) => Promise<object>;

/**
 * Makes a group of the first of these, and as many members again who are not notified. The test runs inside the group's
 * object, so that calls have no latency and many rounds are possible.
 */
const inGroup = async (
  people: readonly Uuid[],
  { witness, quiet = 0 }: { witness: Uuid; quiet?: number },
  tell: (group: Group) => Promise<void>,
): Promise<GroupOracle> => {
  const [owner = "", ...others] = people;
  const id = createUuid();
  const all = [...others.map((user) => newcomer(user)), ...newPeople(quiet).map((user) => newcomer(user, true))];
  const made = await getConversationStub(env, id).createGroup(owner, "Famille", all);
  if (isRefusal(made)) throw new Error(made.error);
  const oracle = new GroupOracle(id, witness, people.length + quiet);
  const byName = oracle.conversation;
  await runInDurableObject(env.CONVERSATION.getByName(id), async (conversation: Conversation) => {
    oracle.conversation = conversation;
    await tell({ id, change: (user, command) => conversation.runGroupCommand(user, command), oracle });
  });
  oracle.conversation = byName;
  return oracle;
};

const pauseMs = 6; // messages wait up to 4 ms for a group commit

/** Runs commands at the same moment, in a random order and with random pauses. */
const together = async (
  random: Dice,
  calls: readonly (() => Promise<object>)[],
  pauseMaxMs = pauseMs,
): Promise<(object | undefined)[]> => {
  const results: (object | undefined)[] = [];
  const order = calls.map((call, index) => ({ call, index, at: random() })).sort((a, b) => a.at - b.at);
  const run = async ({ call, index, at }: (typeof order)[number]) => {
    if (random() < 0.3) await scheduler.wait(Math.floor(at * pauseMaxMs));
    results[index] = await call();
  };
  await Promise.all(order.map(run));
  return results;
};

const errorOf = (result: object | undefined): string | undefined =>
  result && isRefusal(result) ? result.error : undefined;

/** Runs the same test in several groups concurrently. */
const inGroups = async (tell: (random: Dice) => Promise<void>): Promise<void> => {
  await Promise.all(Array.from({ length: groupsAtOnce }, (_, index) => tell(makeRandom(index + 1))));
};

test("a message sent while its author is being removed is stored before the removal, or refused completely", async () => {
  let stored = 0;
  await inGroups(async (random) => {
    const people = newPeople(2);
    const [ana, ben] = people;
    const oracle = await inGroup(people, { witness: ana }, async ({ id, change, oracle }) => {
      await oracle.check(people);
      // A message takes longer: the slower the machine, the longer the pauses in which it may be first.
      let pauseMaxMs = pauseMs;
      for (let round = 1; round <= roundsOfEach; round++) {
        const sentTexts = [`${round} un`, `${round} deux`];
        const messages = sentTexts.map((one) => makeText(one));
        const calls = [
          () => getUserChannelStub(env, ben).execute({ type: "send", conversation: id, messages }),
          () => change(ana, { type: "remove", user: ben }),
        ];
        const [sent, removed] = await together(random, calls, pauseMaxMs);
        expect(errorOf(removed)).toBeUndefined();
        const found = (await oracle.check(people)).flatMap(({ body }) => (body.type === "text" ? [body.text] : []));
        expect(found).toEqual(errorOf(sent) === "conversation_not_found" ? [] : sentTexts);
        if (found.length > 0) stored += 1;
        pauseMaxMs = found.length > 0 ? Math.max(pauseMs, pauseMaxMs / 1.25) : Math.min(400, pauseMaxMs * 1.05);
        await change(ana, { type: "add", people: [newcomer(ben)] });
      }
    });
    await oracle.checkStored(people);
  });
  expect(stored).toBeGreaterThan(rareAtLeast);
  expect(stored).toBeLessThan(rounds - rareAtLeast);
});

test("if two owners remove each other during a transfer, at least one stays and one is owner", async () => {
  const outcomes = new Map<string, number>();
  await inGroups(async (random) => {
    const people = newPeople(3);
    const oracle = await inGroup(people, { witness: people[2] }, async ({ change, oracle }) => {
      await oracle.check(people);
      let [owner, other] = people;
      for (let round = 1; round <= roundsOfEach; round++) {
        const results = await together(random, [
          () => change(owner, { type: "handOver", user: other }),
          () => change(owner, { type: "remove", user: other }),
          () => change(other, { type: "remove", user: owner }),
        ]);
        await oracle.check(people);
        const outcome = results.map((one) => errorOf(one) ?? "done").join(" ");
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (outcome.startsWith("done")) [owner, other] = [other, owner];
        expect(errorOf(await change(owner, { type: "add", people: [newcomer(other)] }))).toBeUndefined();
      }
    });
    await oracle.checkStored(people);
  });
  const possible = [
    "done group_not_found done", // ownership was transferred, and the new owner was quick
    "done not_allowed done",
    "done not_allowed not_allowed", // the new owner was too early
    "member_not_found done group_not_found", // removed before ownership was transferred
    "member_not_found done not_allowed",
  ];
  expect(possible).toEqual(expect.arrayContaining([...outcomes.keys()]));
  expect(outcomes.size).toBeGreaterThanOrEqual(4);
});

test("if two people are added to the last place at once, one is a member and the other is refused completely", async () => {
  const wins = [0, 0];
  await inGroups(async (random) => {
    const people = newPeople(3);
    const [ana, ...pair] = people;
    const both: GroupCommand = { type: "add", people: pair.map((user) => newcomer(user)) };
    const oracle = await inGroup([ana], { witness: ana, quiet: groupMembersMax - 2 }, async ({ change, oracle }) => {
      await oracle.check(people);
      for (let round = 1; round <= roundsOfEach; round++) {
        const add = (user: Uuid) => () => change(ana, { type: "add", people: [newcomer(user)] });
        const results = await together(random, pair.map(add));
        expect(results.map(errorOf).sort()).toEqual(["group_full", undefined]);
        await oracle.check(people);
        const winner = errorOf(results[0]) === undefined ? 0 : 1;
        wins[winner] = (wins[winner] ?? 0) + 1;
        await change(ana, { type: "remove", user: pair[winner] ?? "" });
        // One free place is not enough for two.
        expect(errorOf(await change(ana, both))).toBe("group_full");
      }
    });
    await oracle.checkStored(people);
  });
  expect(Math.min(...wins)).toBeGreaterThan(rareAtLeast);
});

test("a person removed while being added is a member or not, by the last of the two commands", async () => {
  let stayed = 0;
  await inGroups(async (random) => {
    const people = newPeople(2);
    const [ana, ben] = people;
    const oracle = await inGroup(people, { witness: ana }, async ({ change, oracle }) => {
      await oracle.check(people);
      let isGone = false;
      for (let round = 1; round <= roundsOfEach; round++) {
        const [left, added] = await together(random, [
          () => change(ana, { type: "remove", user: ben }),
          () => change(ana, { type: "add", people: [newcomer(ben)] }),
        ]);
        expect([errorOf(left), errorOf(added)]).toEqual([undefined, undefined]);
        const lines = await oracle.check(people);
        const events = lines.map(({ body }) => (body.type === "event" ? body.event : body.type));
        // The first message after a round in which he was removed is about his return.
        const expected = isGone ? ["added", "removed"] : ["removed"];
        expect([expected, [...expected, "added"]]).toContainEqual(events);
        isGone = events.at(-1) === "removed";
        if (isGone) await change(ana, { type: "add", people: [newcomer(ben)] });
        else stayed += 1;
      }
    });
    await oracle.checkStored(people);
  });
  expect(stayed).toBeGreaterThan(rareAtLeast);
  expect(stayed).toBeLessThan(rounds - rareAtLeast);
});
