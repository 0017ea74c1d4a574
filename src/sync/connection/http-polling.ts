import type { Uuid } from "#contract/ids.ts";
import type { CallNews } from "#sync/calls/call-feed.ts";
import { CallPoller } from "#sync/calls/call-polling.ts";
import type { Receiver } from "#sync/inbound/inbound-queue.ts";
import { rowChanges } from "#sync/inbound/row-changes.ts";
import type { Context } from "#sync/store/context.ts";
import { afterCatchUp, type Cursor, readCursor } from "#sync/store/sync-cursor.ts";
import { askByHttp } from "./http-transport.ts";

const minMs = 5_000;
const maxMs = 60_000;

type PollerEvents = { link(isReachable: boolean): void; called(news: CallNews): void };

/** Asks by HTTP what changed, as long as no socket can be had: often while something happens, seldom while not. */
export class Poller {
  readonly #context: Context;
  readonly #receiver: Receiver;
  readonly #events: PollerEvents;
  readonly #calls: CallPoller;
  #isOn = false;
  #isAsking = false;
  #isWanted = false;
  #delay = minMs;
  #cancel = () => {};

  constructor(context: Context, receiver: Receiver, events: PollerEvents) {
    this.#context = context;
    this.#receiver = receiver;
    this.#events = events;
    this.#calls = new CallPoller(context.platform, { called: events.called, gone: () => this.hurry() });
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.hurry();
  }

  stop(): void {
    this.#isOn = false;
    this.#cancel();
    this.#calls.stop();
  }

  /** That call is under way: also what is told in it is asked for. */
  follow(call: Uuid): void {
    this.#calls.follow(call);
  }

  /** Something is likely to have changed, or the phone came back. */
  hurry(): void {
    this.#calls.hurry();
    if (!this.#isOn) return;
    this.#delay = minMs;
    this.#isWanted = true;
    if (!this.#isAsking) void this.#poll();
  }

  async #poll(): Promise<void> {
    this.#cancel();
    this.#isAsking = true;
    while (this.#isOn && this.#isWanted) {
      this.#isWanted = false;
      try {
        const hasNews = await this.#ask();
        this.#delay = hasNews ? minMs : Math.min(maxMs, this.#delay * 1.5);
        this.#events.link(true);
      } catch {
        this.#delay = Math.min(maxMs, this.#delay * 2);
        this.#events.link(false);
      }
    }
    this.#isAsking = false;
    if (!this.#isOn) return;
    this.#cancel = this.#context.platform.after(this.#delay, () => {
      this.#isWanted = true;
      void this.#poll();
    });
  }

  async #ask(): Promise<boolean> {
    const { platform, store } = this.#context;
    await this.#receiver.idle();
    const cursor = await readCursor(store);
    let result = await askByHttp(platform, { type: "changes", since: cursor.counter });
    if (result.epoch !== cursor.epoch && cursor.counter > 0)
      result = await askByHttp(platform, { type: "changes", since: 0 });
    if (!this.#isOn) return false; // a socket took over meanwhile and knows more
    this.#events.called({ event_type: "standing", calls: result.calls, now: result.now });
    for (const { call_id } of result.calls) this.follow(call_id);
    const clock = platform.now();
    const { epoch, counter, since } = result;
    const move = (before: Cursor) => afterCatchUp(before, since, result, clock);
    const isAnew = since < cursor.counter;
    const changes = rowChanges(result, isAnew);
    this.#receiver.push([{ type: "answer", asked: cursor.counter, epoch, counter, move, isAnew, changes }]);
    await this.#receiver.idle();
    return result.rows.length > 0 || result.people.length > 0 || result.settings !== null || result.notices.length > 0;
  }
}
