import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { findAttachment, StoredBody } from "#contract/messages/body.ts";
import type { MessageKind } from "#contract/messages/kinds.ts";
import type { Message } from "#contract/messages/message.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { fromBodyColumns, toBodyColumns } from "./body-columns.ts";
import type { Member } from "./member-table.ts";
import { SearchIndex } from "./search-index.ts";
import { UnreadCounts } from "./unread-counts.ts";

const recentMax = 64; // messages

export type MessageRecord = {
  seq: number;
  sender: number;
  cid: string;
  at: number;
  kind: MessageKind;
  body: string;
  revision: number;
  withheld: number;
  shown: string | null;
};

/** Values of the column `withheld`: never delivered to the other member; the second value also tells the author. */
export const undelivered = 1;
export const undeliveredAndDisclosed = 2;

/**
 * A message as a member may see it. An undelivered message is only a placeholder, and the client id is for its author
 * only.
 */
export const toVisibleMessage = (row: MessageRecord, member: Member): Message => {
  const { seq, sender, at } = row;
  if (sender === member.number) {
    const own = { seq, sender, at, body: fromBodyColumns(row.kind, row.body), cid: row.cid };
    return row.withheld === undeliveredAndDisclosed ? { ...own, held: true } : own;
  }
  return { seq, sender, at, body: row.withheld > 0 ? { type: "withheld" } : readBodyFor(row, member) };
};

/** Body as a member sees it: without edits that the other member made while this one blocked them. */
export const readBodyFor = (
  { kind, body, sender, shown }: MessageRecord,
  { number }: Pick<Member, "number">,
): StoredBody =>
  shown === null || sender === number ? fromBodyColumns(kind, body) : v.parse(StoredBody, JSON.parse(shown));

/** Newest message in the conversation list. */
export type NewestMessage = {
  at: number;
  sender: number;
  preview: StoredBody | null;
  whole: boolean;
};

const toNewestMessage = (row: MessageRecord, reader?: Member): NewestMessage => ({
  at: row.at,
  sender: row.sender,
  ...toPreview(readBodyFor(row, reader ?? { number: row.sender })),
});

type NewMessage = Pick<MessageRecord, "sender" | "cid" | "at" | "withheld"> & { body: StoredBody };
type MessageTableState = { head: number; last: NewestMessage | undefined; recent: readonly MessageRecord[] };

/** Messages of a conversation, with the newest ones cached in memory. Seqs have no gaps. */
export class MessageTable {
  readonly #sql: SqlStorage;
  readonly unread: UnreadCounts;
  readonly searchIndex: SearchIndex;
  #state: MessageTableState = { head: 0, last: undefined, recent: [] };
  #before: MessageTableState | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.unread = new UnreadCounts(sql);
    this.searchIndex = new SearchIndex(sql);
    const [newest] = sql.exec<MessageRecord>("SELECT * FROM messages ORDER BY seq DESC LIMIT 1").toArray();
    if (newest) this.#cacheNewest(newest);
  }

  /** Newest seq, 0 if there is none. */
  get head(): number {
    return this.#state.head;
  }

  /** Whether the newest message may have another body for the other member. */
  get hasSplitHead(): boolean {
    return this.#state.recent.at(-1)?.shown !== null;
  }

  /** Newest message for the conversation list, as its author sees it. */
  get last(): NewestMessage | undefined {
    return this.#state.last;
  }

  /** The newest messages, at most `recentMax`, cached for the fan-out. */
  get recent(): readonly MessageRecord[] {
    return this.#state.recent;
  }

  /** Whether the log was purged or never had messages. */
  get isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM messages LIMIT 1").toArray().length === 0;
  }

  /** List entry for a member whose newest visible message has this seq. */
  findLastAt(seq: number, reader: Member): NewestMessage | undefined {
    const row = this.find(seq);
    return row && toNewestMessage(row, reader);
  }

  find(seq: number): MessageRecord | undefined {
    return this.#sql.exec<MessageRecord>("SELECT * FROM messages WHERE seq = ?", seq).toArray()[0];
  }

  /** Position of the stored message with this client id. */
  findByClientId(sender: number, cid: Uuid): { seq: number; at: number } | undefined {
    return this.#sql
      .exec<{ seq: number; at: number }>("SELECT seq, at FROM messages WHERE sender = ? AND cid = ?", sender, cid)
      .toArray()[0];
  }

  /** Whether this member sent anything after a seq. */
  hasSentAfter(sender: number, after: number): boolean {
    const query = "SELECT 1 FROM messages WHERE seq > ? AND sender = ? LIMIT 1";
    return this.#sql.exec(query, after, sender).toArray().length > 0;
  }

  /** Whether this member sent any of these messages. */
  hasSentWithin(sender: number, first: number, last: number): boolean {
    const query = "SELECT 1 FROM messages WHERE seq BETWEEN ? AND ? AND sender = ? LIMIT 1";
    return this.#sql.exec(query, first, last, sender).toArray().length > 0;
  }

  /** Whether the message with this seq references the file. */
  hasAttachment(file: Uuid, seq: number): boolean {
    return this.#sql.exec("SELECT 1 FROM attachments WHERE file = ? AND seq = ?", file, seq).toArray().length > 0;
  }

  /** Appends a message and the reference to its file. */
  append({ sender, cid, at, withheld, body }: NewMessage): { seq: number; at: number } {
    const row = { seq: this.head + 1, sender, cid, at, ...toBodyColumns(body), revision: 0, withheld, shown: null };
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
    const { file } = findAttachment(body) ?? {};
    if (file !== undefined) this.#sql.exec("INSERT INTO attachments (file, seq) VALUES (?, ?)", file, row.seq);
    this.#cacheNewest(row);
    return row;
  }

  /** Updates a stored message: a tombstone or a changed body. */
  replace(row: MessageRecord): void {
    const { seq, kind, body, revision, shown } = row;
    const before = this.searchIndex.has(seq) ? this.find(seq) : undefined;
    if (before) this.searchIndex.replace(before, row);
    this.#sql.exec(
      "UPDATE messages SET kind = ?, body = ?, revision = ?, shown = ? WHERE seq = ?",
      kind,
      body,
      revision,
      shown,
      seq,
    );
    if (kind === "deleted" && row.withheld === 0) this.unread.subtractDeleted(row);
    const { head, last, recent } = this.#state;
    this.#state = {
      head,
      last: seq === head ? toNewestMessage(row) : last,
      recent: recent.map((one) => (one.seq === seq ? row : one)),
    };
  }

  /** Clears the cache after rows were changed by SQL. */
  invalidateCache(): void {
    this.#state = { ...this.#state, recent: [] };
    this.unread.clear();
  }

  /** Saves the cached state for `rollback`. */
  beginTransaction(): void {
    this.#before = this.#state;
  }

  rollback(): void {
    if (this.#before) this.#state = this.#before;
    this.unread.clear();
    this.searchIndex.clearCache();
  }

  #cacheNewest(row: MessageRecord): void {
    this.#state = {
      head: row.seq,
      last: toNewestMessage(row),
      recent: [...this.recent.slice(1 - recentMax), row],
    };
  }
}
