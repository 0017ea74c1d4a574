import type { IceServers } from "#contract/calls/ice.ts";
import type { Uuid } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { Observable } from "#lib/browser/observable.ts";
import type { CallWire } from "#sync/calls/call-feed.ts";
import type { Asked } from "#sync/connection/asked-command.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LinkState } from "#sync/store/views.ts";

/** Single values that outlive the page, for all tabs of this browser; the store's `meta`. */
export type CallMemory = {
  /** What stands there, or this value, which then stands there. */
  make(key: string, value: unknown): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Of all keys that begin so. */
  all(prefix: string): Promise<unknown[]>;
};

/** What the engine has of the layer below: one person's synchronisation in one tab. */
export type CallLink = {
  readonly me: Uuid;
  readonly platform: Pick<Platform, "now" | "after" | "random" | "locks" | "isVisible" | "onLeave">;
  readonly news: CallWire;
  readonly state: Observable<LinkState>;
  readonly memory: CallMemory;
  ask<T extends Asked["type"]>(command: Extract<Asked, { type: T }>): Promise<CommandResults[T]>;
  /** Tells this browser's other tabs that a call that rings is taken here. */
  take(call: Uuid): void;
  /** The way to the server should be looked at. */
  look(): void;
  /** Whether the person wants to hear that they are called. */
  hearsRinging(): Promise<boolean>;
  /** How many bytes a call took, in whichever tab of this browser; 0 where nothing is known. */
  usedBy(call: Uuid): Promise<number>;
  /** What helps the two devices of a call to find a way to each other. */
  iceServers(call: Uuid): Promise<IceServers>;
};
