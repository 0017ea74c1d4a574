import { clampMarks, type Marks, type Message, mergeMarks, type StoredBody } from "../../contract/conversations";
import { type ConversationId, privateMembers, type Uuid } from "../../contract/ids";
import log from "../../migrations/conversation/0001_log.sql?raw";
import { fromColumns, toColumns, toPreview } from "./message-body";
import { migrate, readVersion } from "./migrator";

const migrations = [log];
const recentMax = 64; // messages

export type Member = Marks & { number: number; user: Uuid; hidden: number };
type Own = { id: string; epoch: string; began: number; connection: string | null; turn: number };
type Last = { at: number; sender: number; preview: StoredBody | null; whole: boolean };
export type MessageRow = { seq: number; sender: number; cid: string; at: number; kind: string; body: string };

/** A message as a member may see it: the client id is only for its author. */
export const toMessage = (row: MessageRow, member: Member): Message => {
  const message = { seq: row.seq, sender: row.sender, at: row.at, body: fromColumns(row.kind, row.body) };
  return row.sender === member.number ? { ...message, cid: row.cid } : message;
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
  members: Member[];
  head = 0;
  last: Last;
  /** The connection that lets the two write, null when there is none. */
  connection: Uuid | null;
  /** How often `connection` went from none to some or back. */
  turn: number;
  /** The newest messages, at most `recentMax`: what fan-out would otherwise read again. */
  recent: MessageRow[] = [];

  /** The log of this object, or undefined when the conversation never began. */
  static find(storage: DurableObjectStorage): ConversationLog | undefined {
    const version = readVersion(storage);
    if (version === 0) return undefined;
    migrate(storage, migrations, version);
    return new ConversationLog(storage);
  }

  static create(storage: DurableObjectStorage, id: ConversationId, now = Date.now()): ConversationLog {
    storage.transactionSync(() => {
      migrate(storage, migrations, 0);
      storage.sql.exec(
        "INSERT INTO conversation (id, epoch, began, turn) VALUES (?, ?, ?, 0)",
        id,
        crypto.randomUUID().slice(0, 8),
        now,
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
    this.members = this.sql
      .exec<Member>("SELECT number, user_id AS user, delivered, read, hidden FROM members ORDER BY number")
      .toArray();
    this.last = { at: own.began, sender: 0, preview: null, whole: true };
    const [newest] = this.sql.exec<MessageRow>("SELECT * FROM messages ORDER BY seq DESC LIMIT 1").toArray();
    if (newest) this.#remember(newest);
  }

  memberOf(user: Uuid): Member | undefined {
    return this.members.find((member) => member.user === user);
  }

  get isOpen(): boolean {
    return this.connection !== null;
  }

  /** All of `change` or nothing of it, in the tables and in memory. */
  transaction<T>(change: () => T): T {
    const { head, last, recent, connection, turn } = this;
    const members = this.members.map((member) => ({ ...member }));
    try {
      return this.#storage.transactionSync(change);
    } catch (error) {
      Object.assign(this, { head, last, recent, connection, turn, members });
      throw error;
    }
  }

  /** Where a message with this client id already stands. */
  findSent(sender: number, cid: Uuid): { seq: number; at: number } | undefined {
    return this.sql
      .exec<{ seq: number; at: number }>("SELECT seq, at FROM messages WHERE sender = ? AND cid = ?", sender, cid)
      .toArray()[0];
  }

  /** The next message. Its time never goes back, whatever the clock does. */
  append(sender: number, cid: Uuid, body: StoredBody, now: number): { seq: number; at: number } {
    const row = { seq: this.head + 1, sender, cid, at: Math.max(now, this.last.at), ...toColumns(body) };
    this.sql.exec(
      "INSERT INTO messages (seq, sender, cid, at, kind, body) VALUES (?, ?, ?, ?, ?, ?)",
      row.seq,
      row.sender,
      row.cid,
      row.at,
      row.kind,
      row.body,
    );
    this.#remember(row);
    return row;
  }

  /** Others' messages that a member has neither read nor hidden, counted. */
  unreadOf({ number, read, hidden }: Member): number {
    const from = Math.max(read, hidden);
    if (from >= this.head) return 0;
    const count = "SELECT count(*) AS n FROM messages WHERE seq > ? AND sender <> ? AND kind <> 'deleted'";
    return this.sql.exec<{ n: number }>(count, from, number).one().n;
  }

  /** Moves a member's marks on, never back and never beyond the log. Tells what moved. */
  mark(member: Member, claim: Marks): { moved: boolean; read: boolean } {
    const marks = mergeMarks(member, clampMarks(claim, this.head));
    const moved = marks.delivered !== member.delivered || marks.read !== member.read;
    const read = marks.read !== member.read;
    if (moved) {
      const update = "UPDATE members SET delivered = ?, read = ? WHERE number = ?";
      this.sql.exec(update, marks.delivered, marks.read, member.number);
      Object.assign(member, marks);
    }
    return { moved, read };
  }

  hide(member: Member): boolean {
    if (member.hidden === this.head) return false;
    this.sql.exec("UPDATE members SET hidden = ? WHERE number = ?", this.head, member.number);
    member.hidden = this.head;
    return true;
  }

  /** The least that the other members have got and read. */
  othersOf({ number }: Member): Marks {
    const others = this.members.filter((member) => member.number !== number);
    return {
      delivered: Math.min(this.head, ...others.map((member) => member.delivered)),
      read: Math.min(this.head, ...others.map((member) => member.read)),
    };
  }

  /** Lets the members write. False when that is so already, or when this connection has ended before. */
  open(connection: Uuid): boolean {
    const ended = this.sql.exec("SELECT 1 FROM closed_connections WHERE id = ?", connection).toArray().length > 0;
    if (ended || this.connection === connection) return false;
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

  #connect(connection: Uuid | null): void {
    if ((connection === null) !== (this.connection === null)) this.turn += 1;
    this.connection = connection;
    this.sql.exec("UPDATE conversation SET connection = ?, turn = ?", connection, this.turn);
  }

  #remember(row: MessageRow): void {
    this.head = row.seq;
    this.last = { at: row.at, sender: row.sender, ...toPreview(fromColumns(row.kind, row.body)) };
    this.recent = [...this.recent.slice(1 - recentMax), row];
  }
}
