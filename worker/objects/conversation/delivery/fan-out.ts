import { fanOutAlarmMs, fanOutAtOnce, fanOutRetryMaxMs, retryBaseMs } from "#contract/limits.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import { jitterMs } from "#worker/objects/shared/retry.ts";

// Pushed again after a crash; what a channel has of them it drops
const recoverMessages = 50;
const recoverRevisions = 20;
const answerConfirmMs = 1_000; // how long a channel has to show that it took in an answer before the alarm tells it again
const bestEffortMax = 64;
const retryWaitMs = 10_000; // how long the alarm waits for what is under way

/** What a member's channel has: messages up to the head, changes to them up to the revision. */
export type DeliveryProgress = { head: number; revision: number };

type MemberDelivery = {
  /** What the member's channel is known to have. */
  delivered: DeliveryProgress;
  isWaiting: boolean;
  isUnderWay: boolean;
  /** It goes before all others. */
  isUrgent: boolean;
  /** The next notice counts everything anew instead of going on from `told`. */
  needsCount: boolean;
  /** When its channel got the newest it has not confirmed, in an answer or told and held; undefined when there is none. */
  answeredAt: number | undefined;
  failures: number;
  retryAt: number;
  /** Who waits for the member's channel to know everything there is. */
  waiters: (() => void)[];
};

/** Whether a lane may be tried again: its time has come, or is further ahead than it was ever set, by a clock that was set back. */
const isDue = ({ retryAt }: MemberDelivery, now = Date.now()): boolean =>
  retryAt <= now || retryAt > now + fanOutRetryMaxMs;

const maxProgress = (a: DeliveryProgress, b: DeliveryProgress): DeliveryProgress => ({
  head: Math.max(a.head, b.head),
  revision: Math.max(a.revision, b.revision),
});

/** Waits for something, but not too long. A timer that is left behind would keep the object awake for nothing. */
const waitAtMost = async (ms: number, work: Promise<void>): Promise<void> => {
  const isDone = new AbortController();
  const wait = scheduler.wait(ms, { signal: isDone.signal }).catch(() => {});
  await Promise.race([work, wait]);
  isDone.abort();
};

type FanOutPorts = {
  /** What there is for a member to know. */
  progressOf(member: number): DeliveryProgress;
  /**
   * Tells a member's channel where it stands now, going on from `told` or, when exact, from nothing. False when the
   * channel may forget it once more.
   */
  notify(member: number, delivered: DeliveryProgress, needsCount: boolean): Promise<boolean>;
  /** Something failed and is to be tried again at this time, by alarm. */
  onFailure(retryAt: number): void;
};

/**
 * Tells the members' channels what is new: one notice to a member at a time, what happens meanwhile in the
 * next one, and `fanOutAtOnce` under way over all members. What fails waits for the alarm.
 */
export class FanOut {
  readonly #ports: FanOutPorts;
  readonly #confirmed: ReadonlyMap<number, DeliveryProgress>;
  readonly #deliveries = new Map<number, MemberDelivery>();
  /** Members whose turn it is next, in the order they came: before the others those who must know soon. */
  readonly #urgent = new Set<number>();
  readonly #queue = new Set<number>();
  readonly #bestEffortCalls: (() => Promise<void>)[] = [];
  #running = 0;
  #idle: (() => void)[] = [];

  /** `confirmed` is what each member's channel is taken to know. */
  constructor(ports: FanOutPorts, confirmed: ReadonlyMap<number, DeliveryProgress>) {
    this.#ports = ports;
    this.#confirmed = confirmed;
  }

  /** There is something to tell. */
  schedule(member: number, needsCount = false): void {
    const delivery = this.#deliveryOf(member);
    if (needsCount) delivery.needsCount = true;
    if (delivery.isWaiting) return;
    delivery.isWaiting = true;
    if (!delivery.isUnderWay && isDue(delivery)) this.#enqueue(member, delivery);
  }

  /** There is something to tell that does not wait until all others have had their turn. */
  scheduleUrgent(member: number, needsCount = false): void {
    const delivery = this.#deliveryOf(member);
    delivery.isUrgent = true;
    if (this.#queue.delete(member)) this.#urgent.add(member);
    this.schedule(member, needsCount);
  }

  /** The member's channel has it without having written it. When it does not show in time that it has, it is told. */
  markAnswered(member: number, now = Date.now()): void {
    this.#deliveryOf(member).answeredAt = now;
  }

  /** Whom an earlier instance told what is not known: everybody is told anew, from a little way back. */
  recover(members: readonly number[]): void {
    for (const member of members) {
      const delivery = this.#deliveryOf(member);
      const { head, revision } = this.#ports.progressOf(member);
      delivery.delivered = {
        head: Math.max(0, Math.min(delivery.delivered.head, head - recoverMessages)),
        revision: Math.max(0, Math.min(delivery.delivered.revision, revision - recoverRevisions)),
      };
      this.schedule(member, true);
    }
  }

  /** The member's channel has nothing of the conversation as it is now. */
  resetProgress(member: number): void {
    this.#deliveryOf(member).delivered = { head: 0, revision: 0 };
  }

  /** The member's channel has this much: it said so, or was told another way. */
  confirm(member: number, delivered: DeliveryProgress): void {
    const delivery = this.#deliveryOf(member);
    delivery.delivered = maxProgress(delivery.delivered, delivered);
    const target = this.#ports.progressOf(member);
    if (delivery.delivered.head >= target.head && delivery.delivered.revision >= target.revision)
      delivery.answeredAt = undefined;
  }

  /** Resolves when the member's channel knows everything there is, or when that takes too long. */
  async waitUntilDelivered(member: number): Promise<void> {
    const delivery = this.#deliveryOf(member);
    if (!delivery.isWaiting && !delivery.isUnderWay) return;
    const isSettled = new Promise<void>((resolve) => delivery.waiters.push(resolve));
    await waitAtMost(answerConfirmMs, isSettled);
  }

  /** Calls that may be lost: made where nothing else waits for its turn, and not at all when too many do. */
  runBestEffort(calls: readonly (() => Promise<void>)[]): void {
    if (this.#bestEffortCalls.length + calls.length > bestEffortMax) return;
    this.#bestEffortCalls.push(...calls);
    this.#pump();
  }

  /** Tries again what is due. Resolves when nothing is under way any more, or when that takes too long. */
  async retryDue(now = Date.now()): Promise<void> {
    for (const [member, delivery] of this.#deliveries) {
      if (delivery.answeredAt !== undefined && delivery.answeredAt + answerConfirmMs <= now) delivery.isWaiting = true;
      if (delivery.isWaiting && !delivery.isUnderWay && isDue(delivery, now)) this.#enqueue(member, delivery);
    }
    if (this.#running === 0) return;
    const isIdle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await waitAtMost(retryWaitMs, isIdle);
  }

  /** When to look again, undefined when everything is confirmed. */
  nextRetryAt(now = Date.now()): number | undefined {
    const times = [...this.#deliveries.values()].flatMap((delivery) => {
      if (delivery.isUnderWay) return [now + fanOutAlarmMs];
      if (delivery.isWaiting) return [delivery.retryAt];
      return delivery.answeredAt === undefined ? [] : [delivery.answeredAt + fanOutAlarmMs];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #deliveryOf(member: number): MemberDelivery {
    const existing = this.#deliveries.get(member);
    if (existing) return existing;
    const delivery: MemberDelivery = {
      delivered: this.#confirmed.get(member) ?? { head: 0, revision: 0 },
      isWaiting: false,
      isUnderWay: false,
      isUrgent: false,
      needsCount: false,
      answeredAt: undefined,
      failures: 0,
      retryAt: 0,
      waiters: [],
    };
    this.#deliveries.set(member, delivery);
    return delivery;
  }

  #enqueue(member: number, { isUrgent }: MemberDelivery): void {
    (isUrgent ? this.#urgent : this.#queue).add(member);
    this.#pump();
  }

  #pump(): void {
    while (this.#running < fanOutAtOnce) {
      const [member] = this.#urgent.size > 0 ? this.#urgent : this.#queue;
      const call = member === undefined ? this.#bestEffortCalls.shift() : undefined;
      if (member === undefined && !call) return;
      this.#running += 1;
      if (call) void this.#runBestEffort(call);
      else if (member !== undefined) {
        this.#urgent.delete(member);
        this.#queue.delete(member);
        void this.#deliver(member, this.#deliveryOf(member));
      }
    }
  }

  async #runBestEffort(call: () => Promise<void>): Promise<void> {
    await call().catch((error: unknown) => logWarning("what may be lost was lost", error));
    this.#finish();
  }

  #finish(): void {
    this.#running -= 1;
    this.#pump();
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #deliver(member: number, delivery: MemberDelivery): Promise<void> {
    const target = this.#ports.progressOf(member);
    const { needsCount } = delivery;
    Object.assign(delivery, { isWaiting: false, isUnderWay: true, isUrgent: false, needsCount: false });
    try {
      const isWritten = await this.#ports.notify(member, delivery.delivered, needsCount);
      this.confirm(member, target);
      if (!isWritten) this.markAnswered(member);
      Object.assign(delivery, { failures: 0, retryAt: 0 });
    } catch (error) {
      logError("a notice was not confirmed", error);
      delivery.failures += 1;
      delivery.retryAt = Date.now() + jitterMs(delivery.failures, retryBaseMs, fanOutRetryMaxMs);
      // It may have arrived all the same, so that `told` is no longer sure.
      Object.assign(delivery, { isWaiting: true, needsCount: true });
      this.#ports.onFailure(delivery.retryAt);
    }
    delivery.isUnderWay = false;
    if (!delivery.isWaiting) for (const resolve of delivery.waiters.splice(0)) resolve();
    if (delivery.isWaiting && isDue(delivery)) (delivery.isUrgent ? this.#urgent : this.#queue).add(member);
    this.#finish();
  }
}
