import { TabCallController } from "#calls/controller/call-controller.ts";
import type { CallEnvironment } from "#calls/environment.ts";
import type { CallSyncPort } from "#calls/sync-port.ts";
import type { CallNotice, CallView } from "#calls/views.ts";
import type { CallKind } from "#contract/calls/call.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { CallFeed, type CallFeedEvent } from "#sync/connection/call-feed.ts";
import type { LinkState } from "#sync/store/view-models.ts";
import { FakeMediaSession } from "./fake-media-session.ts";
import type { ModelBrowser } from "./model-browser.ts";
import type { ModelCallRequest } from "./model-calls.ts";

const addListener = (listeners: Set<() => void>, listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Tab with a call controller, as its user sees and hears it. */
export class ModelTab {
  readonly feed: CallFeed;
  readonly link = new Observable<LinkState>("online");
  readonly callNotices: CallNotice[] = [];
  readonly mediaSessions: FakeMediaSession[] = [];
  view: CallView | undefined;
  tone = "none";
  isGuarded = false;
  isAlive = true;
  isVisible = true;
  /** Listeners for changes of `isVisible`. */
  readonly #visibilityListeners = new Set<() => void>();
  readonly #notificationListeners = new Set<() => void>();
  controller!: TabCallController;
  /** Bytes reported for calls of this tab. */
  readonly dataUses: [Uuid, number][] = [];
  /** Broken invariants. */
  readonly violations: string[] = [];
  readonly #endedCalls = new Set<Uuid>();

  constructor(
    readonly browser: ModelBrowser,
    readonly storage: Map<string, string>,
  ) {
    this.feed = new CallFeed(() => this.now());
    if (!browser.isServerReachable) this.link.set("connecting");
  }

  now(): number {
    return this.browser.time.now + this.browser.clockSkewMs;
  }

  async open(): Promise<void> {
    const { memory } = this.browser;
    const device = (memory.get("device") as Uuid | undefined) ?? createUuid();
    memory.set("device", device);
    this.controller = new TabCallController(this.#makeSyncPort(), this.#makeEnvironment(), device);
    await this.controller.start();
  }

  get device(): Uuid {
    return this.browser.memory.get("device") as Uuid;
  }

  get phase(): string {
    return this.view?.state.phase ?? "idle";
  }

  get media(): FakeMediaSession | undefined {
    return this.mediaSessions.find(({ isStopped }) => !isStopped);
  }

  receive(news: CallFeedEvent): void {
    if (this.isAlive) this.feed.publish(news);
  }

  dial(conversation: string, peer: Uuid, kind: CallKind = "audio"): void {
    void this.controller.dial({ conversation, peer, kind });
  }

  /** Closes the tab as when its process is killed. */
  kill(): void {
    this.isAlive = false;
    const { tabs } = this.browser;
    tabs.splice(tabs.indexOf(this), 1);
    this.browser.releaseLocks(this);
    this.view = undefined;
    this.tone = "none";
  }

  setVisible(isVisible: boolean): void {
    this.isVisible = isVisible;
    for (const listener of [...this.#visibilityListeners]) listener();
  }

  /** Reports that the service worker shows a notification of the ringing call. */
  showRingNotification(): void {
    for (const listener of [...this.#notificationListeners]) listener();
  }

  reload(): Promise<ModelTab> {
    this.kill();
    return this.browser.openTab(this.storage);
  }

  #after(ms: number, run: () => void): () => void {
    return this.browser.time.after(ms, () => this.isAlive && run());
  }

  #makeSyncPort(): CallSyncPort {
    const { browser, feed: wire, link } = this;
    const { memory } = browser;
    const request = (name: string, { signal }: LockOptions, run: () => unknown) =>
      browser.lock(this, name, signal, () => (this.isAlive ? run() : undefined));
    return {
      me: browser.user,
      platform: {
        now: () => this.now(),
        startTimer: (ms, run) => this.#after(ms, run),
        random: browser.random,
        locks: browser.hasLocks
          ? ({ request, query: async () => browser.heldLocks() } as unknown as LockManager)
          : undefined,
        isVisible: () => this.isVisible,
        onWake: (listener) => addListener(this.#visibilityListeners, listener),
        onLeave: (listener) =>
          addListener(this.#visibilityListeners, () => {
            if (!this.isVisible) listener();
          }),
      },
      feed: wire,
      connectionState: link,
      storage: {
        getOrInsert: async (key, value) => memory.get(key) ?? value,
        put: async (key, value) => void memory.set(key, value),
        delete: async (key) => void memory.delete(key),
        listByPrefix: async (prefix) => [...memory].flatMap(([key, value]) => (key.startsWith(prefix) ? [value] : [])),
      },
      request: (command) => this.#whileAlive(browser.request(command as ModelCallRequest)) as never,
      announceTaken: (call) => {
        for (const tab of browser.tabs)
          if (tab !== this) browser.time.after(1, () => tab.receive({ event_type: "taken", data: { call_id: call } }));
      },
      checkConnection: () => browser.checkConnection(),
      findDialRefusal: async () => browser.dialRefusal,
      isRingAudible: async () => browser.isRingAudible,
      hasSystemNotifications: () => browser.hasSystemNotifications,
      subscribeRingNotification: (_, onShown) => addListener(this.#notificationListeners, onShown),
      findDataUse: async (call) =>
        Math.max(0, ...browser.dataUses.flatMap(([id, bytes]) => (id === call ? [bytes] : []))),
      fetchIceServers: async () => ({ ice_servers: [], ttl: 60, relays: false, hide: false }),
    };
  }

  /** Settles an answer only while the tab is alive. */
  #whileAlive<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => this.isAlive && resolve(value),
        (error: unknown) => this.isAlive && reject(error),
      );
    });
  }

  #makeEnvironment(): CallEnvironment {
    const { storage } = this;
    return {
      createMedia: (options, events) => {
        const plane = new FakeMediaSession(this, options, events);
        this.mediaSessions.push(plane);
        return plane;
      },
      playTone: (tone) => {
        this.tone = tone;
        const ringing = this.browser.tabs.filter((tab) => tab.tone === "ringtone" || tab.tone === "vibrate");
        if (ringing.length > 1) this.violations.push("two tabs of one browser are heard ringing");
      },
      storage: {
        getItem: (key) => storage.get(key) ?? null,
        setItem: (key, value) => void storage.set(key, value),
        removeItem: (key) => void storage.delete(key),
      },
      setUnloadGuard: (isOn) => {
        this.isGuarded = isOn;
      },
      isOnline: () => !this.browser.isOffline,
      isDataSaver: () => false,
      showCall: (view) => this.#show(view),
      showNotice: (saying) => this.callNotices.push(saying),
      recordDataUse: (call, bytes) => {
        this.dataUses.push([call, bytes]);
        this.browser.dataUses.push([call, bytes]);
      },
    };
  }

  #show(view: CallView | undefined): void {
    const before = this.view;
    this.view = view;
    const id = view?.state.call.id;
    if (before && (before.state.call.id !== id || view?.state.phase === "ended"))
      this.#endedCalls.add(before.state.call.id);
    if (view?.state.phase !== "ringing" || before?.state.call.id === id) return;
    if (id && this.#endedCalls.has(id)) this.violations.push("a call that was over rang again");
    const began = this.browser.server.createdAt.get(id ?? "");
    if (began === undefined || this.browser.time.now > began + 33_000)
      this.violations.push("a call rang that was too old");
  }
}
