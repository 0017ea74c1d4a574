import { fanOutAlarmMs, fanOutAtOnce, fanOutRetryMaxMs, retryBaseMs } from "#contract/limits.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import { jitterMs } from "#worker/objects/shared/retry.ts";

// Pushed again after a crash; what a channel has of them it drops
const recoverMessages = 50;
const recoverRevisions = 20;
const confirmMs = 1_000; // how long a channel has to show that it took in an answer before the alarm tells it again
const asidesMax = 64;
const patienceMs = 10_000; // how long the alarm waits for what is under way

/** What a member's channel has: messages up to the head, changes to them up to the revision. */
export type Told = { head: number; revision: number };

type Lane = {
  /** What the member's channel is known to have. */
  told: Told;
  isWaiting: boolean;
  isUnderWay: boolean;
  /** It goes before all others. */
  isUrgent: boolean;
  /** The next notice counts everything anew instead of going on from `told`. */
  isExact: boolean;
  /** When its channel got the newest it has not confirmed, in an answer or told and held; undefined when there is none. */
  answeredAt: number | undefined;
  failures: number;
  retryAt: number;
  /** Who waits for the member's channel to know everything there is. */
  settled: (() => void)[];
};

/** Whether a lane may be tried again: its time has come, or is further ahead than it was ever set, by a clock that was set back. */
const isDue = ({ retryAt }: Lane, now = Date.now()): boolean => retryAt <= now || retryAt > now + fanOutRetryMaxMs;

const furthest = (a: Told, b: Told): Told => ({
  head: Math.max(a.head, b.head),
  revision: Math.max(a.revision, b.revision),
});

/** Waits for something, but not too long. A timer that is left behind would keep the object awake for nothing. */
const atMost = async (ms: number, work: Promise<void>): Promise<void> => {
  const isDone = new AbortController();
  const wait = scheduler.wait(ms, { signal: isDone.signal }).catch(() => {});
  await Promise.race([work, wait]);
  isDone.abort();
};

type Host = {
  /** What there is for a member to know. */
  standOf(member: number): Told;
  /**
   * Tells a member's channel where it stands now, going on from `told` or, when exact, from nothing. False when the
   * channel may forget it once more.
   */
  tell(member: number, told: Told, isExact: boolean): Promise<boolean>;
  /** Something failed and is to be tried again at this time, by alarm. */
  onFailure(retryAt: number): void;
};

/**
 * Tells the members' channels what is new: one notice to a member at a time, what happens meanwhile in the
 * next one, and `fanOutAtOnce` under way over all members. What fails waits for the alarm.
 */
export class FanOut {
  readonly #host: Host;
  readonly #confirmed: ReadonlyMap<number, Told>;
  readonly #lanes = new Map<number, Lane>();
  /** Members whose turn it is next, in the order they came: before the others those who must know soon. */
  readonly #urgent = new Set<number>();
  readonly #queue = new Set<number>();
  readonly #asides: (() => Promise<void>)[] = [];
  #underWay = 0;
  #idle: (() => void)[] = [];

  /** `confirmed` is what each member's channel is taken to know. */
  constructor(host: Host, confirmed: ReadonlyMap<number, Told>) {
    this.#host = host;
    this.#confirmed = confirmed;
  }

  /** There is something to tell. */
  touch(member: number, isExact = false): void {
    const lane = this.#lane(member);
    if (isExact) lane.isExact = true;
    if (lane.isWaiting) return;
    lane.isWaiting = true;
    if (!lane.isUnderWay && isDue(lane)) this.#enqueue(member, lane);
  }

  /** There is something to tell that does not wait until all others have had their turn. */
  hurry(member: number, isExact = false): void {
    const lane = this.#lane(member);
    lane.isUrgent = true;
    if (this.#queue.delete(member)) this.#urgent.add(member);
    this.touch(member, isExact);
  }

  /** The member's channel has it without having written it. When it does not show in time that it has, it is told. */
  answer(member: number, now = Date.now()): void {
    this.#lane(member).answeredAt = now;
  }

  /** Whom an earlier instance told what is not known: everybody is told anew, from a little way back. */
  recover(members: readonly number[]): void {
    for (const member of members) {
      const lane = this.#lane(member);
      const { head, revision } = this.#host.standOf(member);
      lane.told = {
        head: Math.max(0, Math.min(lane.told.head, head - recoverMessages)),
        revision: Math.max(0, Math.min(lane.told.revision, revision - recoverRevisions)),
      };
      this.touch(member, true);
    }
  }

  /** The member's channel has nothing of the conversation as it is now. */
  forget(member: number): void {
    this.#lane(member).told = { head: 0, revision: 0 };
  }

  /** The member's channel has this much: it said so, or was told another way. */
  told(member: number, told: Told): void {
    const lane = this.#lane(member);
    lane.told = furthest(lane.told, told);
    const stand = this.#host.standOf(member);
    if (lane.told.head >= stand.head && lane.told.revision >= stand.revision) lane.answeredAt = undefined;
  }

  /** Resolves when the member's channel knows everything there is, or when that takes too long. */
  async settled(member: number): Promise<void> {
    const lane = this.#lane(member);
    if (!lane.isWaiting && !lane.isUnderWay) return;
    const isSettled = new Promise<void>((resolve) => lane.settled.push(resolve));
    await atMost(confirmMs, isSettled);
  }

  /** Calls that may be lost: made where nothing else waits for its turn, and not at all when too many do. */
  aside(calls: readonly (() => Promise<void>)[]): void {
    if (this.#asides.length + calls.length > asidesMax) return;
    this.#asides.push(...calls);
    this.#pump();
  }

  /** Tries again what is due. Resolves when nothing is under way any more, or when that takes too long. */
  async retry(now = Date.now()): Promise<void> {
    for (const [member, lane] of this.#lanes) {
      if (lane.answeredAt !== undefined && lane.answeredAt + confirmMs <= now) lane.isWaiting = true;
      if (lane.isWaiting && !lane.isUnderWay && isDue(lane, now)) this.#enqueue(member, lane);
    }
    if (this.#underWay === 0) return;
    const isIdle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await atMost(patienceMs, isIdle);
  }

  /** When to look again, undefined when everything is confirmed. */
  nextRetryAt(now = Date.now()): number | undefined {
    const times = [...this.#lanes.values()].flatMap((lane) => {
      if (lane.isUnderWay) return [now + fanOutAlarmMs];
      if (lane.isWaiting) return [lane.retryAt];
      return lane.answeredAt === undefined ? [] : [lane.answeredAt + fanOutAlarmMs];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #lane(member: number): Lane {
    const known = this.#lanes.get(member);
    if (known) return known;
    const lane: Lane = {
      told: this.#confirmed.get(member) ?? { head: 0, revision: 0 },
      isWaiting: false,
      isUnderWay: false,
      isUrgent: false,
      isExact: false,
      answeredAt: undefined,
      failures: 0,
      retryAt: 0,
      settled: [],
    };
    this.#lanes.set(member, lane);
    return lane;
  }

  #enqueue(member: number, { isUrgent }: Lane): void {
    (isUrgent ? this.#urgent : this.#queue).add(member);
    this.#pump();
  }

  #pump(): void {
    while (this.#underWay < fanOutAtOnce) {
      const [member] = this.#urgent.size > 0 ? this.#urgent : this.#queue;
      const aside = member === undefined ? this.#asides.shift() : undefined;
      if (member === undefined && !aside) return;
      this.#underWay += 1;
      if (aside) void this.#runAside(aside);
      else if (member !== undefined) {
        this.#urgent.delete(member);
        this.#queue.delete(member);
        void this.#run(member, this.#lane(member));
      }
    }
  }

  async #runAside(call: () => Promise<void>): Promise<void> {
    await call().catch((error: unknown) => logWarning("what may be lost was lost", error));
    this.#ended();
  }

  #ended(): void {
    this.#underWay -= 1;
    this.#pump();
    if (this.#underWay === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #run(member: number, lane: Lane): Promise<void> {
    const stand = this.#host.standOf(member);
    const { isExact } = lane;
    Object.assign(lane, { isWaiting: false, isUnderWay: true, isUrgent: false, isExact: false });
    try {
      const isKept = await this.#host.tell(member, lane.told, isExact);
      this.told(member, stand);
      if (!isKept) this.answer(member);
      Object.assign(lane, { failures: 0, retryAt: 0 });
    } catch (error) {
      logError("a notice was not confirmed", error);
      lane.failures += 1;
      lane.retryAt = Date.now() + jitterMs(lane.failures, retryBaseMs, fanOutRetryMaxMs);
      // It may have arrived all the same, so that `told` is no longer sure.
      Object.assign(lane, { isWaiting: true, isExact: true });
      this.#host.onFailure(lane.retryAt);
    }
    lane.isUnderWay = false;
    if (!lane.isWaiting) for (const resolve of lane.settled.splice(0)) resolve();
    if (lane.isWaiting && isDue(lane)) (lane.isUrgent ? this.#urgent : this.#queue).add(member);
    this.#ended();
  }
}
