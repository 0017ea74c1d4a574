import type { Call, CallSignals } from "#contract/calls/call.ts";
import type { CallSignal } from "#worker/objects/rpc/calls.ts";
import { toSignalData } from "./call-frames.ts";

const signalLifetimeMs = 10_000; // the sender repeats unanswered signals
const bufferedMax = 64;

/**
 * Recent signals from peers in this person's calls, in memory only, for devices that poll because they have no socket.
 * Positions are times, so they stay valid after hibernation.
 */
export class SignalBuffer {
  #signals: { at: number; signal: CallSignal }[] = [];
  #lastPosition = 0;

  add(signal: CallSignal): void {
    this.#lastPosition = Math.max(Date.now(), this.#lastPosition + 1);
    this.#signals = [...this.#recent, { at: this.#lastPosition, signal }].slice(-bufferedMax);
  }

  /** Signals of a call after a position. */
  listSince(call: Call, after: number): CallSignals {
    const signals = this.#recent.filter(
      ({ at, signal }) => at > after && signal.call === call.call_id && signal.conversation === call.conversation,
    );
    return { call, signals: signals.map(({ signal }) => toSignalData(signal)), at: signals.at(-1)?.at ?? after };
  }

  get #recent() {
    const now = Date.now();
    return this.#signals.filter(({ at }) => now - at < signalLifetimeMs);
  }
}
