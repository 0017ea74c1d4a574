import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { groupInvitationDays } from "#contract/limits/groups.ts";

const lifetimeMs = groupInvitationDays * dayMs;

export type GroupInvitationEntry = { user: Uuid; at: number };

/**
 * Invitations to a group, at most one for each person. All are from the present owner, who alone may invite. Declined
 * ones stay for their time, so that the owner does not see who declined. Runs within the caller's transaction.
 */
export class InvitationTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Invitations that have not expired, newest first. */
  list(now: number): GroupInvitationEntry[] {
    const query = "SELECT user_id AS user, at FROM invitations WHERE at > ? ORDER BY at DESC, user_id";
    return this.#sql.exec<GroupInvitationEntry>(query, now - lifetimeMs).toArray();
  }

  /** Whether a person may accept. */
  isOpen(user: Uuid, now: number): boolean {
    const query = "SELECT 1 FROM invitations WHERE user_id = ? AND at > ? AND declined = 0";
    return this.#sql.exec(query, user, now - lifetimeMs).toArray().length > 0;
  }

  /** Adds an invitation unless the person has one, and deletes expired ones. */
  add(user: Uuid, now: number): void {
    this.#sql.exec("DELETE FROM invitations WHERE at <= ?", now - lifetimeMs);
    this.#sql.exec("INSERT OR IGNORE INTO invitations (user_id, at) VALUES (?, ?)", user, now);
  }

  decline(user: Uuid): void {
    this.#sql.exec("UPDATE invitations SET declined = 1 WHERE user_id = ?", user);
  }

  delete(user: Uuid): void {
    this.#sql.exec("DELETE FROM invitations WHERE user_id = ?", user);
  }

  deleteAll(): void {
    this.#sql.exec("DELETE FROM invitations");
  }
}
