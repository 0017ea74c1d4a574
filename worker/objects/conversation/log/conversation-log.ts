import * as v from "valibot";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { conversationMaxBytes } from "#contract/limits/messages.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { ConversationCall } from "#worker/objects/shared/call-record.ts";
import { newEpoch } from "#worker/objects/shared/epochs.ts";
import { applyMigrations, readSchemaVersion } from "#worker/objects/shared/migrations.ts";
import { EarlierTextTable } from "./earlier-text-table.ts";
import { InvitationTable } from "./invitation-table.ts";
import { type Member, MemberTable } from "./member-table.ts";
import { findNewestSeq, isFormerReader, isVisibleSeq, listVisibleRanges, type SeqRange } from "./memberships.ts";
import { MentionTable } from "./mention-table.ts";
import {
  type MessageRecord,
  MessageTable,
  type NewestMessage,
  undelivered,
  undeliveredAndDisclosed,
} from "./message-table.ts";
import { conversationMigrations } from "./migrations.ts";
import { PendingDeletions } from "./pending-deletions.ts";
import { PinnedMessages } from "./pinned-messages.ts";
import { ReactionTable } from "./reaction-table.ts";

type ConversationColumns = {
  id: string;
  epoch: string;
  began: number;
  connection: string | null;
  turn: number;
  revision: number;
  name: string | null;
  picture: string | null;
  roster: number;
  ended: number;
  pinned: string | null;
};
/** Data of a group besides its messages and members. */
export type GroupState = { name: string; picture: string | null; roster: number; ended: boolean };

/**
 * Stored state of a conversation, with the data that every operation needs cached in memory. The owning object is the
 * only writer, so memory and tables agree; `transaction` restores both after a failure.
 */
export class ConversationLog {
  readonly id: ConversationId;
  /** Identity of the log. A restored one gets another before it answers anybody. */
  epoch: string;
  readonly sql: SqlStorage;
  readonly #storage: DurableObjectStorage;
  readonly members: MemberTable;
  readonly invitations: InvitationTable;
  readonly messages: MessageTable;
  readonly mentions: MentionTable;
  readonly earlierTexts: EarlierTextTable;
  readonly reactions: ReactionTable;
  readonly pendingDeletions: PendingDeletions;
  readonly calls: ConversationCall;
  /** Group data, null in a private conversation. */
  group: GroupState | null;
  /** Time since which the members may write, epoch milliseconds. */
  createdAt: number;
  /** Connection that lets the two members write, null if there is none. */
  connection: Uuid | null;
  /** Number of times that writing was enabled or disabled. */
  writabilityVersion: number;
  /** Number of changes to stored messages and their reactions. */
  revision: number;
  /** Pinned messages, null if there never were any. */
  pinned: PinnedMessages | null;

  /** Loads the log of this object, or undefined if the conversation was never created. */
  static find(storage: DurableObjectStorage): ConversationLog | undefined {
    const version = readSchemaVersion(storage);
    if (version === 0) return undefined;
    applyMigrations(storage, conversationMigrations, version);
    return new ConversationLog(storage);
  }

  /** Creates a log in a restore generation. With a name it is a group, still without members. */
  static create(
    storage: DurableObjectStorage,
    id: ConversationId,
    { generation, name }: { generation: number; name?: string },
    now = Date.now(),
  ): ConversationLog {
    storage.transactionSync(() => {
      applyMigrations(storage, conversationMigrations, 0);
      storage.sql.exec(
        "INSERT INTO conversation (id, epoch, began, turn, name) VALUES (?, ?, ?, 0, ?)",
        id,
        newEpoch(generation),
        now,
        name ?? null,
      );
      for (const [number, user] of (privateMembers(id) ?? []).entries()) {
        storage.sql.exec("INSERT INTO members (number, user_id) VALUES (?, ?)", number, user);
      }
    });
    return new ConversationLog(storage);
  }

  private constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.sql = storage.sql;
    const row = this.sql.exec<ConversationColumns>("SELECT * FROM conversation").one();
    this.id = row.id;
    this.epoch = row.epoch;
    this.connection = row.connection;
    this.writabilityVersion = row.turn;
    this.createdAt = row.began;
    this.pinned = row.pinned === null ? null : v.parse(PinnedMessages, JSON.parse(row.pinned));
    const { name, picture, roster, ended: hasEnded } = row;
    this.group = name === null ? null : { name, picture, roster, ended: hasEnded === 1 };
    this.members = new MemberTable(this.sql);
    this.invitations = new InvitationTable(this.sql);
    this.messages = new MessageTable(this.sql);
    this.mentions = new MentionTable(this.sql);
    this.earlierTexts = new EarlierTextTable(this.sql);
    this.reactions = new ReactionTable(this.sql);
    this.revision = Math.max(row.revision, this.reactions.readRevision());
    this.pendingDeletions = new PendingDeletions(this.sql);
    this.calls = new ConversationCall(this.sql);
  }

  /** Whether members may write: always in a group, otherwise while the two are connected and both accounts exist. */
  get isOpen(): boolean {
    return this.group !== null || (this.connection !== null && this.members.active.length === 2);
  }

  /** Whether recipients may read attachments, also those of a deleted account. */
  get sharesFiles(): boolean {
    return this.group !== null || this.connection !== null;
  }

  /** Whether no member is left who could see the conversation. */
  get hasNoReaders(): boolean {
    if (!this.group) return this.members.active.length === 0;
    return this.group.ended && this.members.formerReaders.length === 0;
  }

  /** Whether the size limit for messages is reached. The remaining space is for leaving, deleting and blocking. */
  get isFull(): boolean {
    return this.sql.databaseSize >= conversationMaxBytes;
  }

  /** Seq of the newest message, 0 if there is none. */
  get head(): number {
    return this.messages.head;
  }

  /** Seq of the newest message that a member sees. */
  headFor(member: Member): number {
    return findNewestSeq(member, this.head);
  }

  /** Seqs that a member sees, in ascending order. */
  listVisibleRanges(member: Member): readonly SeqRange[] {
    return listVisibleRanges(member, this.head);
  }

  /** Newest message that a member sees, for their conversation list. */
  lastMessageFor(member: Member): NewestMessage {
    const isSame = member.visibleUpTo === null && !isFormerReader(member) && !this.messages.hasSplitHead;
    const last = isSame ? this.messages.last : this.messages.findLastAt(this.headFor(member), member);
    return last ?? { at: this.createdAt, sender: 0, preview: null, whole: true };
  }

  /** The message with this seq, if the member sees it. */
  findVisible(member: Member, seq: number): MessageRecord | undefined {
    return isVisibleSeq(member, this.head, seq) ? this.messages.find(seq) : undefined;
  }

  /** Runs a change atomically in the tables and in memory. */
  transaction<T>(change: () => T): T {
    const { epoch, createdAt, connection, writabilityVersion, revision, group, pinned } = this;
    this.members.beginTransaction();
    this.messages.beginTransaction();
    this.calls.beginTransaction();
    try {
      const result = this.#storage.transactionSync(change);
      this.members.commit();
      return result;
    } catch (error) {
      this.members.rollback();
      this.messages.rollback();
      this.calls.rollback();
      this.reactions.clearCache();
      Object.assign(this, { epoch, createdAt, connection, writabilityVersion, revision, group, pinned });
      throw error;
    }
  }

  /** Whether another member blocks this sender. Blocks apply to private conversations only. */
  isSenderBlocked(sender: number): boolean {
    return !this.group && this.members.all.some((member) => member.isBlocking && member.number !== sender);
  }

  /**
   * Appends a message. Times never decrease, whatever the clock does. `isUndelivered`: only the author sees the
   * message, and learns that it was not delivered unless somebody blocks them now.
   */
  append(
    sender: number,
    cid: Uuid,
    body: StoredBody,
    now: number,
    isUndelivered = this.isSenderBlocked(sender),
  ): { seq: number; at: number } {
    const pair = this.group ? [] : this.members.all;
    const withheld = !isUndelivered ? 0 : this.isSenderBlocked(sender) ? undelivered : undeliveredAndDisclosed;
    const at = Math.max(now, this.messages.last?.at ?? this.createdAt);
    const position = this.messages.append({ sender, cid, at, withheld, body });
    this.mentions.add(position.seq, body);
    for (const member of pair) {
      const canSee = withheld === 0 || member.number === sender;
      if (member.visibleUpTo !== null && canSee) this.members.update(member, { visibleUpTo: null });
      if (member.visibleUpTo === null && !canSee) this.members.update(member, { visibleUpTo: position.seq - 1 });
    }
    return position;
  }

  /** Starts a new epoch in a restore generation: members have to load the log again. */
  renewEpoch(generation: number): void {
    this.epoch = newEpoch(generation);
    this.sql.exec("UPDATE conversation SET epoch = ?", this.epoch);
  }

  /** Increases the revision by a number of changes to stored messages. */
  addRevisions(count: number): void {
    if (count === 0) return;
    this.revision += count;
    this.sql.exec("UPDATE conversation SET revision = ?", this.revision);
  }

  /**
   * Sets the reaction of a member to a message, null for none. Its revision is written with the reaction only.
   * `isUndelivered`: the other member does not see it.
   */
  setReaction(seq: number, member: number, emoji: string | null, isUndelivered: boolean): void {
    this.revision += 1;
    const withheld = isUndelivered ? undelivered : 0;
    this.reactions.set({ seq, member, emoji, revision: this.revision, withheld });
  }

  /** Writes the pinned messages unless they are the same list as before. */
  setPinned(pinned: PinnedMessages | null): void {
    if (pinned === this.pinned) return;
    this.pinned = pinned;
    this.sql.exec("UPDATE conversation SET pinned = ?", pinned && JSON.stringify(pinned));
  }

  /** Writes changed group data. */
  updateGroup(change: Partial<GroupState>): void {
    if (!this.group) throw new Error("a private conversation is not a group");
    this.group = { ...this.group, ...change };
    const { name, picture, roster, ended: hasEnded } = this.group;
    this.sql.exec(
      "UPDATE conversation SET name = ?, picture = ?, roster = ?, ended = ?",
      name,
      picture,
      roster,
      hasEnded ? 1 : 0,
    );
  }

  /** Enables writing. False if it is enabled already or this connection was closed before. */
  openConnection(connection: Uuid, now = Date.now()): boolean {
    const hasEnded = this.sql.exec("SELECT 1 FROM closed_connections WHERE id = ?", connection).toArray().length > 0;
    if (hasEnded || this.connection === connection) return false;
    if (this.writabilityVersion === 0) this.#writeStart(now);
    this.#setConnection(connection);
    return true;
  }

  /** Records the end of a connection. True if it was the one that enabled writing. */
  closeConnection(connection: Uuid): boolean {
    this.sql.exec("INSERT OR IGNORE INTO closed_connections (id) VALUES (?)", connection);
    if (this.connection !== connection) return false;
    this.#setConnection(null);
    return true;
  }

  #writeStart(now: number): void {
    this.createdAt = now;
    this.sql.exec("UPDATE conversation SET began = ?", now);
  }

  /** Counts a change of whether the two members may write. */
  addWritabilityChange(): void {
    this.writabilityVersion += 1;
    this.sql.exec("UPDATE conversation SET turn = ?", this.writabilityVersion);
  }

  #setConnection(connection: Uuid | null): void {
    if ((connection === null) !== (this.connection === null)) this.writabilityVersion += 1;
    this.connection = connection;
    this.sql.exec("UPDATE conversation SET connection = ?, turn = ?", connection, this.writabilityVersion);
  }
}
