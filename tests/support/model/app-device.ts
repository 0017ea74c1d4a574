import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import WebSocket from "ws";
import type { ConversationId } from "#contract/ids.ts";
import { ApiRequestError, type HttpMethod, sendHttpRequest } from "#lib/http/http-request.ts";
import * as serverCode from "#sync/engine/server-code.ts";
import { SyncClient } from "#sync/engine/sync-client.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { fetchOlderMessages } from "#sync/queries/message-window.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import type { LocalConversationRow, LocalMessageRow } from "#sync/store/database.ts";
import { hasOlderOnServer } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import type { Person } from "#tests/support/people/people.ts";

const connectTimeoutMs = 15_000;
const storeTimeoutMs = 5_000;

/** The app without screens, for one person: store, socket and sync engine. */
export class AppDevice {
  readonly #tab: SyncClient;
  readonly #viewed: ReadTracker;

  private constructor(
    origin: string,
    readonly person: Person,
  ) {
    this.#tab = new SyncClient(
      person.id,
      toPlatform(origin, person),
      () => {},
      async () => serverCode,
    );
    this.#viewed = new ReadTracker(this.#tab);
  }

  static async open(origin: string, person: Person): Promise<AppDevice> {
    const device = new AppDevice(origin, person);
    await device.#tab.start();
    return device;
  }

  get isOnline(): boolean {
    return this.#tab.link.get() === "online";
  }

  sendText(conversation: ConversationId, text: string): Promise<void> {
    return enqueueText(this.#tab, conversation, text);
  }

  /** Opens a conversation, so that its newest page is fetched. */
  openConversation(conversation: ConversationId): void {
    this.#tab.prioritizeConversation(conversation);
  }

  markRead(conversation: ConversationId, seq: number): void {
    this.#viewed.markRead(conversation, seq);
  }

  findRow(conversation: ConversationId): Promise<LocalConversationRow | undefined> {
    return this.#context.store.conversations.get(conversation);
  }

  /** Stored messages of a conversation, in order. */
  listMessages(conversation: ConversationId): Promise<LocalMessageRow[]> {
    return this.#context.store.queryMessages(conversation, 0).toArray();
  }

  /** Number of unconfirmed messages. */
  countUnsent(): number {
    return listOutbox(this.#tab.unsent).length;
  }

  /** Loads older pages up to the first message. */
  async loadWholeHistory(conversation: ConversationId): Promise<void> {
    for (
      let row = await this.findRow(conversation);
      row && hasOlderOnServer(row);
      row = await this.findRow(conversation)
    ) {
      await fetchOlderMessages(this.#tab, conversation);
    }
  }

  close(): Promise<void> {
    return this.#tab.stop();
  }

  get #context(): SyncContext {
    const context = this.#tab.context.get();
    if (!context) throw new Error("the device has no store now");
    return context;
  }
}

const toSyncError = (error: unknown): unknown =>
  error instanceof ApiRequestError ? new SyncError(error.code, error.retryAfterMs) : error;

const toPlatform = (origin: string, { token }: Person): Platform => {
  const headers = { authorization: `Bearer ${token}`, origin }; // as the app's own pages send it
  const ask = async (method: HttpMethod, path: string, ...[body, options]: [unknown?, object?]): Promise<unknown> => {
    try {
      return await sendHttpRequest(method, origin + path, body, { ...options, headers });
    } catch (error) {
      throw toSyncError(error);
    }
  };
  class DeviceSocket extends WebSocket {
    constructor(url: string | URL) {
      super(url, { perMessageDeflate: false, headers });
      this.on("error", () => {}); // an error after the last listener was removed would end the process
    }
  }
  return {
    request: ({ method, path, body }, options) => ask(method, path, body, options),
    download: async (path, _from, signal) =>
      (await ask("GET", path, undefined, { signal, wantsResponse: true })) as Response,
    requestIfChanged: async (path) => ({ body: await ask("GET", path), etag: null }),
    WebSocket: DeviceSocket as unknown as Platform["WebSocket"],
    socketUrl: `${origin.replace("http", "ws")}/api/socket`,
    connectTimeoutMs,
    storeTimeoutMs,
    session: {
      isCurrent: () => true,
      renewIfExpiring: async () => {},
      renew: async () => false,
      clear: () => {},
    },
    locks: undefined,
    openChannel: () => undefined,
    isVisible: () => true,
    isOnline: () => true,
    onWake: () => () => {},
    isUserActive: () => false,
    onUserActivity: () => () => {},
    onLeave: () => () => {},
    requestPersistentStorage: async () => {},
    requestOutboxSync: async () => {},
    waitForFirstScreen: async () => {},
    estimateQuota: async () => undefined,
    deleteFirstViews: async () => {},
    deletePictures: async () => {},
    prunePostPictures: async () => {},
    createObjectUrl: (blob) => {
      const url = URL.createObjectURL(blob);
      return { url, revoke: () => URL.revokeObjectURL(url) };
    },
    localStorage: undefined,
    indexedDb: { indexedDB: new IDBFactory(), IDBKeyRange },
    loadMemoryIndexedDb: async () => ({ indexedDB: new IDBFactory(), IDBKeyRange }),
    startTimer: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    now: Date.now,
    random: Math.random,
  };
};
