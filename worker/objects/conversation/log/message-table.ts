import { attachmentOf, type Message, type StoredBody } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Member } from "./member-table.ts";
import { fromColumns, toColumns, toPreview } from "./message-codec.ts";
import { UnreadCounts } from "./unread-counts.ts";

const recentMax = 64; // messages

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
export const heldBack = 1;
export const heldBackAndTold = 2;

/** A message as a member may see it: what was withheld is a place, and the client id is only for its author. */
export const toMessage = (row: MessageRow, member: Member): Message => {
  const { seq, sender, at } = row;
  if (sender === member.number) {
    const own = { seq, sender, at, body: fromColumns(row.kind, row.body), cid: row.cid };
    return row.withheld === heldBackAndTold ? { ...own, held: true } : own;
  }
  return { seq, sender, at, body: row.withheld > 0 ? { type: "withheld" } : fromColumns(row.kind, row.body) };
};

/** What the list shows of a message, and the time of the one before it. */
export type Last = { at: number; prior: number | null; sender: number; preview: StoredBody | null; whole: boolean };

const toLast = ({ at, sender, kind, body }: MessageRow, prior: number | null): Last => ({
  at,
  prior,
  sender,
  ...toPreview(fromColumns(kind, body)),
});

type Added = Pick<MessageRow, "sender" | "cid" | "at" | "withheld"> & { body: StoredBody };
type State = { head: number; last: Last | undefined; recent: readonly MessageRow[] };

/** The messages of a conversation, in the table and the newest of them in memory. Their places have no holes. */
export class Messages {
  readonly #sql: SqlStorage;
  readonly unread: UnreadCounts;
  #state: State = { head: 0, last: undefined, recent: [] };
  #before: State | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.unread = new UnreadCounts(sql);
    const [newest, before] = sql.exec<MessageRow>("SELECT * FROM messages ORDER BY seq DESC LIMIT 2").toArray();
    if (newest) this.#remember(newest, before?.at ?? null);
  }

  /** The newest place, 0 when there is none. */
  get head(): number {
    return this.#state.head;
  }

  /** What the list shows of the newest one. */
  get last(): Last | undefined {
    return this.#state.last;
  }

  /** The newest messages, at most `recentMax`: what fan-out would otherwise read again. */
  get recent(): readonly MessageRow[] {
    return this.#state.recent;
  }

  /** Whether nothing stands there: what was said in a conversation that is over is taken out. */
  get isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM messages LIMIT 1").toArray().length === 0;
  }

  /** What the list shows where this is the newest place that is seen. */
  lastAt(seq: number): Last | undefined {
    const row = this.find(seq);
    return row && toLast(row, this.find(seq - 1)?.at ?? null);
  }

  find(seq: number): MessageRow | undefined {
    return this.#sql.exec<MessageRow>("SELECT * FROM messages WHERE seq = ?", seq).toArray()[0];
  }

  /** Where a message with this client id already stands. */
  findSent(sender: number, cid: Uuid): { seq: number; at: number } | undefined {
    return this.#sql
      .exec<{ seq: number; at: number }>("SELECT seq, at FROM messages WHERE sender = ? AND cid = ?", sender, cid)
      .toArray()[0];
  }

  /** Whether this member wrote anything after that place. */
  hasWritten(sender: number, after: number): boolean {
    const query = "SELECT 1 FROM messages WHERE seq > ? AND sender = ? LIMIT 1";
    return this.#sql.exec(query, after, sender).toArray().length > 0;
  }

  /** Whether the message at a place names the file. */
  hasAttached(file: Uuid, seq: number): boolean {
    return this.#sql.exec("SELECT 1 FROM attachments WHERE file = ? AND seq = ?", file, seq).toArray().length > 0;
  }

  /** The next message, with the file that it names. */
  add({ sender, cid, at, withheld, body }: Added): { seq: number; at: number } {
    const row = { seq: this.head + 1, sender, cid, at, ...toColumns(body), revision: 0, withheld };
    this.#sql.exec(
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
    if (file !== undefined) this.#sql.exec("INSERT INTO attachments (file, seq) VALUES (?, ?)", file, row.seq);
    this.#remember(row, this.last?.at ?? null);
    return row;
  }

  /** A stored message as it now is: deleted for the first time, or what it was with another body. */
  replace(row: MessageRow): void {
    const { seq, kind, body, revision } = row;
    this.#sql.exec("UPDATE messages SET kind = ?, body = ?, revision = ? WHERE seq = ?", kind, body, revision, seq);
    if (kind === "deleted" && row.withheld === 0) this.unread.remove(row);
    const { head, last, recent } = this.#state;
    this.#state = {
      head,
      last: seq === head ? toLast(row, last?.prior ?? null) : last,
      recent: recent.map((one) => (one.seq === seq ? row : one)),
    };
  }

  /** Rows were changed in the table: what is kept of them in memory is void. */
  forgetRecent(): void {
    this.#state = { ...this.#state, recent: [] };
    this.unread.forget();
  }

  /** What follows can be taken back. */
  begin(): void {
    this.#before = this.#state;
  }

  rollback(): void {
    if (this.#before) this.#state = this.#before;
    this.unread.forget();
  }

  #remember(row: MessageRow, prior: number | null): void {
    this.#state = { head: row.seq, last: toLast(row, prior), recent: [...this.recent.slice(1 - recentMax), row] };
  }
}
