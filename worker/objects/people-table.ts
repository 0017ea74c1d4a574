import * as v from "valibot";
import type { Uuid } from "../../contract/ids";
import { Relation } from "../../contract/people";
import { bucketOf } from "./inbox";

export type PeopleColumns = { user_id: Uuid; changed: number; bucket: number; relation: string };

export const toRelation = (row: PeopleColumns): Relation => v.parse(Relation, JSON.parse(row.relation));

/** How people stand to one person, as the Worker last said it. */
export class PeopleTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether this is known already. Whose account is gone does not come back, and who was never known is not missed. */
  has(relation: Relation): boolean {
    const query = "SELECT * FROM people WHERE user_id = ?";
    const [row] = this.#sql.exec<PeopleColumns>(query, relation.profile.id).toArray();
    if (!row) return relation.profile.deleted === true;
    return row.relation === JSON.stringify(relation) || toRelation(row).profile.deleted === true;
  }

  /** Whether this person blocks that one. */
  isBlocked(user: Uuid): boolean {
    const query = "SELECT relation FROM people WHERE user_id = ?";
    const [row] = this.#sql.exec<PeopleColumns>(query, user).toArray();
    return row !== undefined && toRelation(row).blocked;
  }

  write(relation: Relation, changed: number): void {
    this.#sql.exec(
      `INSERT INTO people (user_id, changed, bucket, relation) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE SET
         changed = excluded.changed, bucket = excluded.bucket, relation = excluded.relation`,
      relation.profile.id,
      changed,
      bucketOf(changed),
      JSON.stringify(relation),
    );
  }
}
