import * as v from "valibot";
import { GroupCard } from "#contract/groups.ts";
import { type ConversationId, privateMembers } from "#contract/ids.ts";
import { StoredBody } from "#contract/messages/body.ts";
import { Seq } from "#contract/messages/positions.ts";
import { toAssignments, toInsert, toParameters } from "#worker/objects/shared/columns.ts";
import type { InboxEntry } from "./inbox-merge.ts";
import { fromPinnedColumn, toPinnedColumn } from "./pinned-list.ts";
import { PushMark } from "./push-mark.ts";

/** Width of the buckets in the index of `changed`: 15 of 16 updates of a busy row leave the index unchanged. */
export const bucketSize = 16;
export const bucketOf = (changed: number): number => Math.floor(changed / bucketSize);

const cachedRowsMax = 128;

const Seqs = v.array(Seq);
const toSeqs = (stored: string | null) => (stored === null ? [] : v.parse(Seqs, JSON.parse(stored)));

/** Columns of the table `inbox`. */
export type InboxColumns = {
  handle: number;
  conversation: string;
  changed: number;
  bucket: number;
  epoch: string;
  head: number;
  at: number;
  sender: number;
  preview: string | null;
  whole: number;
  unread: number;
  mentions: string | null;
  counted: number;
  delivered: number;
  read: number;
  others_delivered: number;
  others_read: number;
  hidden: number;
  open: number;
  turn: number;
  muted: number;
  muted_until: number | null;
  muted_except_mentions: number;
  marked: number;
  archived: number;
  pinned_at: number | null;
  last_read_change: number;
  last_arrival_change: number;
  flags_revision: number;
  pinned_messages: string | null;
  kept: number;
  revision: number;
  card: string | null;
  gone: number;
  prior: number | null;
  missed_calls: string | null;
  push_mark: string | null;
};

export const toInboxEntry = (row: InboxColumns): InboxEntry => ({
  handle: row.handle,
  conversation: row.conversation,
  kind: privateMembers(row.conversation) ? "private" : "group",
  epoch: row.epoch,
  head: row.head,
  at: row.at,
  sender: row.sender,
  preview: row.preview === null ? null : v.parse(StoredBody, JSON.parse(row.preview)),
  whole: row.whole === 1,
  unread: row.unread,
  mentions: toSeqs(row.mentions),
  delivered: row.delivered,
  read: row.read,
  othersDelivered: row.others_delivered,
  othersRead: row.others_read,
  hidden: row.hidden,
  open: row.open === 1,
  muted: row.muted === 1,
  mutedUntil: row.muted_until,
  mutedExceptMentions: row.muted_except_mentions === 1,
  marked: row.marked === 1,
  archived: row.archived === 1,
  pinnedAt: row.pinned_at,
  lastReadChange: row.last_read_change,
  lastArrivalChange: row.last_arrival_change,
  flagsRevision: row.flags_revision,
  ...fromPinnedColumn(row.pinned_messages),
  kept: row.kept === 1,
  revision: row.revision,
  group: row.card === null ? null : v.parse(GroupCard, JSON.parse(row.card)),
  gone: row.gone === 1,
  prior: row.prior,
  countedUpTo: row.counted,
  membershipVersion: row.turn,
  changed: row.changed,
  missedCalls: toSeqs(row.missed_calls),
  pushMark: row.push_mark === null ? null : v.parse(PushMark, JSON.parse(row.push_mark)),
});

/** Columns of frequent updates. Those with an index of their own and the other columns of a mute are excluded. */
const updatedColumns = [
  "changed",
  "epoch",
  "head",
  "at",
  "sender",
  "preview",
  "whole",
  "unread",
  "mentions",
  "counted",
  "delivered",
  "read",
  "others_delivered",
  "others_read",
  "hidden",
  "open",
  "turn",
  "marked",
  "last_read_change",
  "last_arrival_change",
  "flags_revision",
  "pinned_messages",
  "kept",
  "revision",
  "card",
  "gone",
  "prior",
  "missed_calls",
  "push_mark",
] as const satisfies readonly (keyof InboxColumns)[];

const toColumns = (entry: InboxEntry): Pick<InboxColumns, (typeof updatedColumns)[number]> => ({
  changed: entry.changed,
  epoch: entry.epoch,
  head: entry.head,
  at: entry.at,
  sender: entry.sender,
  preview: entry.preview === null ? null : JSON.stringify(entry.preview),
  whole: entry.whole ? 1 : 0,
  unread: entry.unread,
  mentions: entry.mentions.length === 0 ? null : JSON.stringify(entry.mentions),
  counted: entry.countedUpTo,
  delivered: entry.delivered,
  read: entry.read,
  others_delivered: entry.othersDelivered,
  others_read: entry.othersRead,
  hidden: entry.hidden,
  open: entry.open ? 1 : 0,
  turn: entry.membershipVersion,
  marked: entry.marked ? 1 : 0,
  last_read_change: entry.lastReadChange,
  last_arrival_change: entry.lastArrivalChange,
  flags_revision: entry.flagsRevision,
  pinned_messages: toPinnedColumn(entry),
  kept: entry.kept ? 1 : 0,
  revision: entry.revision,
  card: entry.group === null ? null : JSON.stringify(entry.group),
  gone: entry.gone ? 1 : 0,
  prior: entry.prior,
  missed_calls: entry.missedCalls.length === 0 ? null : JSON.stringify(entry.missedCalls),
  push_mark: entry.pushMark === null ? null : JSON.stringify(entry.pushMark),
});

const updateStatement = `UPDATE inbox SET ${toAssignments(updatedColumns)} WHERE handle = ?`;
const updateWithBucketStatement = `UPDATE inbox SET ${toAssignments([...updatedColumns, "bucket"])} WHERE handle = ?`;
const insertStatement = toInsert("inbox", [...updatedColumns, "bucket", "handle", "conversation"]);

/** Inbox rows, the most recently used ones cached in memory, some of them not written yet. */
export class InboxTable {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** Cached rows by handle, least recently used first. */
  readonly #rows = new Map<number, InboxEntry>();
  readonly #handles = new Map<ConversationId, number>();
  /** Cached rows that are newer than the table, with the stored values. */
  readonly #unwritten = new Map<number, { bucket: number; head: number; revision: number }>();
  #lastHandle: number | undefined;
  #isClosed = false;
  readonly #onFlush: () => void;

  /** `onFlush` is called in the same synchronous run as each write of staged rows. */
  constructor(storage: DurableObjectStorage, onFlush: () => void) {
    this.#onFlush = onFlush;
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  find(conversation: ConversationId): InboxEntry | undefined {
    const handle = this.#handles.get(conversation);
    if (handle !== undefined) return this.findByHandle(handle);
    return this.#load("SELECT * FROM inbox WHERE conversation = ?", conversation);
  }

  findByHandle(handle: number): InboxEntry | undefined {
    return this.#rows.get(handle) ?? this.#load("SELECT * FROM inbox WHERE handle = ?", handle);
  }

  /** Handle for the next new conversation. Handles are never reused. */
  get nextHandle(): number {
    this.#lastHandle ??=
      this.#sql.exec<{ last: number | null }>("SELECT max(handle) AS last FROM inbox").one().last ?? 0;
    return this.#lastHandle + 1;
  }

  /** Discards unwritten rows and stops all writes. */
  close(): void {
    this.#unwritten.clear();
    this.#isClosed = true;
  }

  /** Keeps a row in memory until the next `flush` or `write`. */
  stage(entry: InboxEntry): void {
    if (this.#isClosed) return;
    const before = this.findByHandle(entry.handle);
    if (!this.#unwritten.has(entry.handle)) {
      this.#unwritten.set(entry.handle, {
        bucket: bucketOf(before?.changed ?? -bucketSize),
        head: before?.head ?? -1,
        revision: before?.revision ?? -1,
      });
    }
    if (!before) this.#lastHandle = entry.handle;
    this.#cache(entry);
  }

  write(entry: InboxEntry): void {
    this.stage(entry);
    this.flush();
  }

  /** Writes a row that may have been archived or pinned, or the contrary. */
  writeFlags(entry: InboxEntry): void {
    const before = this.findByHandle(entry.handle);
    const isSame = before?.archived === entry.archived && before.pinnedAt === entry.pinnedAt;
    this.stage(entry);
    this.#storage.transactionSync(() => {
      this.flush();
      if (isSame) return;
      this.#sql.exec(
        "UPDATE inbox SET archived = ?, pinned_at = ? WHERE handle = ?",
        entry.archived ? 1 : 0,
        entry.pinnedAt,
        entry.handle,
      );
    });
  }

  /** Writes a row whose mute changed. */
  writeMuted(entry: InboxEntry): void {
    this.stage(entry);
    this.#storage.transactionSync(() => {
      this.flush();
      this.#sql.exec(
        "UPDATE inbox SET muted = ?, muted_until = ?, muted_except_mentions = ? WHERE handle = ?",
        entry.muted ? 1 : 0,
        entry.mutedUntil,
        entry.mutedExceptMentions ? 1 : 0,
        entry.handle,
      );
    });
  }

  get pins(): { count: number; last: number | null } {
    return this.#sql
      .exec<{ count: number; last: number | null }>(
        "SELECT count(*) AS count, max(pinned_at) AS last FROM inbox WHERE pinned_at IS NOT NULL",
      )
      .one();
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** Whether messages or changes to them are in memory only. */
  hasUnwrittenMessages(handle: number): boolean {
    const [storedRow, row] = [this.#unwritten.get(handle), this.#rows.get(handle)];
    return storedRow !== undefined && (storedRow.head !== row?.head || storedRow.revision !== row.revision);
  }

  /** Writes all staged rows in one transaction. After a failure the tables prevail. */
  flush(): void {
    if (this.#unwritten.size === 0) return;
    try {
      this.#storage.transactionSync(() => {
        for (const [handle, { bucket }] of this.#unwritten) this.#writeRow(this.#rows.get(handle), bucket);
      });
      this.#onFlush();
    } catch (error) {
      for (const handle of this.#unwritten.keys()) this.#evict(handle);
      throw error;
    } finally {
      this.#unwritten.clear();
    }
  }

  #writeRow(entry: InboxEntry | undefined, bucket: number): void {
    if (!entry) return;
    const newBucket = bucketOf(entry.changed);
    const values = toParameters(updatedColumns, toColumns(entry));
    if (bucket < 0) this.#sql.exec(insertStatement, ...values, newBucket, entry.handle, entry.conversation);
    else if (bucket === newBucket) this.#sql.exec(updateStatement, ...values, entry.handle);
    else this.#sql.exec(updateWithBucketStatement, ...values, newBucket, entry.handle);
  }

  #load(query: string, key: string | number): InboxEntry | undefined {
    const [row] = this.#sql.exec<InboxColumns>(query, key).toArray();
    return row && this.#cache(toInboxEntry(row));
  }

  #cache(entry: InboxEntry): InboxEntry {
    this.#rows.delete(entry.handle);
    this.#rows.set(entry.handle, entry);
    this.#handles.set(entry.conversation, entry.handle);
    for (const handle of this.#rows.keys()) {
      if (this.#rows.size <= cachedRowsMax) break;
      if (!this.#unwritten.has(handle)) this.#evict(handle);
    }
    return entry;
  }

  #evict(handle: number): void {
    const row = this.#rows.get(handle);
    if (row) this.#handles.delete(row.conversation);
    this.#rows.delete(handle);
  }
}
