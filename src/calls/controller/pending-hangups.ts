import * as v from "valibot";
import type { CallSyncPort } from "#calls/sync-port.ts";
import { CallStatus, DeviceId, ReportedReason } from "#contract/calls/call.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { callSilentMaxMs } from "#contract/limits/calls.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import { publishCallEnd } from "./call-result.ts";
import { requestOnce } from "./request-retry.ts";

const PendingHangup = v.object({
  conversation: ConversationId,
  call: Uuid,
  device: DeviceId,
  status: CallStatus,
  reason: v.optional(ReportedReason),
  at: v.number(),
});
type PendingHangup = v.InferOutput<typeof PendingHangup>;

const keyPrefix = "call-end:";
const agoMinMs = 1_000; // a shorter delay is not reported to the server
const staleMs = 2 * callSilentMaxMs; // by then the server has ended the call by itself

/**
 * Call ends that the server has not confirmed. They are stored, so that a later page reports an end that this one could
 * not.
 */
export class PendingHangups {
  readonly #sync: CallSyncPort;
  readonly #retry: Retry;
  readonly #pending = new Map<Uuid, PendingHangup>();
  /** Dialling that must settle first: the end of a call is not sent before its beginning. */
  readonly #prerequisites = new Map<Uuid, Promise<unknown>>();
  #idleWaiters: (() => void)[] = [];

  constructor(sync: CallSyncPort) {
    this.#sync = sync;
    this.#retry = new Retry(sync.platform as ConstructorParameters<typeof Retry>[0], () => this.#sendAll());
  }

  /** Loads the ends that earlier pages could not report. */
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

  /** Whether the call has ended here, although the server may still list it as active. */
  has(call: Uuid): boolean {
    return this.#pending.has(call);
  }

  /** Adds the end of a call. `at`: when it ended, if earlier than now. `after`: must settle before it is sent. */
  add(end: Omit<PendingHangup, "at"> & { at?: number }, after?: Promise<unknown>): void {
    const stored: PendingHangup = { at: this.#sync.platform.now(), ...end };
    this.#pending.set(end.call, stored);
    if (after) this.#prerequisites.set(end.call, after);
    this.#sync.storage.put(keyPrefix + end.call, stored).catch(() => undefined); // then it is sent from memory only
    this.#retry.runNow();
  }

  /** Sends now, because the server may be reachable again. Includes ends of closed tabs. */
  sendNow(): void {
    void this.#loadStored()
      .catch(() => undefined) // then it is sent from memory only
      .then(() => this.#pending.size > 0 && this.#retry.runNow());
  }

  /** Resolves once every end is reported. */
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
    return outcomes.every((isSent) => isSent) ? "done" : "retry";
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
          ({ call, over }) => {
            if (over) publishCallEnd(this.#sync, call, over);
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
