import type { MemberNames } from "#components/messages/member-names.ts";
import type { AvatarPerson } from "#components/people/avatar-text.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { DisplayedStatus } from "#sync/store/view-models.ts";

/**
 * Data of a first view: the part of a screen that is drawn without the app's code, by the Worker or from a snapshot.
 * Times are in the time zone of the runtime that draws it (`toWallClock` converts them for the Worker).
 */

/** Newest message of a conversation. */
type LastEntry = {
  /** Null in a cleared history; undefined if it is not known, so that nothing is said about it. */
  body: StoredBody | null | undefined;
  mine: boolean;
  sender?: number | undefined;
  status?: DisplayedStatus | undefined;
};

/** Row of the conversation list; `ConversationListItem` is compatible. */
export type ListEntry = {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: (AvatarPerson & { blocked: 0 | 1 }) | undefined;
  group: GroupCard | null;
  memberProfiles: MemberNames["profiles"];
  unread: number;
  mentions: readonly number[];
  marked: boolean;
  pinned: boolean;
  muted: boolean;
  mutedExceptMentions: boolean;
  at: number;
  last: LastEntry;
  draft?: string | undefined;
};

export type ListView = {
  type: "list";
  me: AvatarPerson | undefined;
  /** Pinned ones in their order, then the most recent first. */
  entries: readonly ListEntry[];
  /** Number of archived conversations, null if there are some and not all are known. */
  archivedCount: number | null;
  /** Unread messages of all conversations that are not muted, and received requests; undefined if not all are known. */
  marks: { unread: number; received: number } | undefined;
  hasTala: boolean;
  now: number;
};

/** Message of a chat; `ChatItem` is compatible. */
export type ChatEntry = {
  seq?: number | undefined;
  replyTo?: Uuid | undefined;
  mine: boolean;
  sender?: number | undefined;
  at: number;
  body: StoredBody;
  status: DisplayedStatus;
  reactions?: string | undefined;
};

/** Member of a group, by member number. */
export type MemberEntry = { user: Uuid; name: string; avatar: string | null; phone: string };

export type ChatViewData = {
  type: "chat";
  me: Uuid;
  conversation: ConversationId;
  /** Undefined in a group. */
  peer: Uuid | undefined;
  person: AvatarPerson;
  name: string;
  isMuted: boolean;
  /** Number of members; only in a group. */
  memberCount: number | undefined;
  members: { ownNumber: number; profiles: Readonly<Partial<Record<number, MemberEntry>>> } | undefined;
  /** Newest first. */
  messages: readonly ChatEntry[];
  /** Messages whose picture is shown as its thumbhash, which costs some 2 kB each. */
  thumbs: ReadonlySet<ChatEntry>;
  hasOlder: boolean;
  /** Position of the message that was pinned last. */
  pinned: number | undefined;
  now: number;
  /** Difference of the times in these data to the epoch times they stand for (`toWallClock`). */
  shiftMs: number;
};

export type FirstViewData = ListView | ChatViewData;
