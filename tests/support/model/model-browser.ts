import type { CallError } from "#contract/calls/local-call.ts";
import type { Uuid } from "#contract/ids.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { ModelCallRequest, ModelCalls } from "./model-calls.ts";
import { ModelTab } from "./model-tab.ts";

type LockRequest = {
  name: string;
  tab: ModelTab;
  run: () => unknown;
  done: () => void;
  isHeld: boolean;
  isOver: boolean;
};

/** Browser of one person: tabs that share storage and locks, and one faulty connection to the server. */
export class ModelBrowser {
  readonly tabs: ModelTab[] = [];
  readonly memory = new Map<string, unknown>();
  /** Reported data use of calls, from all tabs. */
  readonly dataUses: [Uuid, number][] = [];
  /** Offset of its clock. */
  clockSkewMs = 0;
  delayMs = 20;
  /** Share of server events that are lost, duplicated or delayed. */
  lossRate = 0;
  duplicateRate = 0;
  lateRate = 0;
  isOffline = false;
  hasLocks = true;
  /** Delay before a free lock is granted. */
  lockMs = 1;
  /** Why nobody can be called from here. */
  dialRefusal: CallError;
  /** Setting for audible rings. */
  isRingAudible = true;
  /** Whether notifications are on. */
  hasSystemNotifications = false;
  /** Delay before an automatic reconnect, unless a tab asks for a check first. */
  retryMs = 300;
  /** Whether direct messages from the peer are lost. */
  losesPeerMessages = false;
  #lockQueues = new Map<string, LockRequest[]>();

  constructor(
    readonly server: ModelCalls,
    readonly user: Uuid,
  ) {
    server.browsers.push(this);
  }

  get isServerReachable(): boolean {
    return !this.isOffline && !this.server.isDown;
  }

  async openTab(storage = new Map<string, string>()): Promise<ModelTab> {
    const tab = new ModelTab(this, storage);
    this.tabs.push(tab);
    await tab.open();
    const other = this.tabs.find((known) => known !== tab)?.feed.getSnapshot();
    if (other) tab.receive(other);
    else this.#welcome(tab);
    return tab;
  }

  #welcome(tab: ModelTab): void {
    const { time } = this.server;
    time.after(this.#randomDelayMs(), () => {
      if (!this.isServerReachable) return;
      const openCalls = this.server.listOpenCalls(this.user);
      time.after(this.#randomDelayMs(), () => this.isServerReachable && tab.receive(openCalls));
    });
  }

  /** Changes the network state. */
  setOffline(isOffline: boolean): void {
    this.isOffline = isOffline;
    this.#updateLinks();
  }

  /** Reacts to a lost or restored connection. Tabs notice after a delay and receive a welcome. */
  #updateLinks(): void {
    const { time } = this.server;
    if (this.isServerReachable) {
      time.after(this.retryMs, () => this.#reconnect());
    } else {
      time.after(4_000, () => {
        if (!this.isServerReachable) for (const tab of this.tabs) tab.link.set("offline");
      });
    }
  }

  #reconnect(): void {
    if (!this.isServerReachable) return;
    for (const tab of this.tabs) {
      tab.link.set("online");
      this.#welcome(tab);
    }
  }

  /** Checks the connection because a tab asked for it. */
  checkConnection(): void {
    if (this.tabs.some(({ link }) => link.get() !== "online"))
      this.time.after(this.#randomDelayMs(), () => this.#reconnect());
  }

  serverChanged(): void {
    this.#updateLinks();
  }

  receive(news: CallFeedEvent): void {
    const { time, random } = this.server;
    if (random() < this.lossRate) return;
    const copies = random() < this.duplicateRate ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const late = copy > 0 || random() < this.lateRate ? random() * 6_000 : 0;
      time.after(this.#randomDelayMs() + late, () => {
        if (this.isServerReachable) for (const tab of [...this.tabs]) tab.receive(structuredClone(news));
      });
    }
  }

  /**
   * Sends a request as a tab does: refused at once while offline, and unanswered for a while if the connection breaks.
   */
  async request(command: ModelCallRequest): Promise<unknown> {
    const { time, random, server } = this;
    await time.wait(this.#randomDelayMs());
    if (!this.isServerReachable || random() < this.lossRate) return this.#unanswered();
    const answer = server.execute(this.user, command);
    await time.wait(this.#randomDelayMs());
    if (!this.isServerReachable || random() < this.lossRate) return this.#unanswered();
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

  #randomDelayMs(): number {
    return this.delayMs * (0.5 + this.random());
  }

  // ── locks ──────────────────────────────────────────────────────────────────────────────────────────────

  lock(tab: ModelTab, name: string, signal: AbortSignal | undefined, run: () => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const queue = this.#lockQueues.get(name) ?? [];
      this.#lockQueues.set(name, queue);
      const waiting: LockRequest = { name, tab, run, done: () => resolve(undefined), isHeld: false, isOver: false };
      queue.push(waiting);
      signal?.addEventListener("abort", () => {
        if (waiting.isHeld) return; // only a waiting request can be aborted
        this.#releaseLock(waiting);
        reject(new DOMException("given up", "AbortError"));
      });
      if (queue[0] === waiting) this.#grantLock(waiting);
    });
  }

  #grantLock(waiting: LockRequest): void {
    this.time.after(this.lockMs, async () => {
      if (waiting.isOver) return;
      waiting.isHeld = true;
      await waiting.run();
      this.#releaseLock(waiting);
      waiting.done();
    });
  }

  #releaseLock(waiting: LockRequest): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    const queue = this.#lockQueues.get(waiting.name) ?? [];
    const wasFirst = queue[0] === waiting;
    queue.splice(queue.indexOf(waiting), 1);
    if (wasFirst && queue[0]) this.#grantLock(queue[0]);
  }

  heldLocks(): LockManagerSnapshot {
    const held = [...this.#lockQueues].flatMap(([name, queue]) => (queue[0]?.isHeld ? [{ name }] : []));
    return { held, pending: [] };
  }

  releaseLocks(tab: ModelTab): void {
    for (const queue of this.#lockQueues.values()) {
      for (const waiting of queue.filter((other) => other.tab === tab)) this.#releaseLock(waiting);
    }
  }
}
