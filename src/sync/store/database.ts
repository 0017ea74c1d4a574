import Dexie, { type DexieOptions, type EntityTable, type Table, type Transaction } from "dexie";
import type { InboxRow } from "#contract/conversations.ts";
import type { GroupRole } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { NumberNotice, RelationState } from "#contract/people.ts";
import type { ConversationFlags, FlagChange } from "#contract/settings/conversation-flags.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import type { PostRow } from "./post-rows.ts";
import type { StoredBytes } from "./stored-bytes.ts";

/** Person with a current or former relation to this person. */
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
  blocked: 0 | 1; // by this person
  told?: number; // number of pushes about this person that the server sent; see docs/decisions/reviewed-structures.md
  deleted?: 1; // account deleted
  numberNotice?: NumberNotice; // not confirmed by this person yet
};

/** Parts of the conversation list, as the index has them. */
export const listSections = { archived: -1, none: 0, main: 1, pinned: 2 } as const;
export type ListSection = (typeof listSections)[keyof typeof listSections];

/** The server's inbox row plus local state. */
export type LocalConversationRow = Omit<
  InboxRow,
  | "conversation"
  | "handle"
  | "mentions"
  | "mutedExceptMentions"
  | "flagsRevision"
  | "pinnedMessages"
  | keyof ConversationFlags
> & {
  id: ConversationId;
  /** Absent in rows of earlier versions. */
  mentions?: number[];
  mutedExceptMentions?: boolean;
  flagsRevision?: number;
  pinnedMessages?: number[];
  marked?: boolean;
  archived?: boolean;
  pinnedAt?: number | null;
  /** Flags that the person chose on this device and the server has not confirmed, as `unsent` has them; `at` is `chosenAt`. */
  wanted?: FlagChange & { at: number };
  peer: Uuid | undefined;
  /** Short number the server uses for the conversation; absent until received. */
  handle?: number;
  /** Sequence number up to which the server counted `unread`; later messages are counted locally. */
  unreadCountedUpTo?: number;
  /** Contiguous range of stored messages, `storedFrom..storedTo`; empty when `storedFrom === storedTo + 1`. */
  storedFrom: number;
  storedTo: number;
  /** Revision of the stored messages; `revision` is the newest one known. */
  revised: number;
  /**
   * `revised` when this person left the group. Later revisions bring deletions only, so all others since then are
   * fetched after they join again.
   */
  revisedOnLeaving?: number;
  /** Sequence number of the newest message if it is an own one that was never delivered to the others. */
  heldSeq?: number;
  /**
   * Set while the stored messages may belong to a log that the server lost in a restore, until its newest page has
   * arrived. `row`: newest inbox row received since.
   */
  unconfirmed?: { row?: InboxRow };
  /** Own delivered and read positions to be reported to the server. They only grow, except in a new epoch. */
  wantDelivered: number;
  wantRead: number;
  listed: ListSection;
  /** Time of the newest message: the order of the list, apart from unsent messages. */
  lastAt: number;
};

/** Current or former member of a group, as received from the server. */
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
  /** Device time of reception. */
  at: number;
};

/** Stored message of a conversation's log. */
export type LocalMessageRow = {
  conversation: ConversationId;
  seq: number;
  cid?: Uuid;
  sender: number;
  mine: 0 | 1;
  at: number;
  body: StoredBody;
  held?: true; // never delivered to the others
  reactions?: string; // summary as in frames, with that of this person as the server knows it
};

/** Bytes of an upload that are known to be on the server. */
export type UploadProgressRow = { file: Uuid; sent: number };

/** Cached file. Its bytes are in `blobs`. */
export type CachedFileRow = { file: Uuid; size: number; usedAt: number };
export type BlobRow = { file: Uuid; blob: StoredBytes };

/** Key-value entries: sync cursor, own profile, settings. */
export type MetaRow = { key: string; value: unknown };

/** Key of the own profile. */
export const ownProfileKey = "me";
/** Key of the number of received invitations to groups. */
export const groupInvitationsKey = "groupInvitations";
/** Key of the members version up to which a group's full member list is stored. */
export const toMembersVersionKey = (group: Uuid): string => `roster:${group}`;

export const toStoreName = (userId: Uuid): string => storeNamePrefix + userId;

/**
 * Cache of the server's data of one person: everything in it can be fetched again, so that its transactions do not wait
 * until the data is on the disk. What the person wrote is in the database of unsent data (`src/sync/unsent`).
 */
export class LocalStore extends Dexie {
  /** The server's clock minus this device's in milliseconds, as the cursor had it when it was last read or written. */
  skew = 0;
  declare people: EntityTable<PersonRow, "id">;
  declare conversations: EntityTable<LocalConversationRow, "id">;
  declare messages: Table<LocalMessageRow, [ConversationId, number]>;
  declare meta: EntityTable<MetaRow, "key">;
  declare members: Table<MemberRow, [ConversationId, number]>;
  declare progress: EntityTable<UploadProgressRow, "file">;
  declare files: EntityTable<CachedFileRow, "file">;
  declare blobs: EntityTable<BlobRow, "file">;
  declare posts: EntityTable<PostRow, "number">;

  constructor(name: string, environment: Pick<DexieOptions, "indexedDB" | "IDBKeyRange">) {
    // Dexie's live query cache would keep every result a second time.
    super(name, { ...environment, chromeTransactionDurability: "relaxed", cache: "disabled" });
    this.version(1).stores({
      people: "id, state, blocked",
      conversations: "id, handle, [listed+lastAt]",
      messages: "[conversation+seq]",
      members: "[conversation+number], user",
      meta: "key",
      progress: "file",
      files: "file",
      blobs: "file",
      posts: "number, id",
    });
  }

  /** Tables of a message and its file, apart from the message itself. */
  get contentTables(): Table[] {
    return [this.conversations, this.meta, this.files, this.blobs];
  }

  /** Tables that changes of the server are written to. */
  get inboundTables(): Table[] {
    return [this.people, this.conversations, this.messages, this.members, this.meta, this.progress];
  }

  /**
   * This store with the tables of a transaction, which Dexie can lose in a long chain of asynchronous functions that read
   * nothing: what follows would then be outside of it.
   */
  bindTo(transaction: Transaction): LocalStore {
    const tables = transaction.storeNames.map((name) => [name, { value: transaction.table(name) }]);
    const skew = { get: () => this.skew, set: (value: number) => Object.assign(this, { skew: value }) };
    return Object.create(this, { ...Object.fromEntries(tables), skew }) as LocalStore;
  }

  /** Rows of these parts of the conversation list, the later part first and in each the newest first. */
  queryListed(from: ListSection, to: ListSection = from) {
    return this.conversations
      .where("[listed+lastAt]")
      .between([from, 0], [to, Number.MAX_SAFE_INTEGER], true, true)
      .reverse();
  }

  /** Messages of a conversation with `from <= seq <= to`. */
  queryMessages(conversation: ConversationId, from: number, to: number = Number.MAX_SAFE_INTEGER) {
    return this.messages.where("[conversation+seq]").between([conversation, from], [conversation, to], true, true);
  }

  /** Stored members of a group, former ones included. */
  queryMembers(conversation: ConversationId) {
    return this.members
      .where("[conversation+number]")
      .between([conversation, 0], [conversation, Number.MAX_SAFE_INTEGER]);
  }
}
