import type { GroupCard } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import type { ChangedReactions } from "#contract/wire/reactions.ts";
import type { CallRecord } from "#worker/objects/shared/call-record.ts";

/** Exact unread count of a member, and in a group the newest messages among them that mention the member. */
export type UnreadState = { unread: number; mentions?: number[] };

/** State of a conversation as one member may see it, sent to their UserChannel. Idempotent. */
export type ConversationNotice = {
  conversation: ConversationId;
  epoch: string;
  head: number;
  at: number;
  /** Time of the second-newest message, null if there is none. */
  sender: number;
  /** Author of the newest message in a group, for notifications. Absent if there is none. */
  author?: Uuid;
  preview: StoredBody | null;
  whole: boolean;
  open: boolean;
  /**
   * True when the person is no longer a member of the group and keeps no history of it. All other fields but
   * `membershipVersion` are then empty.
   */
  gone: boolean;
  /** Number of changes of `open` or `gone` for this member. The notice with the higher number wins. */
  membershipVersion: number;
  /** Group data, null in a private conversation. The card with the higher `roster` wins. */
  group: GroupCard | null;
  hidden: number;
  /** Number of changes to stored messages so far. */
  revision: number;
  /** Pinned messages that the member sees, absent if there never were any. The list with the higher version wins. */
  pinned?: { version: number; seqs: number[] };
  /**
   * Current state of the messages changed after `since`. Absent if there are none or too many to push. `reactions`
   * replaces the messages if nothing else of them has changed.
   */
  revised?: {
    since: number;
    messages: Message[];
    reactions?: ChangedReactions[];
    /** Whether the newest change of one of the member's own messages is a reaction. */
    hasReactionsToOwn?: true;
  };
  ownReadState: ReadState;
  peerReadState: ReadState;
  /** The open call, otherwise the last one. Null if the member may not know of it. */
  call: CallRecord | null;
  /**
   * A ringing call that this member must not know of, because they block the caller. Their channel uses it only to
   * answer "busy".
   */
  hiddenCall?: CallRecord;
  /** Number of changes of the call. The notice with the higher number wins. */
  callVersion: number;
  /**
   * New messages in ascending order ending at `head`. Empty if only read state or `open` changed, or if there are too
   * many to push. Messages with a `cid` are the member's own.
   */
  messages: Message[];
} & Partial<UnreadState>; // up to `head`, present only when the Conversation counted

/** Part of a conversation that a member's channel already has and need not receive again. */
export type InboxPosition = { epoch: string; head: number; revision: number };

/** State of a notice in a channel (`UserChannelRpc.notify`): written, in memory only, or waiting for a push. */
export type NoticeOutcome = "written" | "held" | "pushing";
