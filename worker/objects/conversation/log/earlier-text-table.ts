import { earlierTextLifetimeMs } from "#contract/limits/messages.ts";

type EarlierText = { seq: number; number: number; text: string; at: number; revision: number };

/**
 * Texts of edited messages before each edit, kept for `earlierTextLifetimeMs` for reports of abuse. Devices receive
 * them only for former members, who do not see later edits. Runs within the caller's transaction.
 */
export class EarlierTextTable {
  readonly #sql: SqlStorage;
  /** Time of the oldest text or before it, null if there is none. Undefined until it is read. */
  #oldestAt: number | null | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Adds a text that was written by the edit of this number and is replaced by the edit with this revision. */
  add({ seq, number, text, at, revision }: EarlierText): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO earlier_texts (seq, number, text, at, revision) VALUES (?, ?, ?, ?, ?)",
      seq,
      number,
      text,
      at,
      revision,
    );
    if (this.#oldestAt === null) this.#oldestAt = at;
  }

  /** Whether an edit after the edit of this number wrote the text, which was replaced since. */
  hasLater(seq: number, number: number, text: string): boolean {
    const query = "SELECT 1 FROM earlier_texts WHERE seq = ? AND number > ? AND text = ?";
    return this.#sql.exec(query, seq, number, text).toArray().length > 0;
  }

  /** Text of a message at a time at which it was not the newest one, and the number of the edit that wrote it. */
  findReplacedSince(seq: number, at: number): { number: number; text: string } | undefined {
    const query = "SELECT number, text FROM earlier_texts WHERE seq = ? AND at >= ? ORDER BY number LIMIT 1";
    return this.#sql.exec<{ number: number; text: string }>(query, seq, at).toArray()[0];
  }

  /** Deletes the earlier texts of a deleted message. */
  deleteOf(seq: number): void {
    this.#sql.exec("DELETE FROM earlier_texts WHERE seq = ?", seq);
  }

  /** When the oldest text has to be purged, undefined if there is none. */
  get nextPurgeAt(): number | undefined {
    if (this.#oldestAt === undefined) this.#oldestAt = this.#readOldestAt();
    return this.#oldestAt === null ? undefined : this.#oldestAt + earlierTextLifetimeMs;
  }

  /** Deletes the texts whose time is over. */
  purge(now: number): void {
    if ((this.nextPurgeAt ?? Number.POSITIVE_INFINITY) > now) return;
    this.#sql.exec("DELETE FROM earlier_texts WHERE at <= ?", now - earlierTextLifetimeMs);
    this.#oldestAt = this.#readOldestAt();
  }

  #readOldestAt(): number | null {
    return this.#sql.exec<{ at: number | null }>("SELECT min(at) AS at FROM earlier_texts").one().at;
  }
}
