import type { HttpRequest } from "#contract/wire/http-commands.ts";

type PlatformRequestOptions = {
  signal?: AbortSignal | undefined;
  /** Send `body` as it is instead of as JSON. */
  raw?: boolean;
  /** Give up after this long without an answer. */
  timeoutMs?: number;
};

/** What the engine needs of the world around it: the browser's in `browser-platform.ts`, a scripted one in tests. */
export type Platform = {
  /** The API; throws a SyncError. */
  request(request: HttpRequest, options?: PlatformRequestOptions): Promise<unknown>;
  /** A file, from a byte on, to be read as it comes; throws a SyncError. */
  download(path: string, from: number, signal: AbortSignal): Promise<Response>;
  /** What may be here already; undefined where it is still what the server's `mark` stands for; throws a SyncError. */
  requestIfChanged(path: string, mark: string | undefined): Promise<{ body: unknown; etag: string | null } | undefined>;
  WebSocket: new (url: string | URL, protocols?: string | string[]) => WebSocket;
  socketUrl: string;
  connectTimeoutMs: number;
  storeOpenTimeoutMs: number;
  session: {
    /** Whether this person is still the one signed in on this browser. */
    isCurrent(): boolean;
    /** Renews a session near its end before it is used. */
    renewIfExpiring(): Promise<void>;
    /** After a refusal: true when a new one is there, false when there is none to be had now. */
    renew(): Promise<boolean>;
    clear(): void;
  };
  locks: Pick<LockManager, "request" | "query"> | undefined;
  openChannel(name: string): BroadcastPort | undefined;
  isVisible(): boolean;
  /** False only when the phone knows that it has no network. */
  isOnline(): boolean;
  /** The moments at which a phone comes back: network, screen, page cache. */
  onWake(listener: () => void): () => void;
  /** Whether somebody looks at the page and has used it lately. */
  isUserActive(): boolean;
  /** Somebody uses it; told every now and then while they do. */
  onUserActivity(listener: () => void): () => void;
  /** The page may be gone after this returns. */
  onLeave(listener: () => void): () => void;
  requestPersistentStorage(): Promise<void>;
  /** Bytes this origin may keep, when the browser says it. */
  estimateQuota(): Promise<number | undefined>;
  /** Forgets the pictures that are kept of these people and groups. */
  deletePictures(owners: ReadonlySet<string>): Promise<void>;
  /** Forgets the pictures that are kept of statuses which are not among these; asked for only where there are any. */
  prunePostPictures(listWanted: () => Promise<ReadonlySet<string>>): Promise<void>;
  /** A blob's address for this page; `undo` gives it back. */
  createObjectUrl(blob: Blob): { url: string; revoke(): void };
  /** A small storage that has what it is told before the call returns; undefined where the browser gives none. */
  localStorage: Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length"> | undefined;
  /** Where Dexie finds IndexedDB, when not in the usual place. */
  indexedDb?: { indexedDB: IDBFactory; IDBKeyRange: typeof IDBKeyRange };
  loadMemoryIndexedDb(): Promise<{ indexedDB: IDBFactory; IDBKeyRange: typeof IDBKeyRange }>;
  startTimer(ms: number, run: () => void): () => void;
  now(): number;
  random(): number;
};

export type BroadcastPort = Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">;
