import * as v from "valibot";
import type { CallLink } from "#calls/link.ts";
import { CallReason, CallStatus, Device } from "#contract/calls/call.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { callSilentMaxMs } from "#contract/limits.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isWorthRetry } from "#sync/platform/sync-error.ts";
import { askOnce } from "./request-retry.ts";

const End = v.object({
  conversation: ConversationId,
  call: Uuid,
  device: Device,
  status: CallStatus,
  reason: v.optional(CallReason),
  at: v.number(),
});
type End = v.InferOutput<typeof End>;

const prefix = "call-end:";
const tellsFromMs = 1_000; // sooner than that it is as if it were told at once
const staleMs = 2 * callSilentMaxMs; // the server has ended such a call by itself

/**
 * The ends of calls that the server is still to be told. They are kept, so that one is told also when the network was
 * away and the page has gone meanwhile.
 */
export class Ends {
  readonly #link: CallLink;
  readonly #retry: Retry;
  readonly #untold = new Map<Uuid, End>();
  /** What has to be settled before: a call is not ended before it was begun. */
  readonly #after = new Map<Uuid, Promise<unknown>>();
  #idle: (() => void)[] = [];

  constructor(link: CallLink) {
    this.#link = link;
    this.#retry = new Retry(link.platform as ConstructorParameters<typeof Retry>[0], () => this.#send());
  }

  /** Takes up what pages before this one could not tell. */
  async load(): Promise<void> {
    await this.#takeUp();
    if (this.#untold.size > 0) this.#retry.want();
  }

  async #takeUp(): Promise<void> {
    for (const value of await this.#link.memory.all(prefix)) {
      const end = v.safeParse(End, value);
      if (end.success && !this.#untold.has(end.output.call)) this.#untold.set(end.output.call, end.output);
    }
  }

  /** Of a call that is ended here the server may still say that it is under way. */
  has(call: Uuid): boolean {
    return this.#untold.has(call);
  }

  /** `at`: when it was over, where that was before. */
  add(end: Omit<End, "at"> & { at?: number }, after?: Promise<unknown>): void {
    const kept: End = { at: this.#link.platform.now(), ...end };
    this.#untold.set(end.call, kept);
    if (after) this.#after.set(end.call, after);
    this.#link.memory.put(prefix + end.call, kept).catch(() => undefined); // told from memory then
    this.#retry.hurry();
  }

  /** The server may be reached again: also by this tab, where another one that has gone could not tell it. */
  hurry(): void {
    void this.#takeUp()
      .catch(() => undefined) // told from memory then
      .then(() => this.#untold.size > 0 && this.#retry.hurry());
  }

  /** Resolves once nothing is left to be told. */
  told(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#untold.size === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  stop(): void {
    this.#retry.stop();
  }

  async #send(): Promise<"done" | "retry"> {
    const outcomes = await Promise.all([...this.#untold.values()].map((end) => this.#tell(end)));
    if (this.#untold.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    return outcomes.every((isTold) => isTold) ? "done" : "retry";
  }

  async #tell(end: End): Promise<boolean> {
    const { at, ...asked } = end;
    await this.#after.get(end.call);
    const sinceMs = Math.max(0, this.#link.platform.now() - at);
    const isStale = sinceMs > staleMs;
    const ago = sinceMs < tellsFromMs ? {} : { ago: sinceMs };
    const outcome = isStale
      ? true
      : await askOnce(this.#link, () => this.#link.ask({ type: "hangUp", ...asked, ...ago })).then(
          // How it ended is news to everybody here.
          ({ call, over }) => {
            const { call_id, conversation } = call;
            if (over) this.#link.news.tell({ event_type: over.status, data: { call_id, conversation, ...over } });
            return true;
          },
          (error: unknown) => !isWorthRetry(asSyncError(error)),
        );
    if (!outcome) return false;
    this.#untold.delete(end.call);
    this.#after.delete(end.call);
    await this.#link.memory.delete(prefix + end.call).catch(() => undefined);
    return true;
  }
}
