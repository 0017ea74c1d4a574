import { callSignalMaxBytes } from "#contract/limits/calls.ts";
import type { IceCandidates, SignalFrame, SignalItem } from "./messages.ts";

const resendDelaysMs = [1_000, 2_000, 4_000] as const; // the last one repeats
const candidateBatchMs = 80; // candidates are found in bursts
const ackDelayMs = 150; // an answer is usually sent at once and carries the acknowledgement
const outOfOrderMax = 64;
const frameOverheadBytes = 200; // for the frame around the items

type ReliableChannelEvents = {
  sendFrame(frame: string): void;
  /** Called once for each item of the other side, in order. */
  deliver(item: SignalItem): void;
};

/**
 * Whether a pending item is superseded by a new offer: earlier offers, and candidates of another ICE generation, which
 * would otherwise arrive first after an interruption. Their sequence numbers stay in use.
 */
const isSuperseded = (pending: SignalItem, next: SignalItem): boolean => {
  if (!("d" in next) || next.d !== "offer") return false;
  if ("d" in pending) return pending.d === "offer";
  return "u" in pending && !next.sdp.includes(`a=ice-ufrag:${pending.u}\r\n`);
};

/**
 * Reliable, ordered delivery of signals between one generation of this device and one of the other's, over a server
 * that stores nothing and may lose, duplicate and reorder them. Items are numbered, acknowledged cumulatively and
 * resent.
 */
export class ReliableChannel {
  readonly #generation: number;
  readonly #events: ReliableChannelEvents;
  #peerGeneration: number;
  #unacknowledged: SignalItem[] = [];
  #firstSeq = 1; // sequence number of the first unacknowledged item
  #receivedUpTo = 0;
  readonly #outOfOrder = new Map<number, SignalItem>();
  #candidateBatch: IceCandidates | undefined;
  #attempts = 0;
  #resendTimer: ReturnType<typeof setTimeout> | undefined;
  #ackTimer: ReturnType<typeof setTimeout> | undefined;
  #candidateTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(generation: number, peerGeneration: number, events: ReliableChannelEvents) {
    this.#generation = generation;
    this.#peerGeneration = peerGeneration;
    this.#events = events;
  }

  /** Whether the other side has acknowledged everything. */
  get isAcknowledged(): boolean {
    return this.#unacknowledged.length === 0;
  }

  send(item: SignalItem): void {
    if (this.#isClosed) return;
    this.#unacknowledged = this.#unacknowledged.map((pending) =>
      isSuperseded(pending, item) ? { hello: 1 } : pending,
    );
    this.#unacknowledged.push(item);
    this.#transmit(this.#firstSeq + this.#unacknowledged.length - 1);
    this.#scheduleResend();
  }

  /** Sends a candidate. Candidates of one ICE generation found within `candidateBatchMs` share an item. */
  sendCandidate(candidate: string, mid: string, generation: string): void {
    if (this.#isClosed) return;
    if (this.#candidateBatch && this.#candidateBatch.u !== generation) this.#flushCandidates();
    this.#candidateBatch ??= { u: generation, c: [] };
    this.#candidateBatch.c.push([candidate, mid]);
    this.#candidateTimer ??= setTimeout(() => this.#flushCandidates(), candidateBatchMs);
  }

  /** Binds the channel to a new generation of the other side, whose numbers start anew. */
  rebind(peerGeneration: number): void {
    this.#peerGeneration = peerGeneration;
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
      if (this.#isClosed) return; // the delivered item may have closed this channel
    }
  }

  /** Resends everything unacknowledged. */
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
    const count = Math.min(upTo - this.#firstSeq + 1, this.#unacknowledged.length);
    if (count <= 0) return;
    this.#unacknowledged = this.#unacknowledged.slice(count);
    this.#firstSeq += count;
    this.#attempts = 0;
    this.#scheduleResend(true);
  }

  #scheduleResend(isRestart = false): void {
    if (isRestart || this.#unacknowledged.length === 0) {
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

  /**
   * Sends all unacknowledged items from a sequence number on, in as few frames as possible; at least one frame, for the
   * acknowledgement.
   */
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
