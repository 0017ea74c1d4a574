import type { Uuid } from "#contract/ids.ts";
import type { InboundQueue } from "#sync/inbound/inbound-queue.ts";
import { toRowChanges } from "#sync/inbound/server-changes.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { applyCatchUp, readSyncCursor, type SyncCursor } from "#sync/store/sync-cursor.ts";
import type { CallFeedEvent } from "./call-feed.ts";
import { CallPoller } from "./call-polling.ts";
import { requestByHttp } from "./http-transport.ts";

const minIntervalMs = 5_000;
const maxIntervalMs = 60_000;

type HttpPollingEvents = { onReachability(isReachable: boolean): void; onCallEvent(event: CallFeedEvent): void };

/** Polls for changes by HTTP while there is no socket: often while there is activity, rarely otherwise. */
export class HttpPolling {
  readonly #context: SyncContext;
  readonly #inbound: InboundQueue;
  readonly #events: HttpPollingEvents;
  readonly #callPolling: CallPoller;
  #isActive = false;
  #hasAnswer = false;
  #isPolling = false;
  #isScheduled = false;
  #delay = minIntervalMs;
  #cancel = () => {};

  constructor(context: SyncContext, inbound: InboundQueue, events: HttpPollingEvents) {
    this.#context = context;
    this.#inbound = inbound;
    this.#events = events;
    this.#callPolling = new CallPoller(context.platform, {
      onCallEvent: events.onCallEvent,
      onCallGone: () => this.pollNow(),
    });
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  start(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.#hasAnswer = false;
    this.pollNow();
  }

  /** Whether the server has answered since polling started. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  stop(): void {
    this.#isActive = false;
    this.#cancel();
    this.#callPolling.stop();
  }

  /** Polls the signals of a call in progress as well. */
  followCall(call: Uuid): void {
    this.#callPolling.follow(call);
  }

  /** Polls at once: something probably changed, or the device resumed. */
  pollNow(): void {
    this.#callPolling.pollNow();
    if (!this.#isActive) return;
    this.#delay = minIntervalMs;
    this.#isScheduled = true;
    if (!this.#isPolling) void this.#poll();
  }

  async #poll(): Promise<void> {
    this.#cancel();
    this.#isPolling = true;
    while (this.#isActive && this.#isScheduled) {
      this.#isScheduled = false;
      try {
        const hasNews = await this.#fetchChanges();
        this.#delay = hasNews ? minIntervalMs : Math.min(maxIntervalMs, this.#delay * 1.5);
        this.#hasAnswer = true;
        this.#events.onReachability(true);
      } catch {
        this.#delay = Math.min(maxIntervalMs, this.#delay * 2);
        this.#events.onReachability(false);
      }
    }
    this.#isPolling = false;
    if (!this.#isActive) return;
    this.#cancel = this.#context.platform.startTimer(this.#delay, () => {
      this.#isScheduled = true;
      void this.#poll();
    });
  }

  async #fetchChanges(): Promise<boolean> {
    const { platform, store } = this.#context;
    await this.#inbound.waitUntilIdle();
    const cursor = await readSyncCursor(store);
    let result = await requestByHttp(platform, { type: "changes", since: cursor.counter });
    if (result.epoch !== cursor.epoch && cursor.counter > 0)
      result = await requestByHttp(platform, { type: "changes", since: 0 });
    if (!this.#isActive) return false; // a socket took over meanwhile and is ahead
    this.#events.onCallEvent({ event_type: "standing", calls: result.calls, now: result.now });
    for (const { call_id } of result.calls) this.followCall(call_id);
    const now = platform.now();
    const { epoch, counter, since } = result;
    const move = (before: SyncCursor) => applyCatchUp(before, since, result, now);
    const changes = toRowChanges(result);
    this.#inbound.push([{ type: "answer", knownCounter: cursor.counter, epoch, counter, move, changes }]);
    await this.#inbound.waitUntilIdle();
    return result.rows.length > 0 || result.people.length > 0 || result.settings !== null || result.notices.length > 0;
  }
}
