import type { IceServers } from "#contract/calls/ice.ts";
import type { CallError } from "#contract/calls/local-call.ts";
import type { Uuid } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { Observable } from "#lib/browser/observable.ts";
import type { CallFeed } from "#sync/connection/call-feed.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";
import type { LinkState } from "#sync/store/view-models.ts";

/** Persistent key-value storage shared by all tabs of this browser (the store's `meta` table). */
export type CallStorage = {
  /** Returns the stored value. If there is none, stores and returns the given one. */
  getOrInsert(key: string, value: unknown): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Values of all keys with this prefix. */
  listByPrefix(prefix: string): Promise<unknown[]>;
};

/** Access of the call controller to the sync engine of one person in one tab. */
export type CallSyncPort = {
  readonly me: Uuid;
  readonly platform: Pick<Platform, "now" | "startTimer" | "random" | "locks" | "isVisible" | "onWake" | "onLeave">;
  readonly feed: CallFeed;
  readonly connectionState: Observable<LinkState>;
  readonly storage: CallStorage;
  request<T extends RequestCommand["type"]>(command: Extract<RequestCommand, { type: T }>): Promise<CommandResults[T]>;
  /** Tells the other tabs of this browser that the ringing call is taken in this tab. */
  announceTaken(call: Uuid): void;
  /** Checks the connection to the server. */
  checkConnection(): void;
  /** Reason known to this device why a person cannot be called now. */
  findDialRefusal(peer: Uuid): Promise<CallError>;
  /** Whether the person wants to hear the ringtone. */
  isRingAudible(): Promise<boolean>;
  /** Whether this device shows notifications while no page of the app is visible. */
  hasSystemNotifications(): boolean;
  /** Calls the listener when a notification of the ringing call is shown on this device, at once if one is already. */
  subscribeRingNotification(call: Uuid, onShown: () => void): () => void;
  /** Bytes used by a call in any tab of this browser, 0 if unknown. */
  findDataUse(call: Uuid): Promise<number>;
  /** Fetches the STUN and TURN servers of a call. */
  fetchIceServers(call: Uuid): Promise<IceServers>;
};
