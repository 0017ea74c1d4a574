import type { ErrorCode } from "#contract/errors.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { AttachedBody, StoredBody } from "#contract/messages/body.ts";
import type { MessageStatus } from "#contract/messages/status.ts";
import type { Audience } from "#contract/settings/settings.ts";
import type { FailureCode } from "#sync/platform/sync-error.ts";
import type { PersonRow } from "./database.ts";

/** Status shown at an own message: the server's, or "failed". */
export type DisplayedStatus = MessageStatus | "failed";

/** Profile of a group member. */
export type MemberProfile = { user: Uuid; name: string; avatar: string | null; phone: string; me: boolean };
/** Profiles by member number. */
export type MemberProfiles = Readonly<Partial<Record<number, MemberProfile>>>;

/** Newest message of a conversation, as shown in the list. */
export type LastMessage = {
  body: StoredBody | null;
  mine: boolean;
  sender?: number; // sender's member number; absent while unsent
  at: number;
  status?: DisplayedStatus; // own messages only
};

/** Whether, until when, and except for what a conversation is muted. */
export type Mute = {
  muted: boolean;
  mutedUntil: number | null; // end of a timed mute
  mutedExceptMentions: boolean;
};

/** Part of the conversation list that is shown. `everything` is what the search looks through. */
export type ListFilter = "all" | "unread" | "groups" | "archived" | "everything";

export type ConversationListItem = Mute & {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  unread: number;
  mentions: readonly number[]; // seqs of unread mentions
  marked: boolean; // as unread
  archived: boolean;
  pinned: boolean;
  at: number;
  last: LastMessage;
  open: boolean;
  draft?: string; // text draft
  group: GroupCard | null;
  gone: boolean; // ended, or left without history; listed only while it has unsent content
  memberProfiles: MemberProfiles; // members named by the last message, as far as stored
};

/** Header data of one conversation. A conversation without a local row has `isStored: false`. */
export type ConversationView = Mute & {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  unread: number;
  mentions: readonly number[]; // seqs of unread mentions
  marked: boolean; // as unread
  head: number;
  read: number; // last message read, including reads the server has not confirmed
  open: boolean; // this person may write here
  isStored: boolean;
  isConfirmed: boolean; // `open` is confirmed by the server
  blocked: boolean; // by this person
  pinnedMessages: readonly number[]; // seqs of those this person may see, pinned last at the end
  group: GroupCard | null;
  gone: boolean; // ended, or left without history
};

/** Upload progress of an own file, in bytes. */
export type UploadView = { sent: number; size: number; state: "waiting" | "uploading" | "paused" | "failed" };

type WithoutFileId<T> = T extends AttachedBody ? Omit<T, "file"> : never;
/** File to be sent, with its message body except for the file id. */
export type OutgoingFile = { blob: Blob; body: WithoutFileId<AttachedBody> };

/** Local state of a message's file. `load` downloads and caches it; calls are shared and may be repeated. */
export type FileView = {
  url: string | undefined;
  state: "here" | "absent" | "loading" | "failed";
  /** Reason of the failure. */
  error?: FailureCode;
  load(): void;
};

/** Interrupted voice recording, with the audio saved so far. */
export type RecordingDraft = { startedAt: number; chunks: Blob[]; mime: string; ms: number; levels: number[] };

/** Attachments and recordings of a conversation that were not sent. */
export type UnsentContent = {
  files: { id: Uuid; name: string; type: string; modified: number; caption: string }[];
  recordings: { startedAt: number; ms: number }[];
};

/** Unsent content of a form with attachments. */
export type Draft = {
  files: readonly File[];
  captions: ReadonlyMap<File, string>;
  isOriginal: boolean;
  /** Text and recipients of a broadcast; name and members of a new group. */
  text: string;
  to: readonly Uuid[];
  /** Id of a new group, so that a retry creates it only once. */
  id?: Uuid;
  /** Audience chosen for a status. */
  audience?: Audience;
};

/** Message or unsent message of a chat. */
export type ChatItem = {
  key: string; // stable from pending to sent
  seq?: number;
  cid?: Uuid;
  mine: boolean;
  sender?: number;
  at: number;
  body: StoredBody;
  status: DisplayedStatus;
  error?: ErrorCode;
  upload?: UploadView; // while its file is uploading
  edit?: "sending" | ErrorCode; // of a pending edit, whose text it shows, or why the server refused that
  reactions?: string; // summary as the server knows it (`contract/wire/reactions.ts`)
  ownReaction?: string | null; // own reaction that is not sent yet, null if it was removed
  starred?: true;
  replyTo?: Uuid; // own unsent message that it answers; otherwise the body names the answered message
};

/** Message that another one answers, as far as this person may see it. */
export type QuotedMessage =
  | { state: "found"; body: StoredBody; mine: boolean; sender?: number; seq?: number }
  /** Not on this device yet. */
  | { state: "absent" }
  /**
   * Not visible to this person: from before they joined, cleared, or never delivered to them. `isDeletedByMe`: they
   * cleared it or deleted it for themselves. `isWithheld`: the log has a placeholder for it.
   */
  | { state: "unavailable"; isDeletedByMe?: boolean; isWithheld?: true };

export type ChatView = {
  items: ChatItem[]; // newest first
  hasOlder: boolean;
  loading: boolean; // the first or an older page is being fetched
  loadOlder(): Promise<void>;
};

/** Connection to the server. */
export type LinkState = "online" | "connecting" | "offline";

/**
 * Problem of the local database: the browser keeps nothing ("memory"), the database does not answer at the moment
 * ("unreachable"), or no space is left on the device ("full"). In the first two cases the page works from memory.
 */
export type StorageTrouble = "memory" | "unreachable" | "full";
