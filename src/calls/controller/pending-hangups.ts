import * as v from "valibot";
import type { CallSyncPort } from "#calls/link.ts";
import { CallReason, CallStatus, DeviceId } from "#contract/calls/call.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { callSilentMaxMs } from "#contract/limits.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import { requestOnce } from "./request-retry.ts";

const PendingHangup = v.object({
  conversation: ConversationId,
  call: Uuid,
  device: DeviceId,
  status: CallStatus,
  reason: v.optional(CallReason),
  at: v.number(),
});
type PendingHangup = v.InferOutput<typeof PendingHangup>;

const keyPrefix = "call-end:";
const agoMinMs = 1_000; // sooner than that it is as if it were told at once
const staleMs = 2 * callSilentMaxMs; // the server has ended such a call by itself

/**
 * The ends of calls that the server is still to be told. They are kept, so that one is told also when the network was
 * away and the page has gone meanwhile.
 */
export class PendingHangups {
  readonly #sync: CallSyncPort;
  readonly #retry: Retry;
  readonly #pending = new Map<Uuid, PendingHangup>();
  /** What has to be settled before: a call is not ended before it was begun. */
  readonly #prerequisites = new Map<Uuid, Promise<unknown>>();
  #idleWaiters: (() => void)[] = [];

  constructor(link: CallSyncPort) {
    this.#sync = link;
    this.#retry = new Retry(link.platform as ConstructorParameters<typeof Retry>[0], () => this.#sendAll());
  }

  /** Takes up what pages before this one could not tell. */
  async load(): Promise<void> {
    await this.#loadStored();
    if (this.#pending.size > 0) this.#retry.schedule();
  }

  async #loadStored(): Promise<void> {
    for (const value of await this.#sync.storage.listByPrefix(keyPrefix)) {
      const end = v.safeParse(PendingHangup, value);
      if (end.success && !this.#pending.has(end.output.call)) this.#pending.set(end.output.call, end.output);
    }
  }

  /** Of a call that is ended here the server may still say that it is under way. */
  has(call: Uuid): boolean {
    return this.#pending.has(call);
  }

  /** `at`: when it was over, where that was before. */
  add(end: Omit<PendingHangup, "at"> & { at?: number }, after?: Promise<unknown>): void {
    const kept: PendingHangup = { at: this.#sync.platform.now(), ...end };
    this.#pending.set(end.call, kept);
    if (after) this.#prerequisites.set(end.call, after);
    this.#sync.storage.put(keyPrefix + end.call, kept).catch(() => undefined); // told from memory then
    this.#retry.runNow();
  }

  /** The server may be reached again: also by this tab, where another one that has gone could not tell it. */
  sendNow(): void {
    void this.#loadStored()
      .catch(() => undefined) // told from memory then
      .then(() => this.#pending.size > 0 && this.#retry.runNow());
  }

  /** Resolves once nothing is left to be told. */
  waitUntilSent(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#pending.size === 0) resolve();
      else this.#idleWaiters.push(resolve);
    });
  }

  stop(): void {
    this.#retry.stop();
  }

  async #sendAll(): Promise<"done" | "retry"> {
    const outcomes = await Promise.all([...this.#pending.values()].map((end) => this.#send(end)));
    if (this.#pending.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
    return outcomes.every((isTold) => isTold) ? "done" : "retry";
  }

  async #send(end: PendingHangup): Promise<boolean> {
    const { at, ...asked } = end;
    await this.#prerequisites.get(end.call);
    const sinceMs = Math.max(0, this.#sync.platform.now() - at);
    const isStale = sinceMs > staleMs;
    const ago = sinceMs < agoMinMs ? {} : { ago: sinceMs };
    const outcome = isStale
      ? true
      : await requestOnce(this.#sync, () => this.#sync.request({ type: "hangUp", ...asked, ...ago })).then(
          // How it ended is news to everybody here.
          ({ call, over }) => {
            const { call_id, conversation } = call;
            if (over) this.#sync.feed.publish({ event_type: over.status, data: { call_id, conversation, ...over } });
            return true;
          },
          (error: unknown) => !isRetryableFailure(asSyncError(error)),
        );
    if (!outcome) return false;
    this.#pending.delete(end.call);
    this.#prerequisites.delete(end.call);
    await this.#sync.storage.delete(keyPrefix + end.call).catch(() => undefined);
    return true;
  }
}
