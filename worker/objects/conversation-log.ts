import { attachmentOf, type Message, type StoredBody } from "../../contract/conversations";
import { type ConversationId, privateMembers, type Uuid } from "../../contract/ids";
import log from "../../migrations/conversation/0001_log.sql?raw";
import changes from "../../migrations/conversation/0002_changes.sql?raw";
import groups from "../../migrations/conversation/0003_groups.sql?raw";
import calls from "../../migrations/conversation/0004_calls.sql?raw";
import callSides from "../../migrations/conversation/0005_call_sides.sql?raw";
import receipts from "../../migrations/conversation/0006_receipts.sql?raw";
import callSessions from "../../migrations/conversation/0007_call_sessions.sql?raw";
import { CallRow } from "./call-row";
import { type Member, Members } from "./members";
import { fromColumns, toColumns, toPreview } from "./message-body";
import { migrate, readVersion } from "./migrator";

const migrations = [log, changes, groups, calls, callSides, receipts, callSessions];
const recentMax = 64; // messages

type Own = {
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
export type GroupFacts = { name: string; picture: string | null; roster: number; ended: boolean };
type Last = { at: number; sender: number; preview: StoredBody | null; whole: boolean };
export type MessageRow = {
  seq: number;
  sender: number;
  cid: string;
  at: number;
  kind: string;
  body: string;
  revision: number;
  withheld: number;
};

/** What `withheld` says: the other member was never to have it, and the author was told so. */
const heldBack = 1;
const heldBackAndTold = 2;

/** A message as a member may see it: what was withheld is a place, and the client id is only for its author. */
export const toMessage = (row: MessageRow, member: Member): Message => {
  const { seq, sender, at } = row;
  if (sender === member.number) {
    const own = { seq, sender, at, body: fromColumns(row.kind, row.body), cid: row.cid };
    return row.withheld === heldBackAndTold ? { ...own, held: true } : own;
  }
  return { seq, sender, at, body: row.withheld > 0 ? { type: "withheld" } : fromColumns(row.kind, row.body) };
};

/**
 * A conversation as it is stored, with what every operation needs kept beside it in memory. The object that
 * owns it is the only writer, so memory and tables agree; `transaction` keeps it so when one fails.
 */
export class ConversationLog {
  readonly id: ConversationId;
  readonly epoch: string;
  readonly sql: SqlStorage;
  readonly #storage: DurableObjectStorage;
  readonly members: Members;
  readonly calls: CallRow;
  /** Null in a private conversation. */
  group: GroupFacts | null;
  #began: number;
  head = 0;
  last: Last;
  /** The connection that lets the two write, null when there is none. */
  connection: Uuid | null;
  /** How often `connection` went from none to some or back. */
  turn: number;
  /** How often messages that had been stored were changed. */
  revision: number;
  /** The newest messages, at most `recentMax`: what fan-out would otherwise read again. */
  recent: MessageRow[] = [];

  /** The log of this object, or undefined when the conversation never began. */
  static find(storage: DurableObjectStorage): ConversationLog | undefined {
    const version = readVersion(storage);
    if (version === 0) return undefined;
    migrate(storage, migrations, version);
    return new ConversationLog(storage);
  }

  /** With a name it is a group, without a member as yet. */
  static create(storage: DurableObjectStorage, id: ConversationId, name?: string, now = Date.now()): ConversationLog {
    storage.transactionSync(() => {
      migrate(storage, migrations, 0);
      storage.sql.exec(
        "INSERT INTO conversation (id, epoch, began, turn, name) VALUES (?, ?, ?, 0, ?)",
        id,
        crypto.randomUUID().slice(0, 8),
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
    const own = this.sql.exec<Own>("SELECT * FROM conversation").one();
    this.id = own.id;
    this.epoch = own.epoch;
    this.connection = own.connection;
    this.turn = own.turn;
    this.revision = own.revision;
    this.#began = own.began;
    const { name, picture, roster, ended } = own;
    this.group = name === null ? null : { name, picture, roster, ended: ended === 1 };
    this.members = new Members(this.sql);
    this.calls = new CallRow(this.sql);
    this.last = this.#toLast(undefined);
    const [newest] = this.sql.exec<MessageRow>("SELECT * FROM messages ORDER BY seq DESC LIMIT 1").toArray();
    if (newest) this.#remember(newest);
  }

  get began(): number {
    return this.#began;
  }

  /** Whether anything stands in it; what a group said is taken out when it ended. */
  get hasMessages(): boolean {
    return this.sql.exec("SELECT 1 FROM messages LIMIT 1").toArray().length > 0;
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
  get isOver(): boolean {
    return this.group ? this.group.ended : this.members.present.length === 0;
  }

  /** The newest place that a member sees. */
  headOf(member: Member): number {
    return member.ends ?? this.head;
  }

  /** What the list of a member shows: the newest message that they see. */
  lastOf({ ends }: Member): Last {
    return ends === null ? this.last : this.#toLast(this.find(ends));
  }

  /** All of `change` or nothing of it, in the tables and in memory. */
  transaction<T>(change: () => T): T {
    const { head, last, recent, connection, turn, revision, group } = this;
    this.members.begin();
    this.calls.begin();
    try {
      const result = this.#storage.transactionSync(change);
      this.members.commit();
      return result;
    } catch (error) {
      this.members.rollback();
      this.calls.rollback();
      Object.assign(this, { head, last, recent, connection, turn, revision, group });
      throw error;
    }
  }

  /** Where a message with this client id already stands. */
  findSent(sender: number, cid: Uuid): { seq: number; at: number } | undefined {
    return this.sql
      .exec<{ seq: number; at: number }>("SELECT seq, at FROM messages WHERE sender = ? AND cid = ?", sender, cid)
      .toArray()[0];
  }

  /** Whether this member wrote anything after that place. */
  hasWritten(sender: number, after: number): boolean {
    const query = "SELECT 1 FROM messages WHERE seq > ? AND sender = ? LIMIT 1";
    return this.sql.exec(query, after, sender).toArray().length > 0;
  }

  find(seq: number): MessageRow | undefined {
    return this.sql.exec<MessageRow>("SELECT * FROM messages WHERE seq = ?", seq).toArray()[0];
  }

  /** Whether what this member does goes to nobody: blocks hold back only what goes from one person to another by themselves. */
  isWithheld(sender: number): boolean {
    return !this.group && this.members.all.some((member) => member.blocks && member.number !== sender);
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
    isHeld = this.isWithheld(sender),
  ): { seq: number; at: number } {
    const pair = this.group ? [] : this.members.all;
    const withheld = !isHeld ? 0 : this.isWithheld(sender) ? heldBack : heldBackAndTold;
    const at = Math.max(now, this.last.at);
    const row = { seq: this.head + 1, sender, cid, at, ...toColumns(body), revision: 0, withheld };
    this.sql.exec(
      "INSERT INTO messages (seq, sender, cid, at, kind, body, withheld) VALUES (?, ?, ?, ?, ?, ?, ?)",
      row.seq,
      row.sender,
      row.cid,
      row.at,
      row.kind,
      row.body,
      row.withheld,
    );
    const { file } = attachmentOf(body) ?? {};
    if (file !== undefined) this.sql.exec("INSERT INTO attachments (file, seq) VALUES (?, ?)", file, row.seq);
    for (const member of pair) {
      const sees = withheld === 0 || member.number === sender;
      if (member.ends !== null && sees) this.members.change(member, { ends: null });
      if (member.ends === null && !sees) this.members.change(member, { ends: this.head });
    }
    this.#remember(row);
    return row;
  }

  hasAttached(file: Uuid, seq: number): boolean {
    return this.sql.exec("SELECT 1 FROM attachments WHERE file = ? AND seq = ?", file, seq).toArray().length > 0;
  }

  /** Counts changes to stored messages. */
  revise(count: number): void {
    if (count === 0) return;
    this.revision += count;
    this.sql.exec("UPDATE conversation SET revision = ?", this.revision);
  }

  /** A stored message as it now is. */
  replace(row: MessageRow): void {
    const { seq, kind, body, revision } = row;
    this.sql.exec("UPDATE messages SET kind = ?, body = ?, revision = ? WHERE seq = ?", kind, body, revision, seq);
    this.recent = this.recent.map((one) => (one.seq === seq ? row : one));
    if (seq === this.head) this.last = this.#toLast(row);
  }

  /** What a group is from now on. */
  changeGroup(change: Partial<GroupFacts>): void {
    if (!this.group) throw new Error("a private conversation is no group");
    this.group = { ...this.group, ...change };
    const { name, picture, roster, ended } = this.group;
    this.sql.exec(
      "UPDATE conversation SET name = ?, picture = ?, roster = ?, ended = ?",
      name,
      picture,
      roster,
      ended ? 1 : 0,
    );
  }

  /** Rows were changed in the table: what is kept of them in memory is void. */
  forgetRecent(): void {
    this.recent = [];
  }

  /** Lets the members write. False when that is so already, or when this connection has ended before. */
  open(connection: Uuid, now = Date.now()): boolean {
    const ended = this.sql.exec("SELECT 1 FROM closed_connections WHERE id = ?", connection).toArray().length > 0;
    if (ended || this.connection === connection) return false;
    if (this.turn === 0) this.#begin(now);
    this.#connect(connection);
    return true;
  }

  /** Remembers that a connection ended. True when it was the one that let the members write. */
  close(connection: Uuid): boolean {
    this.sql.exec("INSERT OR IGNORE INTO closed_connections (id) VALUES (?)", connection);
    if (this.connection !== connection) return false;
    this.#connect(null);
    return true;
  }

  /** For its members it begins when they may first write: who blocked the other before it did is not to be told by it. */
  #begin(now: number): void {
    this.#began = now;
    this.sql.exec("UPDATE conversation SET began = ?", now);
    this.last = this.#toLast(undefined);
  }

  /** Whether the two may write has changed. */
  turned(): void {
    this.turn += 1;
    this.sql.exec("UPDATE conversation SET turn = ?", this.turn);
  }

  #connect(connection: Uuid | null): void {
    if ((connection === null) !== (this.connection === null)) this.turn += 1;
    this.connection = connection;
    this.sql.exec("UPDATE conversation SET connection = ?, turn = ?", connection, this.turn);
  }

  #remember(row: MessageRow): void {
    this.head = row.seq;
    this.last = this.#toLast(row);
    this.recent = [...this.recent.slice(1 - recentMax), row];
  }

  #toLast(row: MessageRow | undefined): Last {
    if (!row) return { at: this.#began, sender: 0, preview: null, whole: true };
    return { at: row.at, sender: row.sender, ...toPreview(fromColumns(row.kind, row.body)) };
  }
}
