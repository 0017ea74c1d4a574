import Dexie, { type DexieOptions, type EntityTable, type Table } from "dexie";
import type { Body, ForwardSource, InboxRow, StoredBody } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { GroupRole } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { RelationState } from "#contract/people.ts";

/** Somebody I have or had to do with. */
export type PersonRow = {
  id: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  createdAt: number;
  state: RelationState;
  requestId: Uuid | null;
  connectionId: Uuid | null;
  since: number;
  blocked: 0 | 1; // by me
  told?: number; // how often the server has told of them by itself
  deleted?: 1; // the account is gone
};

/** The server's inbox row and what this device adds to it. */
export type LocalConversationRow = Omit<InboxRow, "conversation" | "handle"> & {
  id: ConversationId;
  peer: Uuid | undefined;
  /** The server's short number; absent until the server has told it. */
  handle?: number;
  /** The place up to which the server has counted `unread`: messages after it are counted here as they come. */
  counted?: number;
  /** How often the server has told of it by itself. */
  told?: number;
  /** The messages held here without a hole: `lo..hi`, none when `lo === hi + 1`. */
  lo: number;
  hi: number;
  /** The revision that the messages held here are at; `revision` is the newest one heard of. */
  revised: number;
  /** The newest message, when it is mine and never reached the others. */
  heldSeq?: number;
  /**
   * The messages held here are not the server's, which was restored from an earlier copy: they are replaced once its
   * newest page is here. `head` is the newest place told since, `row` the newest row, `mine` the newest count and marks.
   */
  forked?: {
    head: number;
    row?: InboxRow;
    mine?: { delivered: number; read: number; unread: number; head: number };
  };
  /** Marks the server is to have. They only grow, but for a new epoch. */
  wantDelivered: number;
  wantRead: number;
  listed: 0 | 1;
  /** Of the newest message, those still in the outbox included: the list's order. */
  lastAt: number;
};

/** Somebody who is or was a member of a group, as the server told it. */
export type MemberRow = {
  conversation: ConversationId;
  number: number;
  user: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  createdAt: number;
  role: GroupRole;
  since: number;
  left: 0 | 1;
  /** When this device heard of it. */
  at: number;
};

export type LocalMessageRow = {
  conversation: ConversationId;
  seq: number;
  cid?: Uuid;
  sender: number;
  mine: 0 | 1;
  at: number;
  body: StoredBody;
  held?: true;
};

export type OutboxRow = {
  cid: Uuid;
  conversation: ConversationId;
  /** Grows with every message written on this device. */
  order: number;
  body: Body;
  createdAt: number;
  /** "awaiting": its file is on the way; what was written after it may pass. */
  state: "queued" | "awaiting" | "failed";
  error?: ErrorCode;
  attempts: number;
  /** Where a forwarded message was read. */
  source?: ForwardSource;
  /** One body to many conversations: their messages go together. */
  spread?: Uuid;
  /** Files chosen together: each goes after those before it that are still on their way. */
  batch?: Uuid;
  /** Its file was told to wait, and keeps nobody waiting meanwhile. */
  paused?: true;
  /** When its file was with the server. */
  readyAt?: number;
};

/** A file on its way to the server. Its bytes stand in `blobs`. */
export type UploadRow = {
  file: Uuid;
  name: string;
  size: number;
  /** "cancelled": nobody wants it any more, and the server is still to be told. */
  state: "waiting" | "uploading" | "paused" | "failed" | "cancelled";
  /** Bytes the server has, as far as is known here. */
  sent: number;
  /** The server may have heard of it. */
  announced?: true;
  /** Its place among the files chosen together. */
  n?: number;
  createdAt: number;
};

/** A file kept here to be seen again. Its bytes stand in `blobs`. */
export type CachedFileRow = { file: Uuid; size: number; usedAt: number };
export type BlobRow = { file: Uuid; blob: Blob };

/** A voice message that is being recorded, or was when its page died. */
export type RecordingRow = {
  conversation: ConversationId;
  startedAt: number;
  mime: string;
  ms: number;
  levels: number[];
};
export type RecordingChunkRow = { conversation: ConversationId; n: number; chunk: Blob };

/** A status of Tala that this device read, or published. */
export type PostRow = {
  /** Its place in the feed. */
  number: number;
  id: Uuid;
  author: Uuid;
  username: string;
  avatar: string | null;
  at: number;
  content: string;
  picture: { width: number; height: number; thumb: string } | null;
  /** When this device first had it, and when a page last said that it is there. */
  heardAt: number;
  checkedAt: number;
  /** What stands below it is not here: where the page begins that has it. */
  below?: number;
  /** Published here, and in no page yet. */
  loose?: 1;
  /** Published from this device. */
  here?: 1;
  /** Deleted by me, and when: a page made before that may still name it. */
  goneAt?: number;
};

/** A status that waits to be published. Its picture's bytes stand in `blobs` under its id. */
export type PostQueueRow = {
  id: Uuid;
  content: string;
  picture: { width: number; height: number; thumb: string } | null;
  createdAt: number;
  /** "cancelled": nobody wants it any more, and the server may be still to be told. */
  state: "queued" | "failed" | "cancelled";
  error?: ErrorCode;
  /** How often the server may have heard of it. */
  attempts: number;
};

/** Where something is being composed. */
export type DraftTarget = ConversationId | "broadcast" | "group" | "tala";

/** What is chosen to be sent; the bytes stand in `blobs`. */
export type DraftRow = {
  files: { id: Uuid; name: string; type: string; modified: number; caption: string }[];
  isOriginal: boolean;
  text: string;
  to: Uuid[];
  id?: Uuid;
};

/** Single values under a name: the cursor, the own profile, drafts, what is chosen, what was asked once. */
export type MetaRow = { key: string; value: unknown };

/** The own profile. */
export const ownProfileKey = "me";
const textDraftPrefix = "draft:";
export const toTextDraftKey = (conversation: ConversationId): string => textDraftPrefix + conversation;
const draftSlotPrefix = "choice:";
const draftSlotCount = 4; // pages of a person that choose in one place at once
/** Where choices of a place are kept: each page has one of them to itself. */
export const toDraftSlotKeys = (place: DraftTarget): string[] =>
  Array.from({ length: draftSlotCount }, (_, slot) => draftSlotPrefix + place + (slot === 0 ? "" : `#${slot}`));
/** Where one page keeps what is chosen there. */
export type DraftSlot = { target: DraftTarget; key: string };

/** Whether a row of `meta` under this key is something a person typed or chose and did not send. */
export const isDraftKey = (key: string): boolean => key.startsWith(textDraftPrefix) || key.startsWith(draftSlotPrefix);

/** How far the whole list of a group's members that is held here goes. */
export const toMembersVersionKey = (group: Uuid): string => `roster:${group}`;

export const toStoreName = (userId: Uuid): string => `lisolo-${userId}`;

/** The bytes that rows of what is chosen name. */
export const listDraftFiles = (begun: readonly MetaRow[]): Uuid[] =>
  begun.flatMap(({ key, value }) =>
    (key.startsWith(draftSlotPrefix) ? (value as DraftRow).files : []).map(({ id }) => id),
  );

/**
 * One person's local data. A transaction of an instance is as durable as the instance: "strict" waits until
 * the disk has it and is for what somebody typed; the rest can be fetched again and is "relaxed".
 */
export class LocalStore extends Dexie {
  declare people: EntityTable<PersonRow, "id">;
  declare conversations: EntityTable<LocalConversationRow, "id">;
  declare messages: Table<LocalMessageRow, [ConversationId, number]>;
  declare outbox: EntityTable<OutboxRow, "cid">;
  declare meta: EntityTable<MetaRow, "key">;
  declare members: Table<MemberRow, [ConversationId, number]>;
  declare uploads: EntityTable<UploadRow, "file">;
  declare files: EntityTable<CachedFileRow, "file">;
  declare blobs: EntityTable<BlobRow, "file">;
  declare recordings: EntityTable<RecordingRow, "conversation">;
  declare chunks: Table<RecordingChunkRow, [ConversationId, number]>;
  declare posts: EntityTable<PostRow, "number">;
  declare postbox: EntityTable<PostQueueRow, "id">;

  constructor(name: string, durability: "strict" | "relaxed", where: Pick<DexieOptions, "indexedDB" | "IDBKeyRange">) {
    // The live queries' cache would keep every result a second time.
    super(name, { ...where, chromeTransactionDurability: durability, cache: "disabled" });
    this.version(1).stores({
      people: "id, state",
      conversations: "id, handle, [listed+lastAt]",
      messages: "[conversation+seq]",
      outbox: "cid, order, [conversation+order]",
      meta: "key",
    });
    this.version(2)
      .stores({
        people: "id, state, blocked",
        outbox: "cid, order, [conversation+order], body.file",
        uploads: "file",
        files: "file",
        blobs: "file",
        recordings: "conversation",
        chunks: "[conversation+n]",
      })
      .upgrade(async (all) => {
        await all.table("people").toCollection().modify({ blocked: 0 });
        await all.table("conversations").toCollection().modify({ muted: false, kept: false, revision: 0, revised: 0 });
      });
    this.version(3)
      .stores({ members: "[conversation+number], user" })
      .upgrade((all) => all.table("conversations").toCollection().modify({ group: null, gone: false }));
    this.version(4).stores({ posts: "number, id", postbox: "id, createdAt" });
  }

  /** The tables that an unsent message and its file stand in. */
  get sendingTables(): Table[] {
    return [this.outbox, this.conversations, this.meta, this.uploads, this.files, this.blobs];
  }

  /** A conversation's messages with `from <= seq <= to`. */
  queryMessages(conversation: ConversationId, from: number, to: number = Number.MAX_SAFE_INTEGER) {
    return this.messages.where("[conversation+seq]").between([conversation, from], [conversation, to], true, true);
  }

  /** Those of a group's members that this device has heard of. */
  queryMembers(conversation: ConversationId) {
    return this.members
      .where("[conversation+number]")
      .between([conversation, 0], [conversation, Number.MAX_SAFE_INTEGER]);
  }

  /** A conversation's unsent messages in the order they were written. */
  queryUnsent(conversation: ConversationId) {
    return this.outbox
      .where("[conversation+order]")
      .between([conversation, 0], [conversation, Number.MAX_SAFE_INTEGER], true, true);
  }

  /** The unsent messages that name a file. */
  queryUnsentByFile(file: Uuid) {
    return this.outbox.where("body.file").equals(file);
  }

  /** What was typed or chosen and not sent, in every conversation. */
  queryDrafts() {
    return this.meta.where("key").startsWithAnyOf(textDraftPrefix, draftSlotPrefix);
  }

  /** The bytes of what is chosen and not sent. */
  async readDraftFiles(): Promise<Uuid[]> {
    return listDraftFiles(await this.queryDrafts().toArray());
  }
}
