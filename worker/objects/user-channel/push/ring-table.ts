import * as v from "valibot";
import { type ConversationId, Uuid } from "#contract/ids.ts";
import { toInsert } from "#worker/objects/shared/columns.ts";

/** Last call of a conversation that rang on devices by a push, with the sessions of these devices. */
export type PushedRing = { call: Uuid; sessions: readonly Uuid[] };

type RingColumns = { conversation: string; call: Uuid; sessions: string };

const Sessions = v.array(Uuid);
const columns = ["conversation", "call", "sessions"] as const;
const writeStatement = toInsert("push_rings", columns, "INSERT OR REPLACE");

/** Calls that rang on devices by a push, so that an instance can replace the notifications of its predecessors. */
export class RingTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(conversation: ConversationId): PushedRing | undefined {
    const query = "SELECT * FROM push_rings WHERE conversation = ?";
    const [row] = this.#sql.exec<RingColumns>(query, conversation).toArray();
    return row && { ...row, sessions: v.parse(Sessions, JSON.parse(row.sessions)) };
  }

  write(conversation: ConversationId, { call, sessions }: PushedRing): void {
    this.#sql.exec(writeStatement, conversation, call, JSON.stringify(sessions));
  }

  /** Deletes the call of a conversation unless a later one has replaced it. */
  delete(conversation: ConversationId, call: Uuid): void {
    this.#sql.exec("DELETE FROM push_rings WHERE conversation = ? AND call = ?", conversation, call);
  }
}
