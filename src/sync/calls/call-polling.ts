import * as v from "valibot";
import { CallSignals } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import type { CallNews } from "./call-feed.ts";

const askMs = 1_000;
const quietAskMs = 5_000;
const answerMs = 6_000;
const quietAfterMs = 30_000; // two that hear each other have little to tell by the server

type CallPollerEvents = {
  called(news: CallNews): void;
  /** One of them is not under way any more. */
  gone(): void;
};

type Followed = { after: number; answeredAt: number | null | undefined };

/** Asks by HTTP what is told inside calls, as long as no socket can be had. */
export class CallPoller {
  readonly #platform: Pick<Platform, "request" | "after" | "now">;
  readonly #events: CallPollerEvents;
  readonly #calls = new Map<Uuid, Followed>();
  #isAsking = false;
  #heardAt = 0;
  #cancel = () => {};

  constructor(platform: Pick<Platform, "request" | "after" | "now">, events: CallPollerEvents) {
    this.#platform = platform;
    this.#events = events;
  }

  /** That one is under way. */
  follow(call: Uuid): void {
    if (this.#calls.has(call)) return;
    this.#calls.set(call, { after: 0, answeredAt: undefined });
    this.hurry();
  }

  /** Something is likely to be told. */
  hurry(): void {
    this.#heardAt = this.#platform.now();
    if (!this.#isAsking) void this.#run();
  }

  stop(): void {
    this.#calls.clear();
    this.#cancel();
  }

  async #run(): Promise<void> {
    this.#cancel();
    this.#isAsking = true;
    await Promise.all([...this.#calls].map(([call, followed]) => this.#ask(call, followed)));
    this.#isAsking = false;
    if (this.#calls.size === 0) return;
    const isQuiet = this.#platform.now() - this.#heardAt >= quietAfterMs;
    this.#cancel = this.#platform.after(isQuiet ? quietAskMs : askMs, () => void this.#run());
  }

  async #ask(id: Uuid, followed: Followed): Promise<void> {
    try {
      const path = `/api/calls/${id}/signals?after=${followed.after}`;
      const answer = await this.#platform.request({ method: "GET", path }, { timeoutMs: answerMs });
      const { call, signals, at } = v.parse(CallSignals, answer);
      if (this.#calls.get(id) !== followed) return; // a socket took over meanwhile
      const isChanged = call.answered_at !== followed.answeredAt;
      this.#calls.set(id, { after: at, answeredAt: call.answered_at });
      if (isChanged || signals.length > 0) this.#heardAt = this.#platform.now();
      if (isChanged) this.#events.called({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
      for (const data of signals) this.#events.called({ event_type: "signal", data });
    } catch (error) {
      if (asSyncError(error).code !== "call_not_found" || !this.#calls.delete(id)) return; // asked again
      this.#events.gone();
    }
  }
}
