import { fanOutAlarmMs, fanOutAtOnce, fanOutRetryMaxMs, retryBaseMs } from "#contract/limits/delivery.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import type { NoticeOutcome } from "#worker/objects/rpc/notices.ts";
import { jitterMs } from "#worker/objects/shared/retry.ts";
import { waitAtMost } from "#worker/objects/shared/wait-at-most.ts";

// Pushed again after a crash; channels ignore what they already have.
const recoverMessages = 50;
const recoverRevisions = 20;
const answerConfirmMs = 1_000; // time for a channel to confirm an answer before the alarm notifies it again
const bestEffortMax = 64;
const retryWaitMs = 10_000; // time the alarm waits for running calls

/** Delivery progress of one member: last delivered message (`head`) and last delivered edit (`revision`). */
export type DeliveryProgress = { head: number; revision: number };

type MemberDelivery = {
  /** Confirmed progress of the member's channel. */
  delivered: DeliveryProgress;
  isWaiting: boolean;
  isRunning: boolean;
  /** Whether the member is served before the others. */
  isUrgent: boolean;
  /** Whether the next notice includes an exact unread count. */
  needsCount: boolean;
  /** When the channel got its newest unconfirmed state, in an answer or unwritten. Undefined if all is confirmed. */
  answeredAt: number | undefined;
  failures: number;
  retryAt: number;
  /** Callbacks waiting until the channel has everything. */
  waiters: (() => void)[];
};

/**
 * Whether the delivery may be retried: its time has come, or lies further ahead than ever set because the clock was set
 * back.
 */
const isDue = ({ retryAt }: MemberDelivery, now = Date.now()): boolean =>
  retryAt <= now || retryAt > now + fanOutRetryMaxMs;

const maxProgress = (a: DeliveryProgress, b: DeliveryProgress): DeliveryProgress => ({
  head: Math.max(a.head, b.head),
  revision: Math.max(a.revision, b.revision),
});

type FanOutPorts = {
  /** Progress that the member's channel should reach. */
  progressOf(member: number): DeliveryProgress;
  /** Sends a notice with everything after `delivered`. */
  notify(member: number, delivered: DeliveryProgress, needsCount: boolean): Promise<NoticeOutcome>;
  /** Called when a delivery failed and the alarm has to retry it at this time. */
  onFailure(retryAt: number): void;
};

/**
 * Notifies the members' channels of changes. Each member has at most one notice in flight; later changes go into the
 * next one. At most `fanOutAtOnce` calls run over all members. Failed deliveries are retried by the alarm.
 */
export class FanOut {
  readonly #ports: FanOutPorts;
  readonly #confirmed: ReadonlyMap<number, DeliveryProgress>;
  readonly #deliveries = new Map<number, MemberDelivery>();
  /** Members waiting for delivery in order of arrival, urgent ones first. */
  readonly #urgent = new Set<number>();
  readonly #queue = new Set<number>();
  readonly #bestEffortCalls: (() => Promise<void>)[] = [];
  #running = 0;
  #idle: (() => void)[] = [];

  /** `confirmed` is the initial progress of each member's channel. */
  constructor(ports: FanOutPorts, confirmed: ReadonlyMap<number, DeliveryProgress>) {
    this.#ports = ports;
    this.#confirmed = confirmed;
  }

  /** Schedules a notice for a member. */
  schedule(member: number, needsCount = false): void {
    const delivery = this.#deliveryOf(member);
    if (needsCount) delivery.needsCount = true;
    if (delivery.isWaiting) return;
    delivery.isWaiting = true;
    if (!delivery.isRunning && isDue(delivery)) this.#enqueue(member, delivery);
  }

  /** Schedules a notice ahead of the other members. */
  scheduleUrgent(member: number, needsCount = false): void {
    const delivery = this.#deliveryOf(member);
    delivery.isUrgent = true;
    if (this.#queue.delete(member)) this.#urgent.add(member);
    this.schedule(member, needsCount);
  }

  /**
   * Records that the channel got the state in an answer without having written it. If it does not confirm in time, it
   * is notified.
   */
  markAnswered(member: number, now = Date.now()): void {
    this.#deliveryOf(member).answeredAt = now;
  }

  /**
   * Notifies all members again, starting a little before the head, because the deliveries of the previous instance are
   * unknown.
   */
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

  /** Forgets the member's progress: their channel has nothing of the current log. */
  resetProgress(member: number): void {
    this.#deliveryOf(member).delivered = { head: 0, revision: 0 };
  }

  /** Records the progress confirmed by a member's channel. */
  confirm(member: number, delivered: DeliveryProgress): void {
    const delivery = this.#deliveryOf(member);
    delivery.delivered = maxProgress(delivery.delivered, delivered);
    const target = this.#ports.progressOf(member);
    if (delivery.delivered.head >= target.head && delivery.delivered.revision >= target.revision)
      delivery.answeredAt = undefined;
  }

  /** Whether a change of stored messages has not been delivered to the member's channel and is not scheduled either. */
  isBehind(member: number): boolean {
    const { delivered, isWaiting } = this.#deliveryOf(member);
    return !isWaiting && delivered.revision < this.#ports.progressOf(member).revision;
  }

  /** Resolves when the member's channel has everything, or after a time limit. */
  async waitUntilDelivered(member: number): Promise<void> {
    const delivery = this.#deliveryOf(member);
    if (!delivery.isWaiting && !delivery.isRunning) return;
    const isSettled = new Promise<void>((resolve) => delivery.waiters.push(resolve));
    await waitAtMost(answerConfirmMs, isSettled);
  }

  /** Runs calls that may be lost, only while no delivery is waiting. Drops them when too many are queued. */
  runBestEffort(calls: readonly (() => Promise<void>)[]): void {
    if (this.#bestEffortCalls.length + calls.length > bestEffortMax) return;
    this.#bestEffortCalls.push(...calls);
    this.#pump();
  }

  /** Retries due deliveries. Resolves when no call is running, or after a time limit. */
  async retryDue(now = Date.now()): Promise<void> {
    for (const [member, delivery] of this.#deliveries) {
      if (delivery.answeredAt !== undefined && delivery.answeredAt + answerConfirmMs <= now) delivery.isWaiting = true;
      if (delivery.isWaiting && !delivery.isRunning && isDue(delivery, now)) this.#enqueue(member, delivery);
    }
    if (this.#running === 0) return;
    const isIdle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await waitAtMost(retryWaitMs, isIdle);
  }

  /** Time of the next retry, undefined if everything is confirmed. */
  nextRetryAt(now = Date.now()): number | undefined {
    const times = [...this.#deliveries.values()].flatMap((delivery) => {
      if (delivery.isRunning) return [now + fanOutAlarmMs];
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
      isRunning: false,
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
    await call().catch((error: unknown) => logWarning("a best-effort call failed", error));
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
    Object.assign(delivery, { isWaiting: false, isRunning: true, isUrgent: false, needsCount: false });
    try {
      const outcome = await this.#ports.notify(member, delivery.delivered, needsCount);
      if (outcome !== "pushing") this.confirm(member, target);
      if (outcome !== "written") this.markAnswered(member);
      Object.assign(delivery, { failures: 0, retryAt: 0 });
    } catch (error) {
      logError("delivering a notice failed", error);
      delivery.failures += 1;
      delivery.retryAt = Date.now() + jitterMs(delivery.failures, retryBaseMs, fanOutRetryMaxMs);
      // The notice may have arrived all the same, so the unread count has to be exact.
      Object.assign(delivery, { isWaiting: true, needsCount: true });
      this.#ports.onFailure(delivery.retryAt);
    }
    delivery.isRunning = false;
    if (!delivery.isWaiting) for (const resolve of delivery.waiters.splice(0)) resolve();
    if (delivery.isWaiting && isDue(delivery)) (delivery.isUrgent ? this.#urgent : this.#queue).add(member);
    this.#finish();
  }
}
