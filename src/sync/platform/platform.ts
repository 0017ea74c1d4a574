import type { HttpRequest } from "#contract/wire/http-commands.ts";

type RequestOptions = {
  signal?: AbortSignal | undefined;
  /** Send `body` as it is instead of as JSON. */
  raw?: boolean;
  /** Give up after this long without an answer. */
  timeoutMs?: number;
};

/** What the engine needs of the world around it: the browser's in `browser-platform.ts`, a scripted one in tests. */
export type Platform = {
  /** The API; throws a SyncError. */
  request(request: HttpRequest, options?: RequestOptions): Promise<unknown>;
  /** A file, from a byte on, to be read as it comes; throws a SyncError. */
  open(path: string, from: number, signal: AbortSignal): Promise<Response>;
  /** What may be here already; undefined where it is still what the server's `mark` stands for; throws a SyncError. */
  look(path: string, mark: string | undefined): Promise<{ body: unknown; mark: string | null } | undefined>;
  WebSocket: new (url: string | URL, protocols?: string | string[]) => WebSocket;
  socketUrl: string;
  connectTimeoutMs: number;
  openTimeoutMs: number;
  session: {
    /** Whether this person is still the one signed in on this browser. */
    isCurrent(): boolean;
    /** Renews a session near its end before it is used. */
    prepare(): Promise<void>;
    /** After a refusal: true when a new one is there, false when there is none to be had now. */
    renew(): Promise<boolean>;
    drop(): void;
  };
  locks: Pick<LockManager, "request" | "query"> | undefined;
  openChannel(name: string): Channel | undefined;
  isVisible(): boolean;
  /** False only when the phone knows that it has no network. */
  isOnline(): boolean;
  /** The moments at which a phone comes back: network, screen, page cache. */
  onWake(listener: () => void): () => void;
  /** Whether somebody looks at the page and has used it lately. */
  isUsed(): boolean;
  /** Somebody uses it; told every now and then while they do. */
  onUse(listener: () => void): () => void;
  /** The page may be gone after this returns. */
  onLeave(listener: () => void): () => void;
  askPersistence(): Promise<void>;
  /** Bytes this origin may keep, when the browser says it. */
  quota(): Promise<number | undefined>;
  /** Forgets the pictures that are kept of these people and groups. */
  dropPictures(owners: ReadonlySet<string>): Promise<void>;
  /** Forgets the pictures that are kept of statuses which are not among these; asked for only where there are any. */
  keepPostPictures(listWanted: () => Promise<ReadonlySet<string>>): Promise<void>;
  /** A blob's address for this page; `undo` gives it back. */
  createUrl(blob: Blob): { url: string; undo(): void };
  /** A small storage that has what it is told before the call returns; undefined where the browser gives none. */
  notes: Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length"> | undefined;
  /** Where Dexie finds IndexedDB, when not in the usual place. */
  storage?: { indexedDB: IDBFactory; IDBKeyRange: typeof IDBKeyRange };
  loadMemoryStorage(): Promise<{ indexedDB: IDBFactory; IDBKeyRange: typeof IDBKeyRange }>;
  after(ms: number, run: () => void): () => void;
  now(): number;
  random(): number;
};

export type Channel = Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">;
