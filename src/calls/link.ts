import type { IceServers } from "#contract/calls/ice.ts";
import type { Uuid } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { Observable } from "#lib/browser/observable.ts";
import type { CallFeed } from "#sync/calls/call-feed.ts";
import type { RequestCommand } from "#sync/connection/pending-requests.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LinkState } from "#sync/store/view-models.ts";

/** Single values that outlive the page, for all tabs of this browser; the store's `meta`. */
export type CallStorage = {
  /** What stands there, or this value, which then stands there. */
  getOrInsert(key: string, value: unknown): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Of all keys that begin so. */
  listByPrefix(prefix: string): Promise<unknown[]>;
};

/** What the engine has of the layer below: one person's synchronisation in one tab. */
export type CallSyncPort = {
  readonly me: Uuid;
  readonly platform: Pick<Platform, "now" | "startTimer" | "random" | "locks" | "isVisible" | "onLeave">;
  readonly feed: CallFeed;
  readonly connectionState: Observable<LinkState>;
  readonly storage: CallStorage;
  request<T extends RequestCommand["type"]>(command: Extract<RequestCommand, { type: T }>): Promise<CommandResults[T]>;
  /** Tells this browser's other tabs that a call that rings is taken here. */
  announceTaken(call: Uuid): void;
  /** The way to the server should be looked at. */
  checkConnection(): void;
  /** Whether the person wants to hear that they are called. */
  isRingAudible(): Promise<boolean>;
  /** How many bytes a call took, in whichever tab of this browser; 0 where nothing is known. */
  findDataUse(call: Uuid): Promise<number>;
  /** What helps the two devices of a call to find a way to each other. */
  fetchIceServers(call: Uuid): Promise<IceServers>;
};
