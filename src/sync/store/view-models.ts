import type { AttachedBody, MessageStatus, StoredBody } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { FailureCode } from "#sync/platform/sync-error.ts";
import type { PersonRow } from "./database.ts";

/** What a screen shows of the local store. */
export type DisplayedStatus = MessageStatus | "failed";

/** The person behind a member number of a group. */
export type MemberProfile = { user: Uuid; name: string; avatar: string | null; phone: string; me: boolean };
/** By member number. */
export type MemberProfiles = Readonly<Partial<Record<number, MemberProfile>>>;

export type LastMessage = {
  body: StoredBody | null;
  mine: boolean;
  sender?: number; // its member number, once it is stored
  at: number;
  status?: DisplayedStatus; // own messages only
};

export type ConversationListItem = {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  unread: number;
  at: number;
  last: LastMessage;
  open: boolean;
  muted: boolean;
  draft?: string; // typed here and not sent
  group: GroupCard | null;
  gone: boolean; // no longer mine; here for what was written there and not sent
  memberProfiles: MemberProfiles; // those whom the last line names, as far as they are known here
};

/** One conversation's head: also for one that this device has no row of yet (`known: false`). */
export type ConversationView = {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  unread: number;
  head: number;
  read: number; // how far I have read, this device's views included
  open: boolean; // may I write here
  isStored: boolean;
  isConfirmed: boolean; // `open` is the server's word
  muted: boolean;
  blocked: boolean; // by me
  group: GroupCard | null;
  gone: boolean; // no longer mine
};

/** How far a file of mine is on its way, in bytes. */
export type UploadView = { sent: number; size: number; state: "waiting" | "uploading" | "paused" | "failed" };

type WithoutFileId<T> = T extends AttachedBody ? Omit<T, "file"> : never;
/** A file to be sent, with what its message says of it. */
export type OutgoingFile = { blob: Blob; body: WithoutFileId<AttachedBody> };

/** A file of a message as this phone has it. `load` fetches it and keeps it; it is shared and may be called again. */
export type FileView = {
  url: string | undefined;
  state: "here" | "absent" | "loading" | "failed";
  /** Why it could not be had. */
  error?: FailureCode;
  load(): void;
};

/** A voice message that was being recorded, with all that was kept of it. */
export type RecordingDraft = { startedAt: number; chunks: Blob[]; mime: string; ms: number; levels: number[] };

/** What is chosen and recorded in a conversation, as far as it is kept here. */
export type UnsentContent = {
  files: { id: Uuid; name: string; type: string; modified: number; caption: string }[];
  recorded?: { startedAt: number; ms: number };
};

/** What is chosen and written, and not sent yet. */
export type Draft = {
  files: readonly File[];
  captions: ReadonlyMap<File, string>;
  isOriginal: boolean;
  /** Words that go with all of it, and to whom: of a broadcast. Of a new group its name and its members. */
  text: string;
  to: readonly Uuid[];
  /** Under which it is made, so that trying again makes it once: of a new group. */
  id?: Uuid;
};

export type ChatItem = {
  key: string; // the same from pending to sent
  seq?: number;
  cid?: Uuid;
  mine: boolean;
  sender?: number;
  at: number;
  body: StoredBody;
  status: DisplayedStatus;
  error?: ErrorCode;
  upload?: UploadView; // while its file is on the way
};

export type ChatView = {
  items: ChatItem[]; // newest first
  hasOlder: boolean;
  loading: boolean; // an older page, or the first one, is on its way
  loadOlder(): Promise<void>;
};

export type LinkState = "online" | "connecting" | "offline";

/** Why the local store cannot be relied on: kept in memory only, or no room left on the phone. */
export type StorageTrouble = "memory" | "full";
