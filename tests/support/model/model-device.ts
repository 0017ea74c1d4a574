import Dexie from "dexie";
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import type { Uuid } from "#contract/ids.ts";
import type { FlagChange } from "#contract/settings/conversation-flags.ts";
import { type Command, type CommandOf, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import * as serverCode from "#sync/engine/server-code.ts";
import { SyncClient, type SyncNotice } from "#sync/engine/sync-client.ts";
import type { BroadcastPort, Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { deviceTime, recordActivity } from "./device-time.ts";
import { searchModelConversations } from "./model-answers.ts";
import { ModelLocalStorage } from "./model-local-storage.ts";
import type { ModelServer } from "./model-server.ts";
import { type Faults, ModelSocket, makeGoodNetwork } from "./model-socket.ts";

// Live queries of Dexie do nothing without a global IndexedDB; each device has one of its own.
Dexie.dependencies.indexedDB = new IDBFactory();

let devices = 0;

/** Device of one person: storage, network and tabs. */
export class ModelDevice {
  readonly number = ++devices;
  indexedDB = new IDBFactory();
  faults: Faults = makeGoodNetwork();
  isVisible = true;
  isOnline = true;
  isUserActive = false;
  isSignedIn = true;
  renewals = 0;
  /** Whether the server refuses this device's session. */
  refusesSession = false;
  canRenew = true;
  persistenceRequests = 0;
  outboxSyncRequests = 0;
  readonly deletedPictures = new Set<string>();
  /** How often the snapshots of first views were deleted. */
  firstViewDeletions = 0;
  /** Statuses whose pictures are cached. */
  readonly postPictures = new Set<string>();
  quota: number | undefined;
  /** Set to lose single requests or their answers. */
  shouldLose: (request: HttpRequest, what: "request" | "answer") => boolean = () => false;
  createdUrlCount = 0;
  /** Object URLs that were not revoked. */
  readonly openUrls = new Map<string, Blob>();
  /** Bytes of a file that arrive before each download breaks off. */
  downloadBytes = Number.POSITIVE_INFINITY;
  readonly downloads: { path: string; from: number }[] = [];
  hasLocks = true;
  storeTimeoutMs = 5_000;
  /** Duration of every HTTP request, in virtual time. */
  requestMs = 0;
  /** Duration of its answer. */
  answerMs = 0;
  /** Resolves once the first screen of a page is drawn. */
  firstScreen: Promise<void> = Promise.resolve();
  /** Content outlives every page. */
  localStorage: ModelLocalStorage | undefined = new ModelLocalStorage();
  readonly notices: SyncNotice[] = [];
  readonly requests: HttpRequest[] = [];
  readonly sockets: ModelSocket[] = [];
  readonly tabs: SyncClient[] = [];
  readonly #processes = new WeakMap<SyncClient, { isAsleep: boolean }>();
  readonly #wakeListeners = new Set<() => void>();
  readonly #leaveListeners = new Set<() => void>();
  readonly #activityListeners = new Set<() => void>();

  constructor(
    readonly server: ModelServer,
    readonly user: Uuid,
  ) {}

  async openTab(): Promise<SyncClient> {
    const life = { isAsleep: false };
    const tab = new SyncClient(
      this.user,
      this.platform(life),
      (notice) => this.notices.push(notice),
      async () => serverCode,
    );
    this.#processes.set(tab, life);
    this.tabs.push(tab);
    await tab.start();
    return tab;
  }

  /** Freezes a page: it receives nothing, its timers stop, and it keeps its lock. */
  putToSleep(tab: SyncClient): void {
    const life = this.#processes.get(tab);
    if (life) life.isAsleep = true;
  }

  /** Closes a tab as when its process is killed: nothing is written after this. */
  async kill(tab: SyncClient): Promise<void> {
    tab.context.get()?.store.close();
    tab.unsent.close();
    await this.close(tab);
  }

  async close(tab: SyncClient): Promise<void> {
    this.tabs.splice(this.tabs.indexOf(tab), 1);
    await tab.stop();
  }

  async closeTabs(): Promise<void> {
    await Promise.all([...this.tabs].map((tab) => this.close(tab)));
  }

  wake(): void {
    for (const wake of [...this.#wakeListeners]) wake();
  }

  /** Simulates a touch of the screen. */
  touchScreen(): void {
    for (const use of [...this.#activityListeners]) use();
  }

  /** Hides all tabs. */
  enterBackground(): void {
    this.isVisible = false;
    for (const leave of [...this.#leaveListeners]) leave();
  }

  /** Makes the tabs visible again. */
  enterForeground(): void {
    this.isVisible = true;
    this.wake();
  }

  endSession(): void {
    this.isSignedIn = false;
  }

  /** Waits for this much virtual time. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve) => deviceTime.after(ms, resolve));
  }

  /** Offset of the clock, changed during the test. */
  clockOffsetMs = 0;

  readonly now = (): number => deviceTime.now() + this.clockOffsetMs;

  platform(life = { isAsleep: false }): Platform {
    const device = this;
    const toDeviceName = (name: string) => `${name} on device ${device.number}`;
    class DeviceSocket extends ModelSocket {
      constructor(url: string | URL) {
        const faults = new Proxy(device.faults, {
          get: (target, name: keyof Faults) => (name === "blackhole" && life.isAsleep) || target[name],
        });
        super(String(url), device.server, device.user, faults, () => device.refusesSession, String(device.number));
        device.sockets.push(this);
      }
    }
    return {
      request: (request, options) => device.#request(request, options?.signal),
      download: (path, from, signal) => device.#download(path, from, signal),
      requestIfChanged: (path, mark) => device.#requestIfChanged(path, mark),
      WebSocket: DeviceSocket as unknown as Platform["WebSocket"],
      socketUrl: "ws://model/api/socket",
      connectTimeoutMs: 15_000,
      storeTimeoutMs: device.storeTimeoutMs,
      session: {
        isCurrent: () => device.isSignedIn,
        renewIfExpiring: async () => {},
        renew: async () => {
          device.renewals++;
          if (device.canRenew) device.refusesSession = false;
          else device.endSession();
          return device.canRenew;
        },
        clear: () => device.endSession(),
      },
      locks: device.hasLocks
        ? ({
            request: (name: string, ...rest: [LockOptions, () => Promise<void>]) =>
              navigator.locks.request(toDeviceName(name), ...rest),
          } as unknown as Platform["locks"])
        : undefined,
      openChannel: (name) => sleepable(new BroadcastChannel(toDeviceName(name)), life),
      isVisible: () => device.isVisible,
      isOnline: () => device.isOnline,
      onWake: (listener) => {
        device.#wakeListeners.add(listener);
        return () => device.#wakeListeners.delete(listener);
      },
      isUserActive: () => device.isVisible && device.isUserActive,
      onUserActivity: (listener) => {
        device.#activityListeners.add(listener);
        return () => device.#activityListeners.delete(listener);
      },
      onLeave: (listener) => {
        device.#leaveListeners.add(listener);
        return () => device.#leaveListeners.delete(listener);
      },
      requestPersistentStorage: async () => {
        device.persistenceRequests++;
      },
      waitForFirstScreen: () => this.firstScreen,
      requestOutboxSync: async () => {
        device.outboxSyncRequests++;
      },
      estimateQuota: async () => device.quota,
      deleteFirstViews: async () => {
        device.firstViewDeletions++;
      },
      deletePictures: async (owners) => {
        for (const owner of owners) device.deletedPictures.add(owner);
      },
      prunePostPictures: async (listWanted) => {
        const wanted = await listWanted();
        for (const post of device.postPictures) if (!wanted.has(post)) device.postPictures.delete(post);
      },
      createObjectUrl: (blob) => {
        const url = `blob:${++device.createdUrlCount}`;
        device.openUrls.set(url, blob);
        return { url, revoke: () => device.openUrls.delete(url) };
      },
      localStorage: device.localStorage,
      indexedDb: { indexedDB: device.indexedDB, IDBKeyRange },
      loadMemoryIndexedDb: async () => ({ indexedDB: new IDBFactory(), IDBKeyRange }),
      startTimer: (ms, run) =>
        deviceTime.after(ms, () => {
          if (!life.isAsleep) run();
        }),
      now: device.now,
      random: () => device.faults.random(),
    };
  }

  async #request(request: HttpRequest, signal?: AbortSignal): Promise<unknown> {
    const { faults } = this;
    this.requests.push(request);
    await new Promise((resolve) => setTimeout(resolve, faults.random() * faults.delay));
    if (this.requestMs > 0) await this.pass(this.requestMs);
    signal?.throwIfAborted();
    this.#applyFaults();
    if (this.shouldLose(request, "request")) throw new SyncError("offline");
    if (request.path === `/api/users/${this.user}`) {
      const profile = this.server.profiles.get(this.user);
      if (this.answerMs > 0) await this.pass(this.answerMs);
      return profile;
    }
    const isFile = request.path.startsWith("/api/files/");
    const isGroup = request.path.startsWith("/api/groups");
    const result = isFile
      ? await this.server.files.handle(this.user, request)
      : isGroup
        ? (this.server.handleGroupRequest(this.user, request) as Refusal | object | undefined)
        : request.path.startsWith("/api/tala")
          ? this.server.tala.handle(this.user, request)
          : request.path === "/api/settings"
            ? request.method === "GET"
              ? this.server.readSettings(this.user)
              : this.server.changeSettings(this.user, request.body)
            : request.path.endsWith("/message-flags")
              ? this.server.listMessageFlags(this.user, request.path.split("/")[3] ?? "")
              : request.path.startsWith("/api/drafts")
                ? this.server.listDrafts(this.user, Number(request.path.split("=")[1]))
                : request.path === "/api/search"
                  ? searchModelConversations(this.server, this.user, request.body)
                  : this.server.execute(this.user, toCommand(request), undefined, String(this.number));
    if (this.answerMs > 0) await this.pass(this.answerMs);
    if (this.shouldLose(request, "answer") || (faults.dropAck > 0 && faults.random() < faults.dropAck))
      throw new SyncError("offline");
    signal?.throwIfAborted();
    if (result && isRefusal(result)) throw new SyncError(result.error, result.retryAfterMs);
    return structuredClone(result);
  }

  /** The whole body serves as the ETag. */
  async #requestIfChanged(
    path: string,
    mark: string | undefined,
  ): Promise<{ body: unknown; etag: string } | undefined> {
    const body = await this.#request({ method: "GET", path });
    const now = JSON.stringify(body);
    return now === mark ? undefined : { body, etag: now };
  }

  #applyFaults(): void {
    const { isOffline, blackhole, cut, random } = this.faults;
    if (isOffline || blackhole || (cut > 0 && random() < cut)) throw new SyncError("offline");
  }

  async #download(path: string, from: number, signal: AbortSignal): Promise<Response> {
    this.downloads.push({ path, from });
    await this.pass(this.requestMs);
    signal.throwIfAborted();
    this.#applyFaults();
    const bytes = this.server.readFile(this.user, path);
    await this.pass(this.answerMs);
    if (!bytes) throw new SyncError("file_not_found");
    const rest = bytes.slice(from, from + this.downloadBytes);
    const isCut = from + rest.length < bytes.length;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (rest.length > 0 && this.isReadToEnd !== true) {
          this.isReadToEnd = true;
          controller.enqueue(rest);
        } else if (isCut) controller.error(new TypeError("the connection was lost"));
        else controller.close();
      },
    } as UnderlyingDefaultSource<Uint8Array> & { isReadToEnd?: boolean });
    return new Response(stream, { status: from > 0 ? 206 : 200 });
  }
}

const sleepable = (channel: BroadcastChannel, life: { isAsleep: boolean }): BroadcastPort => ({
  postMessage: (message) => channel.postMessage(message),
  close: () => channel.close(),
  get onmessage() {
    return null;
  },
  set onmessage(listener) {
    channel.onmessage = (event: unknown) => {
      recordActivity();
      if (!life.isAsleep) (listener as ((event: unknown) => void) | null)?.(event);
    };
  },
});

/** Reverses `toHttpRequest`, as the Worker's routes do. */
const toCommand = ({ method, path, body }: HttpRequest): Command => {
  const url = new URL(path, "http://model");
  const query = (name: string) => (url.searchParams.has(name) ? Number(url.searchParams.get(name)) : undefined);
  if (url.pathname === "/api/sync") {
    const before = query("before");
    return { type: "changes", since: query("since") ?? 0, ...(before === undefined ? {} : { before }) };
  }
  if (url.pathname === "/api/messages") return { type: "multicast", ...(body as Omit<CommandOf<"multicast">, "type">) };
  const [, , area, conversation = "", what, seq] = url.pathname.split("/") as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if (area === "mutes") {
    const seconds = query("seconds");
    return {
      type: "mute",
      conversation,
      muted: method === "PUT",
      ...(seconds === undefined ? {} : { seconds }),
      ...(url.searchParams.get("except") === "mentions" ? { exceptMentions: true } : {}),
    };
  }
  if (url.pathname.endsWith("/flags") && what === "messages")
    return {
      type: "setMessageFlags",
      conversation,
      seq: Number(seq),
      ...(body as { starred?: boolean; deleted?: true }),
    };
  if (url.pathname.endsWith("/pin"))
    return { type: "pinMessage", conversation, seq: Number(seq), ...(body as { pinned: boolean }) };
  if (what === "flags") return { type: "setConversationFlags", conversation, ...(body as FlagChange) };
  if (what === "clear") return { type: "clearHistory", conversation, keep: true, ...(body as { upTo: number }) };
  if (method === "DELETE" && what === "messages") return { type: "deleteForEveryone", conversation, seq: Number(seq) };
  if (method === "DELETE") return { type: "clearHistory", conversation, keep: false, upTo: query("upTo") ?? 0 };
  if (what === "withdrawals") return { type: "deletePending", conversation, cid: seq };
  if (method === "PATCH") {
    const target = seq.includes("-") ? seq : Number(seq);
    return { type: "editMessage", conversation, target, ...(body as { edit: number; text: string }) };
  }
  if (method === "PUT" && what === "messages")
    return { type: "react", conversation, seq: Number(seq), ...(body as { emoji: string | null }) };
  if (what === "draft")
    return { type: "setDraft", conversation, ...(body as Omit<CommandOf<"setDraft">, "type" | "conversation">) };
  if (method === "PUT") return { type: "mark", conversation, ...(body as { delivered: number; read: number }) };
  if (method === "POST") return { type: "send", conversation, ...(body as { messages: [] }) };
  if (what === "presence") return { type: "presence", conversation };
  if (what === "search")
    return { type: "search", conversation, query: url.searchParams.get("query") ?? "", before: query("before") ?? 1 };
  if (what === "revisions") return { type: "revised", conversation, since: query("since") ?? 0 };
  const direction = url.searchParams.has("after") ? "after" : "before";
  return { type: "page", conversation, direction, seq: query(direction) ?? 0, limit: query("limit") ?? 1 };
};
