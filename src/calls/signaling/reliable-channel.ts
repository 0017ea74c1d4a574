import { callSignalMaxBytes } from "#contract/limits.ts";
import type { Candidates, SignalFrame, SignalItem } from "./messages.ts";

const resendMs = [1_000, 2_000, 4_000] as const; // the last one again and again
const candidateHoldMs = 80; // candidates are found in bursts
const ackHoldMs = 150; // an answer usually goes at once and carries it
const aheadMax = 64;
const frameRoom = 200; // for what stands around the items

type BoxEvents = {
  post(frame: string): void;
  /** Each item of the other side once, in its order. */
  deliver(item: SignalItem): void;
};

/**
 * A new offer takes the place of those before it, and of the candidates of another generation: over a link that was away
 * they would come first. Their numbers stay.
 */
const isOutdated = (old: SignalItem, next: SignalItem): boolean => {
  if (!("d" in next) || next.d !== "offer") return false;
  if ("d" in old) return old.d === "offer";
  return "u" in old && !next.sdp.includes(`a=ice-ufrag:${old.u}\r\n`);
};

/**
 * What goes between a life of this device and one of the other's, over a server that keeps nothing and may lose, double
 * and turn around: numbered, confirmed in a row, and said again until it is.
 */
export class SignalBox {
  readonly #epoch: number;
  readonly #events: BoxEvents;
  #theirs: number;
  #unconfirmed: SignalItem[] = [];
  #first = 1; // the number of the first of them
  #came = 0;
  readonly #ahead = new Map<number, SignalItem>();
  #candidates: Candidates | undefined;
  #tries = 0;
  #resendTimer: ReturnType<typeof setTimeout> | undefined;
  #ackTimer: ReturnType<typeof setTimeout> | undefined;
  #candidateTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(epoch: number, theirs: number, events: BoxEvents) {
    this.#epoch = epoch;
    this.#theirs = theirs;
    this.#events = events;
  }

  /** Whether the other side has confirmed everything. */
  get isConfirmed(): boolean {
    return this.#unconfirmed.length === 0;
  }

  say(item: SignalItem): void {
    if (this.#isClosed) return;
    this.#unconfirmed = this.#unconfirmed.map((old) => (isOutdated(old, item) ? { hello: 1 } : old));
    this.#unconfirmed.push(item);
    this.#post(this.#first + this.#unconfirmed.length - 1);
    this.#waitForAck();
  }

  /** Candidates of one generation found within a moment go together. */
  sayCandidate(candidate: string, section: string, generation: string): void {
    if (this.#isClosed) return;
    if (this.#candidates && this.#candidates.u !== generation) this.#flushCandidates();
    this.#candidates ??= { u: generation, c: [] };
    this.#candidates.c.push([candidate, section]);
    this.#candidateTimer ??= setTimeout(() => this.#flushCandidates(), candidateHoldMs);
  }

  /** The other's life became known, or is another one: its numbers begin anew. */
  adopt(theirs: number): void {
    this.#theirs = theirs;
    this.#came = 0;
    this.#ahead.clear();
    this.resend();
  }

  hear({ s, a, t, x }: SignalFrame): void {
    if (this.#isClosed) return;
    if (t === this.#epoch) this.#confirm(a);
    for (const [index, item] of x.entries()) {
      const number = s + index;
      if (number > this.#came && number <= this.#came + aheadMax) this.#ahead.set(number, item);
    }
    if (x.length > 0) this.#ackTimer ??= setTimeout(() => this.#post(Number.POSITIVE_INFINITY), ackHoldMs);
    for (let item = this.#ahead.get(this.#came + 1); item; item = this.#ahead.get(this.#came + 1)) {
      this.#came++;
      this.#ahead.delete(this.#came);
      this.#events.deliver(item);
      if (this.#isClosed) return; // what was delivered may have ended this life
    }
  }

  /** Says once more what is not confirmed. */
  resend(): void {
    if (this.#isClosed) return;
    this.#tries = 0;
    if (this.#unconfirmed.length > 0) this.#post(this.#first);
    this.#waitForAck(true);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#resendTimer);
    clearTimeout(this.#ackTimer);
    clearTimeout(this.#candidateTimer);
  }

  #flushCandidates(): void {
    clearTimeout(this.#candidateTimer);
    this.#candidateTimer = undefined;
    const candidates = this.#candidates;
    this.#candidates = undefined;
    if (candidates) this.say(candidates);
  }

  #confirm(upTo: number): void {
    const done = Math.min(upTo - this.#first + 1, this.#unconfirmed.length);
    if (done <= 0) return;
    this.#unconfirmed = this.#unconfirmed.slice(done);
    this.#first += done;
    this.#tries = 0;
    this.#waitForAck(true);
  }

  #waitForAck(isAnew = false): void {
    if (isAnew || this.#unconfirmed.length === 0) {
      clearTimeout(this.#resendTimer);
      this.#resendTimer = undefined;
    }
    if (this.#unconfirmed.length === 0) return;
    this.#resendTimer ??= setTimeout(
      () => {
        this.#resendTimer = undefined;
        this.#tries++;
        this.#post(this.#first);
        this.#waitForAck();
      },
      resendMs[Math.min(this.#tries, resendMs.length - 1)],
    );
  }

  /** Everything unconfirmed from that number on, in as few frames as hold it; at least one, for what it confirms. */
  #post(from: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    const next = this.#first + this.#unconfirmed.length;
    let start = Math.min(from, next);
    do {
      const items: SignalItem[] = [];
      let length = frameRoom;
      for (const item of this.#unconfirmed.slice(start - this.#first)) {
        length += JSON.stringify(item).length + 1;
        if (items.length > 0 && length > callSignalMaxBytes) break;
        items.push(item);
      }
      const frame = { e: this.#epoch, t: this.#theirs, s: start, a: this.#came, x: items } satisfies SignalFrame;
      this.#events.post(JSON.stringify(frame));
      start += items.length;
    } while (start < next);
  }
}
