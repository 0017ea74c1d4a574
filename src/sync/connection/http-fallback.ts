import type { Context } from "#sync/store/context.ts";
import type { Poller } from "./http-polling.ts";
import type { Line } from "./socket-session.ts";

const failuresBeforeHttp = 3; // upgrades in a row: something between here and the server breaks sockets
const postAfterMs = 3_000; // a message does not wait longer than this for a socket
const pollAfterMs = 10_000; // nor does what others wrote: an attempt at a socket that is only silent takes longer to fail
const graceMs = 2_000; // a socket that comes back within this was never away, as far as a person is concerned

/** The time without a socket, which a leader begins in: when HTTP takes its place, and when the person is told. */
export class Outage {
  readonly #context: Context;
  readonly #line: Line;
  readonly #poller: Poller;
  readonly #post: () => void;
  /** Number of the time without a socket, of which there were others before. */
  #number = 0;
  #isLong = false;
  #awaitsRoom = false;
  #isStopped = false;
  #cancels = new Set<() => void>();

  /** `post` sees to what was written here. */
  constructor(context: Context, line: Line, poller: Poller, post: () => void) {
    this.#context = context;
    this.#line = line;
    this.#poller = poller;
    this.#post = post;
    this.#begin();
  }

  /** Whether what is written goes by HTTP. */
  get usesHttp(): boolean {
    if (this.#poller.isOn) return true;
    return !this.#line.isUp && this.#isLong;
  }

  /** The socket ended, or one more attempt at it did; `failures` of them in a row. */
  ended(failures: number): void {
    if (failures === 0) this.#begin();
    else this.#after(postAfterMs, this.#post);
    this.#after(graceMs, () => {
      const { link } = this.#context;
      if (!this.#line.isUp && !this.#poller.isOn && link.get() === "online") link.set("connecting");
    });
    if (failures >= failuresBeforeHttp) this.#poller.start();
  }

  /** The phone is full: what others wrote is not asked for until the socket, which waits for room, is back. */
  awaitRoom(): void {
    this.#awaitsRoom = true;
  }

  over(): void {
    this.#awaitsRoom = false;
    this.#poller.stop();
    this.#context.link.set("online");
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#context.platform.after(ms, () => {
      this.#cancels.delete(cancel);
      if (!this.#isStopped) run();
    });
    this.#cancels.add(cancel);
  }

  /** By timers alone: the phone's clock may be set meanwhile. */
  #begin(): void {
    const number = ++this.#number;
    this.#isLong = false;
    this.#after(postAfterMs, () => {
      if (number === this.#number) this.#isLong = true;
      this.#post();
    });
    this.#after(pollAfterMs, () => {
      if (!this.#line.isUp && this.#number === number && !this.#awaitsRoom) this.#poller.start();
    });
  }
}
