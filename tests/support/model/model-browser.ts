import type { Uuid } from "#contract/ids.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import type { CallFeedEvent } from "#sync/calls/call-feed.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { ModelCallRequest, ModelCalls } from "./model-calls.ts";
import { ModelTab } from "./model-tab.ts";

type Waiting = {
  name: string;
  tab: ModelTab;
  run: () => unknown;
  done: () => void;
  isHeld: boolean;
  isOver: boolean;
};

/** One of a person's devices: tabs that share a store and locks, and one way to the server with its faults. */
export class ModelBrowser {
  readonly tabs: ModelTab[] = [];
  readonly memory = new Map<string, unknown>();
  /** Bytes told of its calls, in whichever tab. */
  readonly uses: [Uuid, number][] = [];
  /** By how much its clock is off. */
  skew = 0;
  delayMs = 20;
  /** Of what the server says, this share is lost, said twice, or comes late. */
  lost = 0;
  doubled = 0;
  late = 0;
  isOffline = false;
  hasLocks = true;
  /** How long it takes to give a lock that nobody has. */
  lockMs = 1;
  /** Whether this person wants calls to be heard. */
  hearsRinging = true;
  /** After so long it tries the way to the server anew, unless somebody wants it looked at. */
  retryMs = 300;
  /** What the other side says to it directly does not come through. */
  isDeaf = false;
  #holders = new Map<string, Waiting[]>();

  constructor(
    readonly server: ModelCalls,
    readonly user: Uuid,
  ) {
    server.browsers.push(this);
  }

  get isReached(): boolean {
    return !this.isOffline && !this.server.isDead;
  }

  async openTab(storage = new Map<string, string>()): Promise<ModelTab> {
    const tab = new ModelTab(this, storage);
    this.tabs.push(tab);
    await tab.open();
    const other = this.tabs.find((known) => known !== tab)?.wire.getSnapshot();
    if (other) tab.hear(other);
    else this.#welcome(tab);
    return tab;
  }

  #welcome(tab: ModelTab): void {
    const { time } = this.server;
    time.after(this.#way(), () => {
      if (!this.isReached) return;
      const news = this.server.standing(this.user);
      time.after(this.#way(), () => this.isReached && tab.hear(news));
    });
  }

  /** The network goes, or is there again. */
  setOffline(isOffline: boolean): void {
    this.isOffline = isOffline;
    this.#relink();
  }

  /** The way to the server broke, or may be there again: that is noticed after a while, and told by a welcome. */
  #relink(): void {
    const { time } = this.server;
    if (this.isReached) {
      time.after(this.retryMs, () => this.#reconnect());
    } else {
      time.after(4_000, () => {
        if (!this.isReached) for (const tab of this.tabs) tab.link.set("offline");
      });
    }
  }

  #reconnect(): void {
    if (!this.isReached) return;
    for (const tab of this.tabs) {
      tab.link.set("online");
      this.#welcome(tab);
    }
  }

  /** A tab wants the way to the server looked at. */
  look(): void {
    if (this.tabs.some(({ link }) => link.get() !== "online")) this.time.after(this.#way(), () => this.#reconnect());
  }

  serverChanged(): void {
    this.#relink();
  }

  receive(news: CallFeedEvent): void {
    const { time, random } = this.server;
    if (random() < this.lost) return;
    const copies = random() < this.doubled ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const late = copy > 0 || random() < this.late ? random() * 6_000 : 0;
      time.after(this.#way() + late, () => {
        if (this.isReached) for (const tab of [...this.tabs]) tab.hear(structuredClone(news));
      });
    }
  }

  /** As a tab's `ask` is: refused at once without a network, lost for a while where the way dies meanwhile. */
  async ask(command: ModelCallRequest): Promise<unknown> {
    const { time, random, server } = this;
    await time.wait(this.#way());
    if (!this.isReached || random() < this.lost) return this.#unanswered();
    const answer = server.execute(this.user, command);
    await time.wait(this.#way());
    if (!this.isReached || random() < this.lost) return this.#unanswered();
    if (isRefusal(answer)) throw new SyncError(answer.error, answer.retryAfterMs);
    return structuredClone(answer);
  }

  async #unanswered(): Promise<never> {
    await this.time.wait(this.random() < 0.5 ? 10 : 20_000);
    throw new SyncError("offline");
  }

  get time() {
    return this.server.time;
  }

  get random() {
    return this.server.random;
  }

  #way(): number {
    return this.delayMs * (0.5 + this.random());
  }

  // ── locks ──────────────────────────────────────────────────────────────────────────────────────────────

  lock(tab: ModelTab, name: string, signal: AbortSignal | undefined, run: () => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const queue = this.#holders.get(name) ?? [];
      this.#holders.set(name, queue);
      const waiting: Waiting = { name, tab, run, done: () => resolve(undefined), isHeld: false, isOver: false };
      queue.push(waiting);
      signal?.addEventListener("abort", () => {
        if (waiting.isHeld) return; // what is given up is waiting
        this.#free(waiting);
        reject(new DOMException("given up", "AbortError"));
      });
      if (queue[0] === waiting) this.#grant(waiting);
    });
  }

  #grant(waiting: Waiting): void {
    this.time.after(this.lockMs, async () => {
      if (waiting.isOver) return;
      waiting.isHeld = true;
      await waiting.run();
      this.#free(waiting);
      waiting.done();
    });
  }

  #free(waiting: Waiting): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    const queue = this.#holders.get(waiting.name) ?? [];
    const wasFirst = queue[0] === waiting;
    queue.splice(queue.indexOf(waiting), 1);
    if (wasFirst && queue[0]) this.#grant(queue[0]);
  }

  heldLocks(): LockManagerSnapshot {
    const held = [...this.#holders].flatMap(([name, queue]) => (queue[0]?.isHeld ? [{ name }] : []));
    return { held, pending: [] };
  }

  freeLocksOf(tab: ModelTab): void {
    for (const queue of this.#holders.values()) {
      for (const waiting of queue.filter((other) => other.tab === tab)) this.#free(waiting);
    }
  }
}
