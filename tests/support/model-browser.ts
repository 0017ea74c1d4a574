import { isRefusal } from "../../contract/commands";
import { createUuid, type Uuid } from "../../contract/ids";
import { CallEngine } from "../../src/calls/engine";
import type { CallLink } from "../../src/calls/link";
import type { MediaEvents, MediaOptions, MediaPlane } from "../../src/calls/media-plane";
import type { CallSaying, CallView } from "../../src/calls/views";
import type { CallWorld } from "../../src/calls/world";
import { Observable } from "../../src/lib/observable";
import { type CallNews, CallWire } from "../../src/sync/call-news";
import { SyncError } from "../../src/sync/sync-error";
import type { LinkState } from "../../src/sync/views";
import type { CallCommand, ModelCalls } from "./model-calls";

type Waiting = { name: string; tab: ModelTab; run: () => unknown; done: () => void; isOver: boolean };

/** One of a person's devices: tabs that share a store and locks, and one way to the server with its faults. */
export class ModelBrowser {
  readonly tabs: ModelTab[] = [];
  readonly memory = new Map<string, unknown>();
  /** By how much its clock is off. */
  skew = 0;
  delayMs = 20;
  /** Of what the server says, this share is lost, said twice, or comes late. */
  lost = 0;
  doubled = 0;
  late = 0;
  isOffline = false;
  hasLocks = true;
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
    const other = this.tabs.find((known) => known !== tab)?.wire.standing();
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
      time.after(300, () => {
        if (!this.isReached) return;
        for (const tab of this.tabs) {
          tab.link.set("online");
          this.#welcome(tab);
        }
      });
    } else {
      time.after(4_000, () => {
        if (!this.isReached) for (const tab of this.tabs) tab.link.set("offline");
      });
    }
  }

  serverChanged(): void {
    this.#relink();
  }

  receive(news: CallNews): void {
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
  async ask(command: CallCommand): Promise<unknown> {
    const { time, random, server } = this;
    await time.wait(this.#way());
    if (!this.isReached || random() < this.lost) return this.#unanswered();
    const answer = server.execute(this.user, command);
    await time.wait(this.#way());
    if (!this.isReached || random() < this.lost) return this.#unanswered();
    if (isRefusal(answer)) throw new SyncError(answer.error);
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
      const waiting: Waiting = { name, tab, run, done: () => resolve(undefined), isOver: false };
      queue.push(waiting);
      signal?.addEventListener("abort", () => {
        if (queue[0] === waiting) return; // it is held: what is given up is waiting
        const at = queue.indexOf(waiting);
        if (at >= 0) queue.splice(at, 1);
        reject(new DOMException("given up", "AbortError"));
      });
      if (queue[0] === waiting) this.#grant(waiting);
    });
  }

  #grant(waiting: Waiting): void {
    this.time.after(1, async () => {
      if (waiting.isOver) return;
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

  freeLocksOf(tab: ModelTab): void {
    for (const queue of this.#holders.values()) {
      for (const waiting of queue.filter((other) => other.tab === tab)) this.#free(waiting);
    }
  }
}

/** A tab as a person sees and hears it. */
export class ModelTab {
  readonly wire: CallWire;
  readonly link = new Observable<LinkState>("online");
  readonly sayings: CallSaying[] = [];
  readonly planes: ScriptedPlane[] = [];
  view: CallView | undefined;
  tone = "none";
  isGuarded = false;
  isAlive = true;
  isVisible = true;
  engine!: CallEngine;
  /** Bytes told of calls that ended here. */
  readonly used: Uuid[] = [];
  /** What must not have happened. */
  readonly faults: string[] = [];
  readonly #gone = new Set<Uuid>();

  constructor(
    readonly browser: ModelBrowser,
    readonly storage: Map<string, string>,
  ) {
    this.wire = new CallWire(() => this.now());
    if (!browser.isReached) this.link.set("connecting");
  }

  now(): number {
    return this.browser.time.now + this.browser.skew;
  }

  async open(): Promise<void> {
    const { memory } = this.browser;
    const device = (memory.get("device") as Uuid | undefined) ?? createUuid();
    memory.set("device", device);
    this.engine = new CallEngine(this.#makeLink(), this.#makeWorld(), device);
    await this.engine.start();
  }

  get device(): Uuid {
    return this.browser.memory.get("device") as Uuid;
  }

  get at(): string {
    return this.view?.state.at ?? "idle";
  }

  get plane(): ScriptedPlane | undefined {
    return this.planes.find(({ isStopped }) => !isStopped);
  }

  hear(news: CallNews): void {
    if (this.isAlive) this.wire.tell(news);
  }

  dial(conversation: string, peer: Uuid): void {
    void this.engine.dial({ conversation, peer, kind: "audio" });
  }

  /** As when its process is killed. */
  kill(): void {
    this.isAlive = false;
    const { tabs } = this.browser;
    tabs.splice(tabs.indexOf(this), 1);
    this.browser.freeLocksOf(this);
    this.view = undefined;
    this.tone = "none";
  }

  reload(): Promise<ModelTab> {
    this.kill();
    return this.browser.openTab(this.storage);
  }

  #after(ms: number, run: () => void): () => void {
    return this.browser.time.after(ms, () => this.isAlive && run());
  }

  #makeLink(): CallLink {
    const { browser, wire, link } = this;
    const { memory } = browser;
    const request = (name: string, { signal }: LockOptions, run: () => unknown) =>
      browser.lock(this, name, signal, () => (this.isAlive ? run() : undefined));
    return {
      me: browser.user,
      platform: {
        now: () => this.now(),
        after: (ms, run) => this.#after(ms, run),
        random: browser.random,
        locks: browser.hasLocks ? ({ request } as unknown as LockManager) : undefined,
        isVisible: () => this.isVisible,
        onLeave: () => () => {},
      },
      news: wire,
      state: link,
      memory: {
        make: async (key, value) => memory.get(key) ?? value,
        put: async (key, value) => void memory.set(key, value),
        delete: async (key) => void memory.delete(key),
        all: async (prefix) => [...memory].flatMap(([key, value]) => (key.startsWith(prefix) ? [value] : [])),
      },
      ask: (command) => this.#living(browser.ask(command as CallCommand)) as never,
      take: (call) => {
        for (const tab of browser.tabs)
          if (tab !== this) browser.time.after(1, () => tab.hear({ event_type: "taken", data: { call_id: call } }));
      },
      look: () => {},
      iceServers: async () => ({ ice_servers: [], ttl: 60, relays: false, hide: false }),
    };
  }

  /** What is answered to a tab that is gone nobody hears. */
  #living<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => this.isAlive && resolve(value),
        (error: unknown) => this.isAlive && reject(error),
      );
    });
  }

  #makeWorld(): CallWorld {
    const { storage } = this;
    return {
      makeMedia: (options, events) => {
        const plane = new ScriptedPlane(this, options, events);
        this.planes.push(plane);
        return plane;
      },
      playTone: (tone) => {
        this.tone = tone;
        const ringing = this.browser.tabs.filter((tab) => tab.tone === "ringtone");
        if (ringing.length > 1) this.faults.push("two tabs of one browser are heard ringing");
      },
      storage: {
        getItem: (key) => storage.get(key) ?? null,
        setItem: (key, value) => void storage.set(key, value),
        removeItem: (key) => void storage.delete(key),
      },
      guard: (isOn) => {
        this.isGuarded = isOn;
      },
      isOnline: () => !this.browser.isOffline,
      isThrifty: () => false,
      show: (view) => this.#show(view),
      say: (saying) => this.sayings.push(saying),
      used: (call) => this.used.push(call),
    };
  }

  #show(view: CallView | undefined): void {
    const before = this.view;
    this.view = view;
    const id = view?.state.call.id;
    if (before && (before.state.call.id !== id || view?.state.at === "ended")) this.#gone.add(before.state.call.id);
    if (view?.state.at !== "ringing" || before?.state.call.id === id) return;
    if (id && this.#gone.has(id)) this.faults.push("a call that was over rang again");
    const began = this.browser.server.began.get(id ?? "");
    if (began === undefined || this.browser.time.now > began + 33_000) this.faults.push("a call rang that was too old");
  }
}

const planes = new Map<string, ScriptedPlane>();

/**
 * Media without media: two planes that were started with each other's devices, and have heard of each other by way of
 * the server, hear each other as long as both live and have a network.
 */
export class ScriptedPlane implements MediaPlane {
  readonly id = createUuid();
  isStopped = false;
  isOpen: boolean;
  met: Uuid | undefined;
  peer: Uuid | undefined;
  other: ScriptedPlane | undefined;
  #isHeard = false;
  #isInterrupted = false;
  #flowedAt = 0;
  readonly #tab: ModelTab;
  readonly #events: MediaEvents;

  constructor(tab: ModelTab, options: MediaOptions, events: MediaEvents) {
    this.#tab = tab;
    this.#events = events;
    this.isOpen = options.isCaller;
    planes.set(this.id, this);
    void options.iceServers().catch(() => undefined);
  }

  prepare(): void {}
  open(): void {
    this.isOpen = true;
  }
  meet(device: Uuid): void {
    this.met = device;
  }
  start(device: Uuid): void {
    if (this.peer) this.#tab.faults.push("media were started twice");
    if (!this.isOpen) this.#tab.faults.push("media were started before they were opened");
    this.peer = device;
    this.#flowedAt = this.#tab.browser.time.now;
    this.#look();
  }
  receive(from: Uuid, signal: string): void {
    if (this.isStopped) this.#tab.faults.push("a plane that was stopped was told something");
    const [word, id = ""] = signal.split(" ");
    if (!this.peer || from !== this.peer) return;
    this.other = planes.get(id);
    if (word === "hello") this.#events.send(from, `here ${this.id}`);
  }
  resend(): void {
    if (this.peer && !this.#isHeard) this.#events.send(this.peer, `hello ${this.id}`);
  }
  setMuted(): void {}
  setCamera(): void {}
  setInput(): void {}
  stop(): void {
    this.isStopped = true;
  }

  get #isLiving(): boolean {
    return !this.isStopped && this.#tab.isAlive;
  }

  #look(): void {
    if (!this.#isLiving || !this.peer) return;
    const { time } = this.#tab.browser;
    const { other } = this;
    const flows =
      other?.peer === this.#tab.device &&
      other.#isLiving &&
      !other.#tab.browser.isOffline &&
      !this.#tab.browser.isOffline;
    if (flows) {
      this.#flowedAt = time.now;
      if (!this.#isHeard || this.#isInterrupted) {
        this.#isHeard = true;
        this.#isInterrupted = false;
        this.#events.heard();
      }
    } else {
      this.#events.send(this.peer, `hello ${this.id}`);
      if (this.#isHeard && !this.#isInterrupted && time.now - this.#flowedAt > 2_000) {
        this.#isInterrupted = true;
        this.#events.interrupted();
      }
      if (time.now - this.#flowedAt > 20_000) this.#events.failed();
    }
    time.after(1_000, () => this.#look());
  }
}
