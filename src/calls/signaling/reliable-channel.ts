import { callSignalMaxBytes } from "#contract/limits.ts";
import type { IceCandidates, SignalFrame, SignalItem } from "./messages.ts";

const resendDelaysMs = [1_000, 2_000, 4_000] as const; // the last one again and again
const candidateBatchMs = 80; // candidates are found in bursts
const ackDelayMs = 150; // an answer usually goes at once and carries it
const outOfOrderMax = 64;
const frameOverheadBytes = 200; // for what stands around the items

type ReliableChannelEvents = {
  sendFrame(frame: string): void;
  /** Each item of the other side once, in its order. */
  deliver(item: SignalItem): void;
};

/**
 * A new offer takes the place of those before it, and of the candidates of another generation: over a link that was away
 * they would come first. Their numbers stay.
 */
const isSuperseded = (old: SignalItem, next: SignalItem): boolean => {
  if (!("d" in next) || next.d !== "offer") return false;
  if ("d" in old) return old.d === "offer";
  return "u" in old && !next.sdp.includes(`a=ice-ufrag:${old.u}\r\n`);
};

/**
 * What goes between a life of this device and one of the other's, over a server that keeps nothing and may lose, double
 * and turn around: numbered, confirmed in a row, and said again until it is.
 */
export class ReliableChannel {
  readonly #generation: number;
  readonly #events: ReliableChannelEvents;
  #peerGeneration: number;
  #unacknowledged: SignalItem[] = [];
  #firstSeq = 1; // the number of the first of them
  #receivedUpTo = 0;
  readonly #outOfOrder = new Map<number, SignalItem>();
  #candidateBatch: IceCandidates | undefined;
  #attempts = 0;
  #resendTimer: ReturnType<typeof setTimeout> | undefined;
  #ackTimer: ReturnType<typeof setTimeout> | undefined;
  #candidateTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(epoch: number, theirs: number, events: ReliableChannelEvents) {
    this.#generation = epoch;
    this.#peerGeneration = theirs;
    this.#events = events;
  }

  /** Whether the other side has confirmed everything. */
  get isAcknowledged(): boolean {
    return this.#unacknowledged.length === 0;
  }

  send(item: SignalItem): void {
    if (this.#isClosed) return;
    this.#unacknowledged = this.#unacknowledged.map((old) => (isSuperseded(old, item) ? { hello: 1 } : old));
    this.#unacknowledged.push(item);
    this.#transmit(this.#firstSeq + this.#unacknowledged.length - 1);
    this.#scheduleResend();
  }

  /** Candidates of one generation found within a moment go together. */
  sendCandidate(candidate: string, section: string, generation: string): void {
    if (this.#isClosed) return;
    if (this.#candidateBatch && this.#candidateBatch.u !== generation) this.#flushCandidates();
    this.#candidateBatch ??= { u: generation, c: [] };
    this.#candidateBatch.c.push([candidate, section]);
    this.#candidateTimer ??= setTimeout(() => this.#flushCandidates(), candidateBatchMs);
  }

  /** The other's life became known, or is another one: its numbers begin anew. */
  rebind(theirs: number): void {
    this.#peerGeneration = theirs;
    this.#receivedUpTo = 0;
    this.#outOfOrder.clear();
    this.resend();
  }

  receive({ s, a, t, x }: SignalFrame): void {
    if (this.#isClosed) return;
    if (t === this.#generation) this.#acknowledge(a);
    for (const [index, item] of x.entries()) {
      const number = s + index;
      if (number > this.#receivedUpTo && number <= this.#receivedUpTo + outOfOrderMax)
        this.#outOfOrder.set(number, item);
    }
    if (x.length > 0) this.#ackTimer ??= setTimeout(() => this.#transmit(Number.POSITIVE_INFINITY), ackDelayMs);
    for (
      let item = this.#outOfOrder.get(this.#receivedUpTo + 1);
      item;
      item = this.#outOfOrder.get(this.#receivedUpTo + 1)
    ) {
      this.#receivedUpTo++;
      this.#outOfOrder.delete(this.#receivedUpTo);
      this.#events.deliver(item);
      if (this.#isClosed) return; // what was delivered may have ended this life
    }
  }

  /** Says once more what is not confirmed. */
  resend(): void {
    if (this.#isClosed) return;
    this.#attempts = 0;
    if (this.#unacknowledged.length > 0) this.#transmit(this.#firstSeq);
    this.#scheduleResend(true);
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
    const candidates = this.#candidateBatch;
    this.#candidateBatch = undefined;
    if (candidates) this.send(candidates);
  }

  #acknowledge(upTo: number): void {
    const done = Math.min(upTo - this.#firstSeq + 1, this.#unacknowledged.length);
    if (done <= 0) return;
    this.#unacknowledged = this.#unacknowledged.slice(done);
    this.#firstSeq += done;
    this.#attempts = 0;
    this.#scheduleResend(true);
  }

  #scheduleResend(isAnew = false): void {
    if (isAnew || this.#unacknowledged.length === 0) {
      clearTimeout(this.#resendTimer);
      this.#resendTimer = undefined;
    }
    if (this.#unacknowledged.length === 0) return;
    this.#resendTimer ??= setTimeout(
      () => {
        this.#resendTimer = undefined;
        this.#attempts++;
        this.#transmit(this.#firstSeq);
        this.#scheduleResend();
      },
      resendDelaysMs[Math.min(this.#attempts, resendDelaysMs.length - 1)],
    );
  }

  /** Everything unconfirmed from that number on, in as few frames as hold it; at least one, for what it confirms. */
  #transmit(from: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    const next = this.#firstSeq + this.#unacknowledged.length;
    let start = Math.min(from, next);
    do {
      const items: SignalItem[] = [];
      let length = frameOverheadBytes;
      for (const item of this.#unacknowledged.slice(start - this.#firstSeq)) {
        length += JSON.stringify(item).length + 1;
        if (items.length > 0 && length > callSignalMaxBytes) break;
        items.push(item);
      }
      const frame = {
        e: this.#generation,
        t: this.#peerGeneration,
        s: start,
        a: this.#receivedUpTo,
        x: items,
      } satisfies SignalFrame;
      this.#events.sendFrame(JSON.stringify(frame));
      start += items.length;
    } while (start < next);
  }
}
