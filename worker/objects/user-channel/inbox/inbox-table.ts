import type { ConversationId } from "#contract/ids.ts";
import { toAssignments, toInsert, toParameters } from "#worker/objects/shared/columns.ts";
import { type InboxColumns, toInboxColumns, toInboxEntry, updatedColumns } from "./inbox-columns.ts";
import type { InboxEntry } from "./inbox-merge.ts";

/** Width of the buckets in the index of `changed`: 15 of 16 updates of a busy row leave the index unchanged. */
export const bucketSize = 16;
export const bucketOf = (changed: number): number => Math.floor(changed / bucketSize);

const cachedRowsMax = 128;

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
    const values = toParameters(updatedColumns, toInboxColumns(entry));
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
