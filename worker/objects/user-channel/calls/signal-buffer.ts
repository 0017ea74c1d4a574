import type { Call, CallSignals } from "#contract/calls/call.ts";
import type { CallSignal } from "#worker/objects/rpc.ts";
import { toSignalData } from "./call-frames.ts";

const signalLifetimeMs = 10_000; // who is not answered says it again
const bufferedMax = 64;

/**
 * What the other side told inside this person's calls a moment ago, for devices that ask because they have no socket: in
 * memory alone. Places in it go on after a sleep, because they are times.
 */
export class SignalBuffer {
  #signals: { at: number; signal: CallSignal }[] = [];
  #lastPosition = 0;

  add(signal: CallSignal): void {
    this.#lastPosition = Math.max(Date.now(), this.#lastPosition + 1);
    this.#signals = [...this.#recent, { at: this.#lastPosition, signal }].slice(-bufferedMax);
  }

  /** Of that call, after that place. */
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
