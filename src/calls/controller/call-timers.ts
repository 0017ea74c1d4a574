import type { CallSyncPort } from "#calls/link.ts";
import type { CallState } from "#contract/calls/call-machine.ts";
import { callHeartbeatMs, callServerWaitMs } from "#contract/limits.ts";

const tickMs = 5_000;
const endedCallShownMs = 2_000; // how long an ended call is shown

type TimerCallbacks = {
  /** The time of the state is up. */
  onDeadline(): void;
  /** An ended call was shown long enough. */
  onEndedShown(): void;
  /** This page lives still. */
  onAlive(): void;
  /** The server is to be told so, and since when nothing is heard of the other side. */
  sendHeartbeat(lostAt?: number): void;
};

/** What time alone does to the call of this tab. */
export class CallTimers {
  readonly #platform: Pick<CallSyncPort["platform"], "now" | "startTimer">;
  readonly #callbacks: TimerCallbacks;
  #cancelDeadline = () => {};
  #cancelTick = () => {};
  #ticks = 0;
  #interruptedAt: number | undefined;
  /** The server was told that nothing is heard. */
  #isInterruptionReported = false;

  constructor(platform: Pick<CallSyncPort["platform"], "now" | "startTimer">, strokes: TimerCallbacks) {
    this.#platform = platform;
    this.#callbacks = strokes;
  }

  update(state: CallState, isOwned: boolean): void {
    this.stop();
    this.#armDeadline(state);
    this.#interruptedAt = isOwned && state.at === "connected" ? state.interruptedAt : undefined;
    if (!isOwned) this.#isInterruptionReported = false;
    else {
      if (this.#isInterruptionReported && this.#interruptedAt === undefined) this.#sendHeartbeat();
      this.#scheduleTick();
    }
  }

  /** Who hears nothing may be missed as well: once the server can be reached again it is told that this side is there. */
  followConnection(state: CallSyncPort["connectionState"]): () => void {
    return state.subscribe(() => {
      if (state.get() === "online" && this.#interruptedAt !== undefined) this.#sendHeartbeat();
    });
  }

  stop(): void {
    this.#cancelDeadline();
    this.#cancelTick();
  }

  #armDeadline(state: CallState): void {
    const { now, startTimer } = this.#platform;
    if (state.at === "ended") {
      this.#cancelDeadline = startTimer(endedCallShownMs, () => this.#callbacks.onEndedShown());
    } else if ("until" in state && Number.isFinite(state.until)) {
      const at = now() < state.until || state.at === "connecting" ? state.until : state.until + callServerWaitMs;
      this.#cancelDeadline = startTimer(Math.max(1, at - now()), () => this.#callbacks.onDeadline());
    }
  }

  #scheduleTick(): void {
    this.#cancelTick = this.#platform.startTimer(tickMs, () => {
      this.#callbacks.onAlive();
      this.#ticks = (this.#ticks + 1) % (callHeartbeatMs / tickMs);
      if (this.#ticks === 0 || this.#interruptedAt !== undefined) this.#sendHeartbeat();
      this.#scheduleTick();
    });
  }

  #sendHeartbeat(): void {
    this.#isInterruptionReported = this.#interruptedAt !== undefined;
    this.#callbacks.sendHeartbeat(this.#interruptedAt);
  }
}
