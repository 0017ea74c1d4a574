import type { StoredBody } from "#contract/conversations.ts";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { conversationMaxBytes } from "#contract/limits.ts";
import log from "#migrations/conversation/0001_log.sql?raw";
import changes from "#migrations/conversation/0002_changes.sql?raw";
import groups from "#migrations/conversation/0003_groups.sql?raw";
import calls from "#migrations/conversation/0004_calls.sql?raw";
import callSides from "#migrations/conversation/0005_call_sides.sql?raw";
import receipts from "#migrations/conversation/0006_receipts.sql?raw";
import callSessions from "#migrations/conversation/0007_call_sessions.sql?raw";
import withdrawn from "#migrations/conversation/0008_withdrawn.sql?raw";
import sentBytes from "#migrations/conversation/0009_sent_bytes.sql?raw";
import { ConversationCall } from "#worker/objects/shared/call-record.ts";
import { applyMigrations, readSchemaVersion } from "#worker/objects/shared/migrations.ts";
import { type Member, MemberTable } from "./member-table.ts";
import {
  type MessageRecord,
  MessageTable,
  type NewestMessage,
  undelivered,
  undeliveredAndDisclosed,
} from "./message-table.ts";
import { PendingDeletions } from "./pending-deletions.ts";

const migrations = [log, changes, groups, calls, callSides, receipts, callSessions, withdrawn, sentBytes];

const newEpoch = (): string => crypto.randomUUID().slice(0, 8);

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
};
/** What a group is beside its messages and members. */
export type GroupState = { name: string; picture: string | null; roster: number; ended: boolean };

/**
 * A conversation as it is stored, with what every operation needs kept beside it in memory. The object that
 * owns it is the only writer, so memory and tables agree; `transaction` keeps it so when one fails.
 */
export class ConversationLog {
  readonly id: ConversationId;
  /** Another one when the log is found to be an earlier copy of what the members were told. */
  epoch: string;
  readonly sql: SqlStorage;
  readonly #storage: DurableObjectStorage;
  readonly members: MemberTable;
  readonly messages: MessageTable;
  readonly pendingDeletions: PendingDeletions;
  readonly calls: ConversationCall;
  /** Null in a private conversation. */
  group: GroupState | null;
  /** When its members could first write: whoever blocked the other before that is not to be told by it. */
  createdAt: number;
  /** The connection that lets the two write, null when there is none. */
  connection: Uuid | null;
  /** How often `connection` went from none to some or back. */
  writabilityVersion: number;
  /** How often messages that had been stored were changed. */
  revision: number;

  /** The log of this object, or undefined when the conversation never began. */
  static find(storage: DurableObjectStorage): ConversationLog | undefined {
    const version = readSchemaVersion(storage);
    if (version === 0) return undefined;
    applyMigrations(storage, migrations, version);
    return new ConversationLog(storage);
  }

  /** With a name it is a group, without a member as yet. */
  static create(storage: DurableObjectStorage, id: ConversationId, name?: string, now = Date.now()): ConversationLog {
    storage.transactionSync(() => {
      applyMigrations(storage, migrations, 0);
      storage.sql.exec(
        "INSERT INTO conversation (id, epoch, began, turn, name) VALUES (?, ?, ?, 0, ?)",
        id,
        newEpoch(),
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
    this.revision = row.revision;
    this.createdAt = row.began;
    const { name, picture, roster, ended: hasEnded } = row;
    this.group = name === null ? null : { name, picture, roster, ended: hasEnded === 1 };
    this.members = new MemberTable(this.sql);
    this.messages = new MessageTable(this.sql);
    this.pendingDeletions = new PendingDeletions(this.sql);
    this.calls = new ConversationCall(this.sql);
  }

  /** Whether its members may write: of a group they always may, of two who are connected while both have an account. */
  get isOpen(): boolean {
    return this.group !== null || (this.connection !== null && this.members.present.length === 2);
  }

  /** Whether those who were sent something may have the files of it, also of somebody whose account is gone by now. */
  get sharesFiles(): boolean {
    return this.group !== null || this.connection !== null;
  }

  /** Whether nobody is left to whom anything in it could be shown. */
  get hasNoReaders(): boolean {
    return this.group ? this.group.ended : this.members.present.length === 0;
  }

  /** Whether it takes no messages any more: what is left is for leaving, deleting and blocking. */
  get isFull(): boolean {
    return this.sql.databaseSize >= conversationMaxBytes;
  }

  /** The newest place. */
  get head(): number {
    return this.messages.head;
  }

  /** The newest place that a member sees. */
  headFor(member: Member): number {
    return member.visibleUpTo ?? this.head;
  }

  /** What the list of a member shows: the newest message that they see. */
  lastMessageFor({ visibleUpTo }: Member): NewestMessage {
    const last = visibleUpTo === null ? this.messages.last : this.messages.findLastAt(visibleUpTo);
    return last ?? { at: this.createdAt, prior: null, sender: 0, preview: null, whole: true };
  }

  /** The message at a place, when the member sees it. */
  findVisible(member: Member, seq: number): MessageRecord | undefined {
    return seq > member.hidden && seq <= this.headFor(member) ? this.messages.find(seq) : undefined;
  }

  /** All of `change` or nothing of it, in the tables and in memory. */
  transaction<T>(change: () => T): T {
    const { epoch, createdAt, connection, writabilityVersion, revision, group } = this;
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
      Object.assign(this, { epoch, createdAt, connection, writabilityVersion, revision, group });
      throw error;
    }
  }

  /** Whether what this member does goes to nobody: blocks hold back only what goes from one person to another by themselves. */
  isSenderBlocked(sender: number): boolean {
    return !this.group && this.members.all.some((member) => member.isBlocking && member.number !== sender);
  }

  /**
   * The next message. Its time never goes back, whatever the clock does. `isHeld`: it goes to nobody, whatever is so now;
   * where nobody blocks its author any more, they may know that.
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
    for (const member of pair) {
      const canSee = withheld === 0 || member.number === sender;
      if (member.visibleUpTo !== null && canSee) this.members.update(member, { visibleUpTo: null });
      if (member.visibleUpTo === null && !canSee) this.members.update(member, { visibleUpTo: position.seq - 1 });
    }
    return position;
  }

  /** From here on it is another log than the one that members were told of under the old epoch. */
  renewEpoch(): void {
    this.epoch = newEpoch();
    this.sql.exec("UPDATE conversation SET epoch = ?", this.epoch);
  }

  /** Counts changes to stored messages. */
  addRevisions(count: number): void {
    if (count === 0) return;
    this.revision += count;
    this.sql.exec("UPDATE conversation SET revision = ?", this.revision);
  }

  /** What a group is from now on. */
  updateGroup(change: Partial<GroupState>): void {
    if (!this.group) throw new Error("a private conversation is no group");
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

  /** Lets the members write. False when that is so already, or when this connection has ended before. */
  openConnection(connection: Uuid, now = Date.now()): boolean {
    const hasEnded = this.sql.exec("SELECT 1 FROM closed_connections WHERE id = ?", connection).toArray().length > 0;
    if (hasEnded || this.connection === connection) return false;
    if (this.writabilityVersion === 0) this.#writeStart(now);
    this.#setConnection(connection);
    return true;
  }

  /** Remembers that a connection ended. True when it was the one that let the members write. */
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

  /** Whether the two may write has changed. */
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
