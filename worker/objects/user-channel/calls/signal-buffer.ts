import type { Call, CallSignals } from "#contract/calls/call.ts";
import type { CallSignal } from "#worker/objects/rpc.ts";
import { toldOf } from "./call-frames.ts";

const keptMs = 10_000; // who is not answered says it again
const keptMax = 64;

/**
 * What the other side told inside this person's calls a moment ago, for devices that ask because they have no socket: in
 * memory alone. Places in it go on after a sleep, because they are times.
 */
export class SaidSignals {
  #said: { at: number; signal: CallSignal }[] = [];
  #last = 0;

  add(signal: CallSignal): void {
    this.#last = Math.max(Date.now(), this.#last + 1);
    this.#said = [...this.#recent, { at: this.#last, signal }].slice(-keptMax);
  }

  /** Of that call, after that place. */
  since(call: Call, after: number): CallSignals {
    const said = this.#recent.filter(
      ({ at, signal }) => at > after && signal.call === call.call_id && signal.conversation === call.conversation,
    );
    return { call, signals: said.map(({ signal }) => toldOf(signal)), at: said.at(-1)?.at ?? after };
  }

  get #recent() {
    const now = Date.now();
    return this.#said.filter(({ at }) => now - at < keptMs);
  }
}
