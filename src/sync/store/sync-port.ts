import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import type { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import type { SyncContext } from "./sync-context.ts";
import type { LinkState } from "./view-models.ts";

/**
 * Commands sent as a request and answered with a result, over the socket or by HTTP. Messages, receipts and changes of
 * stored data have their own paths, which also confirm that the change was made.
 */
export type RequestCommand = Extract<
  Command,
  { type: "page" | "search" | "changes" | "revised" | "presence" | "react" | "setDraft" | CallRequest["type"] }
>;

/** Services of a tab for the parts of the sync engine that run in it. The engine's SyncClient implements them. */
export type SyncPort = {
  /** Person whose data it is. */
  readonly me: Uuid;
  readonly platform: Platform;
  /** Undefined while no store is open; a new object after each opening. */
  readonly context: Observable<SyncContext | undefined>;
  /** Unsent data of the person. */
  readonly unsent: UnsentStore;
  readonly link: Observable<LinkState>;
  /** Whether this page works from memory: nothing that it stores outlives it, and no other page sees it. */
  readonly isInMemory: boolean;
  /** Version that grows when presences on screen must be requested again. */
  readonly presenceVersion: Observable<number>;
  readonly typing: {
    /** Makes the next keystroke report at once, because the message was sent. */
    resetThrottle(conversation: ConversationId): void;
  };
  /** Sends a request to the server over the best way there is. Rejects with a SyncError. */
  request<T extends RequestCommand["type"]>(
    command: Extract<RequestCommand, { type: T }>,
    signal?: AbortSignal,
  ): Promise<CommandResults[T]>;
  /**
   * Tells the leader that the store holds something new to send: a message, file, status, setting or deletion
   * ("outbox"), or a draft that the other devices do not have ("drafts").
   */
  notifyChanged(kind: "outbox" | "drafts"): void;
  /** Tells the leader that the local read position of a conversation moved. */
  reportRead(conversation: ConversationId): void;
  /** Makes the leader fetch the newest messages of a conversation before anything else, because it is on screen. */
  prioritizeConversation(conversation: ConversationId): void;
  /** Checks the connection now. Without a socket, changes are fetched by HTTP at once. */
  refresh(): void;
};

/** Context of the open store. Throws a SyncError while none is open. */
export const requireContext = (port: SyncPort): SyncContext => {
  const context = port.context.get();
  if (!context) throw new SyncError("unavailable");
  return context;
};
