import type { HttpRequest } from "#contract/wire/http-commands.ts";

type PlatformRequestOptions = {
  signal?: AbortSignal | undefined;
  /** Sends `body` as it is instead of as JSON. */
  isRawBody?: boolean;
  /** Time limit for the response. */
  timeoutMs?: number;
};

/** Environment of the sync engine: the browser's in `browser-platform.ts`, a simulated one in tests. */
export type Platform = {
  /** Sends an API request. Throws SyncError. */
  request(request: HttpRequest, options?: PlatformRequestOptions): Promise<unknown>;
  /** Downloads a file from byte `from` on, as a stream. Throws SyncError. */
  download(path: string, offset: number, signal: AbortSignal): Promise<Response>;
  /** Conditional GET: returns undefined if the resource still has the given ETag. Throws SyncError. */
  requestIfChanged(path: string, etag: string | undefined): Promise<{ body: unknown; etag: string | null } | undefined>;
  WebSocket: new (url: string | URL, protocols?: string | string[]) => WebSocket;
  socketUrl: string;
  connectTimeoutMs: number;
  /** Maximum wait for an answer of the local database when it is opened. */
  storeTimeoutMs: number;
  session: {
    /** Whether this person is still the one signed in on this browser. */
    isCurrent(): boolean;
    /** Renews the session if it expires soon. */
    renewIfExpiring(): Promise<void>;
    /** Renews a session that the server refused. Returns false if that is not possible now. */
    renew(): Promise<boolean>;
    clear(): void;
  };
  locks: Pick<LockManager, "request" | "query"> | undefined;
  openChannel(name: string): BroadcastPort | undefined;
  isVisible(): boolean;
  /** False only if the device knows that it has no network. */
  isOnline(): boolean;
  /** Calls `listener` whenever the device or page resumes: network, visibility, page cache. */
  onWake(listener: () => void): () => void;
  /** Whether the page is visible and was used recently. */
  isUserActive(): boolean;
  /** Calls `listener` from time to time while the page is used. */
  onUserActivity(listener: () => void): () => void;
  /** Calls `listener` when the page may be about to close: only what it does synchronously is certain to run. */
  onLeave(listener: () => void): () => void;
  /** Resolves once the first screen is drawn, or cannot be without the server. Work that the screen does not show begins then. */
  waitForFirstScreen(): Promise<void>;
  requestPersistentStorage(): Promise<void>;
  /** Lets the service worker send unsent messages once there is a network, also after this page was closed. */
  requestOutboxSync(): Promise<void>;
  /** Storage quota of this origin in bytes, if the browser reports it. */
  estimateQuota(): Promise<number | undefined>;
  /** Deletes the snapshots of first views, which may show what was deleted or changed. Does not reject. */
  deleteFirstViews(): Promise<void>;
  /** Deletes cached pictures of these people and groups. */
  deletePictures(owners: ReadonlySet<string>): Promise<void>;
  /** Deletes cached pictures of all posts but the listed ones. `listWanted` is called only if there are any. */
  prunePostPictures(listWanted: () => Promise<ReadonlySet<string>>): Promise<void>;
  /** Creates an object URL for a blob; `revoke` releases it. */
  createObjectUrl(blob: Blob): { url: string; revoke(): void };
  /** Synchronous key-value storage; undefined if the browser denies it. */
  localStorage: Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length"> | undefined;
  /** Writer of the journal entries of this page's first view, in which somebody may be typing (`data-writer`). */
  firstViewWriter?: string | undefined;
  /** IndexedDB implementation for Dexie, if not the global one. */
  indexedDb?: { indexedDB: IDBFactory; IDBKeyRange: typeof IDBKeyRange };
  loadMemoryIndexedDb(): Promise<{ indexedDB: IDBFactory; IDBKeyRange: typeof IDBKeyRange }>;
  startTimer(ms: number, run: () => void): () => void;
  now(): number;
  random(): number;
};

export type BroadcastPort = Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">;
