import type { Call, CallFrame } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/**
 * What is told of calls: something that happened, or all that are under way, by the server's clock. `taken` is from
 * another tab of this browser: it has answered or refused that call, and nobody else here needs to ring.
 */
export type CallFeedEvent =
  | CallFrame["payload"]
  | { event_type: "standing"; calls: Call[]; now: number }
  | { event_type: "taken"; data: { call_id: Uuid } };

/** Which call something is told of: its id alone may be another's, in another conversation. */
type CallReference = { call_id: Uuid; conversation: ConversationId };
const toCallKey = ({ call_id, conversation }: CallReference): string => `${conversation} ${call_id}`;

type CallFeedListener = (news: CallFeedEvent) => void;

const endedCallTtlMs = 120_000; // nothing that comes later than this speaks of a call that ended before

/** What this tab hears of calls: keeps those that are under way, and hands on whatever is told. */
export class CallFeed {
  /** Those of this person that are under way, as far as is known here. */
  readonly activeCalls = new Observable<readonly Call[]>([]);
  readonly #deviceNow: () => number;
  readonly #listeners = new Set<CallFeedListener>();
  readonly #endedCalls = new Map<string, number>();
  /** By how much the server's clock is ahead of this device's. */
  #clockSkewMs: number | undefined;

  constructor(now: () => number) {
    this.#deviceNow = now;
  }

  /** The server's clock, as far as it was told. */
  serverNow(): number {
    return this.#deviceNow() + (this.#clockSkewMs ?? 0);
  }

  /** A time of the server's by this device's clock. */
  toDeviceTime(time: number): number {
    return time - (this.#clockSkewMs ?? 0);
  }

  /** The server said what time it is, in an answer that was asked for at `askedAt` of this device's clock. */
  setServerTime(now: number, askedAt?: number): void {
    const heardAt = this.#deviceNow();
    this.#clockSkewMs = now - (askedAt === undefined ? heardAt : (askedAt + heardAt) / 2);
  }

  /** How it stands, for a tab that has just been opened; undefined when this one has not heard itself. */
  getSnapshot(): CallFeedEvent | undefined {
    if (this.#clockSkewMs === undefined) return undefined;
    return { event_type: "standing", calls: [...this.activeCalls.get()], now: this.serverNow() };
  }

  publish(news: CallFeedEvent): void {
    if (!this.#apply(news)) return;
    for (const listener of [...this.#listeners]) listener(news);
  }

  subscribe(listener: CallFeedListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** False when it is old: of a call that is known to be over. */
  #apply(news: CallFeedEvent): boolean {
    const open = this.activeCalls.get();
    switch (news.event_type) {
      case "signal":
      case "taken":
        return true;
      case "standing":
        this.setServerTime(news.now);
        this.activeCalls.set(news.calls.filter((call) => !this.#hasEnded(call)));
        return true;
      case "ring":
      case "answered": {
        const call = news.data;
        const known = open.find((one) => toCallKey(one) === toCallKey(call));
        if (this.#hasEnded(call)) return false;
        if (known && known.answered_at !== null && call.answered_at === null) return false;
        this.activeCalls.set([...open.filter((one) => one !== known), call]);
        return true;
      }
      default:
        this.#endedCalls.set(toCallKey(news.data), this.#deviceNow());
        this.activeCalls.set(open.filter((call) => toCallKey(call) !== toCallKey(news.data)));
        return true;
    }
  }

  #hasEnded(place: CallReference): boolean {
    for (const [ended, at] of this.#endedCalls)
      if (this.#deviceNow() - at > endedCallTtlMs) this.#endedCalls.delete(ended);
    return this.#endedCalls.has(toCallKey(place));
  }
}
