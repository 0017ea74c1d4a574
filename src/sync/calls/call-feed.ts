import type { Call, CallFrame } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/**
 * What is told of calls: something that happened, or all that are under way, by the server's clock. `taken` is from
 * another tab of this browser: it has answered or refused that call, and nobody else here needs to ring.
 */
export type CallNews =
  | CallFrame["payload"]
  | { event_type: "standing"; calls: Call[]; now: number }
  | { event_type: "taken"; data: { call_id: Uuid } };

/** Which call something is told of: its id alone may be another's, in another conversation. */
type Place = { call_id: Uuid; conversation: ConversationId };
const keyOf = ({ call_id, conversation }: Place): string => `${conversation} ${call_id}`;

type Listener = (news: CallNews) => void;

const rememberMs = 120_000; // nothing that comes later than this speaks of a call that ended before

/** What this tab hears of calls: keeps those that are under way, and hands on whatever is told. */
export class CallWire {
  /** Those of this person that are under way, as far as is known here. */
  readonly open = new Observable<readonly Call[]>([]);
  readonly #now: () => number;
  readonly #listeners = new Set<Listener>();
  readonly #over = new Map<string, number>();
  /** By how much the server's clock is ahead of this device's. */
  #ahead: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The server's clock, as far as it was told. */
  now(): number {
    return this.#now() + (this.#ahead ?? 0);
  }

  /** A time of the server's by this device's clock. */
  here(time: number): number {
    return time - (this.#ahead ?? 0);
  }

  /** The server said what time it is, in an answer that was asked for at `askedAt` of this device's clock. */
  setClock(now: number, askedAt?: number): void {
    const heardAt = this.#now();
    this.#ahead = now - (askedAt === undefined ? heardAt : (askedAt + heardAt) / 2);
  }

  /** How it stands, for a tab that has just been opened; undefined when this one has not heard itself. */
  standing(): CallNews | undefined {
    if (this.#ahead === undefined) return undefined;
    return { event_type: "standing", calls: [...this.open.get()], now: this.now() };
  }

  tell(news: CallNews): void {
    if (!this.#take(news)) return;
    for (const listener of [...this.#listeners]) listener(news);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** False when it is old: of a call that is known to be over. */
  #take(news: CallNews): boolean {
    const open = this.open.get();
    switch (news.event_type) {
      case "signal":
      case "taken":
        return true;
      case "standing":
        this.setClock(news.now);
        this.open.set(news.calls.filter((call) => !this.#isOver(call)));
        return true;
      case "ring":
      case "answered": {
        const call = news.data;
        const known = open.find((one) => keyOf(one) === keyOf(call));
        if (this.#isOver(call)) return false;
        if (known && known.answered_at !== null && call.answered_at === null) return false;
        this.open.set([...open.filter((one) => one !== known), call]);
        return true;
      }
      default:
        this.#over.set(keyOf(news.data), this.#now());
        this.open.set(open.filter((call) => keyOf(call) !== keyOf(news.data)));
        return true;
    }
  }

  #isOver(place: Place): boolean {
    for (const [ended, at] of this.#over) if (this.#now() - at > rememberMs) this.#over.delete(ended);
    return this.#over.has(keyOf(place));
  }
}
