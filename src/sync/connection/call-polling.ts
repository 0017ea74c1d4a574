import * as v from "valibot";
import { type Call, CallSignals } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import type { CallFeedEvent } from "./call-feed.ts";

const activeIntervalMs = 1_000;
const quietIntervalMs = 5_000;
const pollTimeoutMs = 6_000;
const quietAfterMs = 30_000; // two connected devices exchange few signals through the server

type CallPollerEvents = {
  onCallEvent(news: CallFeedEvent): void;
  /** Called when the server no longer knows a call. */
  onCallGone(): void;
};

type PolledCall = { after: number; answeredAt: number | null | undefined; ring?: Call["ring"] | undefined };

/** Polls the signals of active calls by HTTP while no socket opens. */
export class CallPoller {
  readonly #platform: Pick<Platform, "request" | "startTimer" | "now">;
  readonly #events: CallPollerEvents;
  readonly #calls = new Map<Uuid, PolledCall>();
  #isPolling = false;
  #lastEventAt = 0;
  #cancel = () => {};

  constructor(platform: Pick<Platform, "request" | "startTimer" | "now">, events: CallPollerEvents) {
    this.#platform = platform;
    this.#events = events;
  }

  /** Starts polling an active call. */
  follow(call: Uuid): void {
    if (this.#calls.has(call)) return;
    this.#calls.set(call, { after: 0, answeredAt: undefined });
    this.pollNow();
  }

  /** Polls at once and at the short interval again, because signals are likely. */
  pollNow(): void {
    this.#lastEventAt = this.#platform.now();
    if (!this.#isPolling) void this.#poll();
  }

  stop(): void {
    this.#calls.clear();
    this.#cancel();
  }

  async #poll(): Promise<void> {
    this.#cancel();
    this.#isPolling = true;
    await Promise.all([...this.#calls].map(([call, polledCall]) => this.#pollCall(call, polledCall)));
    this.#isPolling = false;
    if (this.#calls.size === 0) return;
    const isQuiet = this.#platform.now() - this.#lastEventAt >= quietAfterMs;
    this.#cancel = this.#platform.startTimer(isQuiet ? quietIntervalMs : activeIntervalMs, () => void this.#poll());
  }

  async #pollCall(id: Uuid, polledCall: PolledCall): Promise<void> {
    try {
      const path = `/api/calls/${id}/signals?after=${polledCall.after}`;
      const answer = await this.#platform.request({ method: "GET", path }, { timeoutMs: pollTimeoutMs });
      const { call, signals, at } = v.parse(CallSignals, answer);
      if (this.#calls.get(id) !== polledCall) return; // a socket took over meanwhile
      const isChanged = call.answered_at !== polledCall.answeredAt || call.ring !== polledCall.ring;
      this.#calls.set(id, { after: at, answeredAt: call.answered_at, ring: call.ring });
      if (isChanged || signals.length > 0) this.#lastEventAt = this.#platform.now();
      if (isChanged)
        this.#events.onCallEvent({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
      for (const data of signals) this.#events.onCallEvent({ event_type: "signal", data });
    } catch (error) {
      if (asSyncError(error).code !== "call_not_found" || !this.#calls.delete(id)) return; // polled again
      this.#events.onCallGone();
    }
  }
}
