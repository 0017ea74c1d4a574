import type { Call, CallFrame } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/**
 * Event of the call feed: a frame of the server, a snapshot of all active calls ("standing", `now` by the server's
 * clock), or "taken": another tab of this browser accepted or rejected the call, so that this tab stops ringing.
 */
export type CallFeedEvent =
  | CallFrame["payload"]
  | { event_type: "standing"; calls: Call[]; now: number }
  | { event_type: "taken"; data: { call_id: Uuid } };

/** Key of a call. Its id alone is not unique: a call of another conversation may have the same. */
type CallReference = { call_id: Uuid; conversation: ConversationId };
const toCallKey = ({ call_id, conversation }: CallReference): string => `${conversation} ${call_id}`;

type CallFeedListener = (event: CallFeedEvent) => void;

const endedCallTtlMs = 120_000; // no late event of an ended call arrives after this time

/** Active calls of the person as this tab knows them. Publishes each new call event to its subscribers. */
export class CallFeed {
  readonly activeCalls = new Observable<readonly Call[]>([]);
  readonly #deviceNow: () => number;
  readonly #listeners = new Set<CallFeedListener>();
  readonly #endedCalls = new Map<string, number>();
  /** Lead of the server's clock over the device's clock; undefined before the server's time is known. */
  #clockSkewMs: number | undefined;

  constructor(deviceNow: () => number) {
    this.#deviceNow = deviceNow;
  }

  /** Current time of the server's clock in epoch milliseconds; the device's clock before the server's time is known. */
  serverNow(): number {
    return this.#deviceNow() + (this.#clockSkewMs ?? 0);
  }

  /** Converts a time of the server's clock to the device's clock. */
  toDeviceTime(time: number): number {
    return time - (this.#clockSkewMs ?? 0);
  }

  /** Sets the server's time from a push, or from an answer to a request made at `requestedAt` (device time). */
  setServerTime(now: number, requestedAt?: number): void {
    const receivedAt = this.#deviceNow();
    this.#clockSkewMs = now - (requestedAt === undefined ? receivedAt : (requestedAt + receivedAt) / 2);
  }

  /** Snapshot of the active calls for a new tab; undefined before this tab received one. */
  getSnapshot(): CallFeedEvent | undefined {
    if (this.#clockSkewMs === undefined) return undefined;
    return { event_type: "standing", calls: [...this.activeCalls.get()], now: this.serverNow() };
  }

  publish(event: CallFeedEvent): void {
    if (!this.#apply(event)) return;
    for (const listener of [...this.#listeners]) listener(event);
  }

  subscribe(listener: CallFeedListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Updates `activeCalls`. Returns false for a late event of a call that has ended or was already answered. */
  #apply(event: CallFeedEvent): boolean {
    const active = this.activeCalls.get();
    switch (event.event_type) {
      case "signal":
      case "taken":
        return true;
      case "standing":
        this.setServerTime(event.now);
        this.activeCalls.set(event.calls.filter((call) => !this.#hasEnded(call)));
        return true;
      case "ring":
      case "answered": {
        const call = event.data;
        const known = active.find((one) => toCallKey(one) === toCallKey(call));
        if (this.#hasEnded(call)) return false;
        if (known && known.answered_at !== null && call.answered_at === null) return false;
        this.activeCalls.set([...active.filter((one) => one !== known), call]);
        return true;
      }
      default:
        this.#endedCalls.set(toCallKey(event.data), this.#deviceNow());
        this.activeCalls.set(active.filter((call) => toCallKey(call) !== toCallKey(event.data)));
        return true;
    }
  }

  #hasEnded(call: CallReference): boolean {
    for (const [key, endedAt] of this.#endedCalls)
      if (this.#deviceNow() - endedAt > endedCallTtlMs) this.#endedCalls.delete(key);
    return this.#endedCalls.has(toCallKey(call));
  }
}
