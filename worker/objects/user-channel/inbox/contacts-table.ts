import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { toVisibleRelation } from "#worker/lib/profile-visibility.ts";
import { bucketOf } from "./inbox-table.ts";

export type RelationColumns = { user_id: Uuid; changed: number; bucket: number; relation: string };

const toRelation = (row: RelationColumns): Relation => v.parse(Relation, JSON.parse(row.relation));

/** Relations of other people to one person, as last reported by the Worker. */
export class RelationTable {
  readonly #sql: SqlStorage;
  readonly #user: Uuid;

  constructor(sql: SqlStorage, user: Uuid) {
    this.#sql = sql;
    this.#user = user;
  }

  /**
   * Relation of a row with what its relation shows today. Rows that hold more of the profile are rewritten without a
   * change.
   */
  read(row: RelationColumns): Relation {
    const stored = toRelation(row);
    const visible = toVisibleRelation(stored, this.#user);
    if (visible !== stored) {
      this.#sql.exec("UPDATE people SET relation = ? WHERE user_id = ?", JSON.stringify(visible), row.user_id);
    }
    return visible;
  }

  /**
   * Whether the relation is stored already. A deleted account never returns, and a deletion of an unknown person is
   * ignored.
   */
  isKnown(relation: Relation): boolean {
    const query = "SELECT * FROM people WHERE user_id = ?";
    const [row] = this.#sql.exec<RelationColumns>(query, relation.profile.id).toArray();
    if (!row) return relation.profile.deleted === true;
    return row.relation === JSON.stringify(relation) || toRelation(row).profile.deleted === true;
  }

  /** Relation to a person, undefined if there never was one. */
  find(user: Uuid): Relation | undefined {
    const query = "SELECT * FROM people WHERE user_id = ?";
    const [row] = this.#sql.exec<RelationColumns>(query, user).toArray();
    return row && toRelation(row);
  }

  /** Name of a person whom this person has or had contact with. */
  findName(user: Uuid): string | undefined {
    const query = "SELECT relation FROM people WHERE user_id = ?";
    const [row] = this.#sql.exec<RelationColumns>(query, user).toArray();
    return row && toRelation(row).profile.username;
  }

  /** Whether this person blocks that user. */
  isBlocked(user: Uuid): boolean {
    const query = "SELECT relation FROM people WHERE user_id = ?";
    const [row] = this.#sql.exec<RelationColumns>(query, user).toArray();
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
