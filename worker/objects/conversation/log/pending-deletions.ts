import type { Uuid } from "#contract/ids.ts";
import { pendingDeletionLifetimeMs, pendingDeletionsMax } from "#contract/limits.ts";
import type { Member } from "./member-table.ts";

/** Messages that their authors deleted before they had come, by client id. Within the caller's transaction. */
export class PendingDeletions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  has({ number }: Member, cid: Uuid): boolean {
    const query = "SELECT 1 FROM withdrawn WHERE sender = ? AND cid = ?";
    return this.#sql.exec(query, number, cid).toArray().length > 0;
  }

  /** Of each member the newest are kept, for a while. */
  add({ number }: Member, cid: Uuid, now: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO withdrawn (sender, cid, at) VALUES (?, ?, ?)", number, cid, now);
    this.#sql.exec(
      `DELETE FROM withdrawn WHERE sender = ? AND
         (at < ? OR cid IN (SELECT cid FROM withdrawn WHERE sender = ? ORDER BY at DESC, cid DESC LIMIT -1 OFFSET ?))`,
      number,
      now - pendingDeletionLifetimeMs,
      number,
      pendingDeletionsMax,
    );
  }

  /** Nothing that this member sends is taken in any more. */
  clearOf({ number }: Member): void {
    this.#sql.exec("DELETE FROM withdrawn WHERE sender = ?", number);
  }
}
