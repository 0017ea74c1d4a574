import type { CallLink } from "#calls/link.ts";
import type { CallState } from "#contract/calls/call-machine.ts";
import { callBeatMs, callVerdictMs } from "#contract/limits.ts";

const aliveMs = 5_000;
const endedMs = 2_000; // how long an ended call is shown

type Strokes = {
  /** The time of the state is up. */
  time(): void;
  /** An ended call was shown long enough. */
  leave(): void;
  /** This page lives still. */
  alive(): void;
  /** The server is to be told so, and since when nothing is heard of the other side. */
  beat(lostAt?: number): void;
};

/** What time alone does to the call of this tab. */
export class CallClock {
  readonly #platform: Pick<CallLink["platform"], "now" | "after">;
  readonly #strokes: Strokes;
  #cancelTime = () => {};
  #cancelTick = () => {};
  #ticks = 0;
  #lostAt: number | undefined;
  /** The server was told that nothing is heard. */
  #isToldLost = false;

  constructor(platform: Pick<CallLink["platform"], "now" | "after">, strokes: Strokes) {
    this.#platform = platform;
    this.#strokes = strokes;
  }

  set(state: CallState, isOwned: boolean): void {
    this.stop();
    this.#arm(state);
    this.#lostAt = isOwned && state.at === "connected" ? state.lostAt : undefined;
    if (!isOwned) this.#isToldLost = false;
    else {
      if (this.#isToldLost && this.#lostAt === undefined) this.#beat();
      this.#tick();
    }
  }

  /** Who hears nothing may be missed as well: once the server can be reached again it is told that this side is there. */
  follow(state: CallLink["state"]): () => void {
    return state.subscribe(() => {
      if (state.get() === "online" && this.#lostAt !== undefined) this.#beat();
    });
  }

  stop(): void {
    this.#cancelTime();
    this.#cancelTick();
  }

  #arm(state: CallState): void {
    const { now, after } = this.#platform;
    if (state.at === "ended") {
      this.#cancelTime = after(endedMs, () => this.#strokes.leave());
    } else if ("until" in state && Number.isFinite(state.until)) {
      const at = now() < state.until || state.at === "connecting" ? state.until : state.until + callVerdictMs;
      this.#cancelTime = after(Math.max(1, at - now()), () => this.#strokes.time());
    }
  }

  #tick(): void {
    this.#cancelTick = this.#platform.after(aliveMs, () => {
      this.#strokes.alive();
      this.#ticks = (this.#ticks + 1) % (callBeatMs / aliveMs);
      if (this.#ticks === 0 || this.#lostAt !== undefined) this.#beat();
      this.#tick();
    });
  }

  #beat(): void {
    this.#isToldLost = this.#lostAt !== undefined;
    this.#strokes.beat(this.#lostAt);
  }
}
