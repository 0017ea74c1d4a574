import type { CallSyncPort } from "#calls/sync-port.ts";
import type { CallState } from "#contract/calls/local-call.ts";
import { callHeartbeatMs, callServerWaitMs } from "#contract/limits/calls.ts";

const tickMs = 5_000;
const endedCallShownMs = 2_000; // how long the ended screen is shown

type TimerCallbacks = {
  /** The deadline of the state has passed. */
  onDeadline(): void;
  /** The ended screen was shown long enough. */
  onEndedShown(): void;
  /** Called every `tickMs` while this tab has the call. */
  onAlive(): void;
  /** Sends a heartbeat; `interruptedAt` is the time at which the other side was last heard, if it is not heard now. */
  sendHeartbeat(interruptedAt?: number): void;
};

/** Timers of this tab's call: state deadlines, heartbeats and the tick at which the call is saved. */
export class CallTimers {
  readonly #platform: Pick<CallSyncPort["platform"], "now" | "startTimer">;
  readonly #callbacks: TimerCallbacks;
  #cancelDeadline = () => {};
  #cancelTick = () => {};
  #ticks = 0;
  #interruptedAt: number | undefined;
  /** Whether the last heartbeat reported an interruption. */
  #isInterruptionReported = false;

  constructor(platform: Pick<CallSyncPort["platform"], "now" | "startTimer">, callbacks: TimerCallbacks) {
    this.#platform = platform;
    this.#callbacks = callbacks;
  }

  update(state: CallState, isOwned: boolean): void {
    this.stop();
    this.#armDeadline(state);
    this.#interruptedAt = isOwned && state.phase === "connected" ? state.interruptedAt : undefined;
    if (!isOwned) this.#isInterruptionReported = false;
    else {
      if (this.#isInterruptionReported && this.#interruptedAt === undefined) this.#sendHeartbeat();
      this.#scheduleTick();
    }
  }

  /**
   * Sends a heartbeat as soon as the server is reachable again during an interruption: the other side may not hear
   * this one either.
   */
  followConnection(connectionState: CallSyncPort["connectionState"]): () => void {
    return connectionState.subscribe(() => {
      if (connectionState.get() === "online" && this.#interruptedAt !== undefined) this.#sendHeartbeat();
    });
  }

  stop(): void {
    this.#cancelDeadline();
    this.#cancelTick();
  }

  #armDeadline(state: CallState): void {
    const { now, startTimer } = this.#platform;
    if (state.phase === "ended") {
      this.#cancelDeadline = startTimer(endedCallShownMs, () => this.#callbacks.onEndedShown());
    } else if ("until" in state && Number.isFinite(state.until)) {
      // The server ends a call at its deadline. If that message is late, this device waits `callServerWaitMs` longer.
      const at = now() < state.until || state.phase === "connecting" ? state.until : state.until + callServerWaitMs;
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
