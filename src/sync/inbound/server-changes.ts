import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { InboxRow } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Body, ReplyPlace } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Relation } from "#contract/people.ts";
import type { VersionedSettings } from "#contract/settings/settings.ts";
import type { ChangeNumber, ChangesResult, PageResult } from "#contract/wire/commands.ts";
import type { ChangedReactions } from "#contract/wire/reactions.ts";
import type { SyncCursor } from "#sync/store/sync-cursor.ts";
import type { Mute } from "#sync/store/view-models.ts";

/**
 * Request that a page answers: messages after or before `seq`, exclusive. `head` and `revised` are the row's values at
 * the time of the request.
 */
export type PageRequest = {
  conversation: ConversationId;
  direction: "after" | "before";
  seq: number;
  head: number;
  revised: number;
};

/** Handle or id of a conversation. */
export type ConversationKey = number | ConversationId;

/** Change received from the server, in one form for all transports. Each may arrive twice. */
export type ServerChange =
  | { type: "row"; row: InboxRow }
  | { type: "messages"; target: ConversationKey; messages: Message[] }
  /** Text from the peer of a private conversation. */
  | { type: "liveText"; target: ConversationKey; seq: number; at: number; text: string }
  /** Edit of a text or caption without mentions, whose message this device has. */
  | { type: "liveEdit"; target: ConversationKey; seq: number; revision: number; edited: number; text: string }
  /** Read state of the other members. */
  | { type: "peerRead"; target: ConversationKey; delivered: number; read: number }
  /** Own read state; `unread` counts up to `head`. */
  | { type: "ownRead"; target: ConversationKey; delivered: number; read: number; unread: number; head: number }
  | { type: "head"; target: ConversationKey; head: number }
  | { type: "person"; relation: Relation }
  | { type: "settings"; kept: VersionedSettings }
  | { type: "notice"; notice: SecurityNotice }
  /** Answer to a relation change by this device; `pushCount` is that of the person's row at the time of the request. */
  | { type: "relation"; relation: Relation; pushCount: number }
  /** An own message of this device has its place in the log. `body`: of a message that the outbox may lack. */
  | { type: "sent"; conversation: ConversationId; epoch?: string; cid: Uuid; seq: number; at: number; body?: Body }
  | { type: "page"; request: PageRequest; page: PageResult }
  /** The server refused a page for good: it has no log of this conversation for this person. */
  | { type: "noLog"; conversation: ConversationId }
  /** Messages revised after revision `since`, in their current form; of the others only `reactions` changed. */
  | {
      type: "revised";
      target: ConversationKey;
      epoch?: string;
      since: number;
      revision: number;
      messages: Message[];
      reactions?: readonly ChangedReactions[];
    }
  /** Number of the last change of any draft, in an answer with changes. */
  | { type: "draftHead"; head: number }
  /** Draft of a conversation; without content if this device wrote it. `before`: the head before it. */
  | {
      type: "draft";
      target: ConversationKey;
      before: number;
      change: number;
      content?: { base: number; at: number; text: string; reply?: ReplyPlace | undefined };
    }
  /** Answers to changes by this device; `change` is the last change of the conversation's row that they include. */
  | { type: "cleared"; conversation: ConversationId; upTo: number; keep: boolean; change: ChangeNumber }
  | { type: "muted"; conversation: ConversationId; mute: Mute; change: ChangeNumber }
  /** Cursor update; precedes the rows it covers. */
  | { type: "cursor"; move: (cursor: SyncCursor) => SyncCursor }
  /** Answer to a `changes` request; `knownCounter` is the cursor's counter at the time of the request. */
  | {
      type: "answer";
      knownCounter: number;
      epoch: string;
      counter: number;
      move: (cursor: SyncCursor) => SyncCursor;
      changes: readonly ServerChange[];
    };

/** Changes in an answer to a `changes` request, without the cursor update, which precedes them. */
export const toRowChanges = ({
  rows,
  people,
  settings,
  notices,
  draftHead,
}: Pick<ChangesResult, "rows" | "people" | "settings" | "notices"> &
  Partial<Pick<ChangesResult, "draftHead">>): ServerChange[] => [
  ...(draftHead ? [{ type: "draftHead", head: draftHead } as const] : []),
  ...(settings ? [{ type: "settings", kept: settings } as const] : []),
  ...notices.map((notice) => ({ type: "notice", notice }) as const),
  ...people.map((relation) => ({ type: "person", relation }) as const),
  ...rows.map((row) => ({ type: "row", row }) as const),
];
