import type { Uuid } from "#contract/ids.ts";
import { pendingDeletionLifetimeMs, pendingDeletionsMax } from "#contract/limits/messages.ts";
import type { Member } from "./member-table.ts";

/** Client ids of messages deleted by their authors before they arrived. Runs within the caller's transaction. */
export class PendingDeletions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  has({ number }: Member, cid: Uuid): boolean {
    const query = "SELECT 1 FROM withdrawn WHERE sender = ? AND cid = ?";
    return this.#sql.exec(query, number, cid).toArray().length > 0;
  }

  /** Adds a client id. Keeps each member's newest `pendingDeletionsMax` ids for `pendingDeletionLifetimeMs`. */
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

  /** Deletes the ids of a member who can no longer send. */
  clearOf({ number }: Member): void {
    this.#sql.exec("DELETE FROM withdrawn WHERE sender = ?", number);
  }
}
