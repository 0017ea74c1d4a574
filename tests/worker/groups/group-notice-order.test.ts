import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { type Command, isRefusal } from "#contract/wire/commands.ts";
import { makeText, waitUntil } from "#tests/worker/support/device.ts";
import { GroupOracle, readMembers } from "#tests/worker/support/group-oracle.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";
import type { GroupCommand } from "#worker/objects/rpc/groups.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

const steps = 150;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Notices that are lost, duplicated, or late and assumed lost. */
const disturb = (roll: () => number) => {
  const { notify } = UserChannel.prototype;
  return vi.spyOn(UserChannel.prototype, "notify").mockImplementation(async function (this: UserChannel, notice) {
    const fate = roll();
    if (fate < 0.1) throw new Error("lost");
    if (fate < 0.2) {
      void scheduler.wait(Math.floor(roll() * 60)).then(() => notify.call(this, notice));
      throw new Error("late");
    }
    const kept = await notify.call(this, notice);
    if (fate < 0.3) await notify.call(this, notice);
    if (fate > 0.95) throw new Error("done, and nobody knows");
    return kept;
  });
};

const die = (id: Uuid) =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, state) => state.abort("as if the machine had died")).catch(
    () => undefined,
  );

test.each([1, 2, 3])("after random events and losses in a group all members agree in the end (%i)", async (seed) => {
  const roll = makeRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(roll() * list.length)] as T;
  vi.spyOn(console, "error").mockImplementation(() => {});
  const disturbance = disturb(roll);
  const people = Array.from({ length: 6 }, () => createUuid());
  const [ana = "", ...others] = people;
  const id = createUuid();
  const made = await getConversationStub(env, id).createGroup(
    ana,
    "Famille",
    others.map((user) => ({ user, isHidden: false })),
  );
  expect(isRefusal(made)).toBe(false);

  const owner = async (): Promise<Uuid> => {
    const seats = await getConversationStub(env, id).listMembers(ana, { since: 0, after: 0 });
    return (isRefusal(seats) ? [] : seats.members).find(({ role }) => role === "owner")?.user ?? ana;
  };
  const change = async (user: Uuid, groupCommand: GroupCommand) =>
    getConversationStub(env, id).runGroupCommand(user, groupCommand);
  const run = (user: Uuid, command: Command) => getUserChannelStub(env, user).execute(command);
  let head = 1;
  let death: Promise<unknown> | undefined;
  const step = async (number: number): Promise<unknown> => {
    const [someone, other, kind] = [pick(people), pick(others), roll()];
    const seq = 1 + Math.floor(roll() * head);
    if (kind < 0.4) {
      head += 2;
      return run(someone, {
        type: "send",
        conversation: id,
        messages: [makeText(`${number} un`), makeText(`${number} deux`)],
      });
    }
    if (kind < 0.6) return run(someone, { type: "mark", conversation: id, delivered: head, read: seq });
    if (kind < 0.65) return run(someone, { type: "deleteForEveryone", conversation: id, seq });
    if (kind < 0.68) return run(other, { type: "clearHistory", conversation: id, upTo: seq, keep: true });
    if (kind < 0.71) {
      death = die(id);
      return death;
    }
    if (kind < 0.75) return change(await owner(), { type: "handOver", user: someone });
    if (kind < 0.78) return change(await owner(), { type: "rename", name: `Famille ${number}` });
    if (kind < 0.82) return change(other, { type: "leave" });
    if (kind < 0.9) return change(await owner(), { type: "remove", user: other });
    return change(await owner(), { type: "add", people: [{ user: other, isHidden: false }] });
  };
  const underWay: Promise<unknown>[] = [];
  for (let number = 0; number < steps; number++) {
    const done = step(number).catch(() => undefined);
    if (roll() < 0.5) await done;
    else underWay.push(done);
    if (roll() >= 0.1) continue;
    // A manually run alarm is removed first, so an error in it would lose it. A real alarm would be retried.
    await death;
    await runDurableObjectAlarm(env.CONVERSATION.getByName(id)).catch(() => undefined);
  }
  await Promise.all(underWay);
  disturbance.mockRestore();
  // All notices and late answers are processed when no alarm is set. While an alarm runs by itself none is set
  // either, so this must hold repeatedly.
  const isThrough = async () => {
    const hasRung = await runDurableObjectAlarm(env.CONVERSATION.getByName(id));
    return !hasRung && (await readMembers(id)).every(({ state }) => state === "in" || state === "out");
  };
  let looks = 0;
  await waitUntil(async () => {
    looks = (await isThrough()) ? looks + 1 : 0;
    return looks > 20;
  }, 60_000);
  const truth = new GroupOracle(id, ana, people.length);
  await truth.checkStored(people);
});
