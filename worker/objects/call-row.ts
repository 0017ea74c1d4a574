import * as v from "valibot";
import { CallBody, type CallKind, type OpenCall } from "../../contract/calls";

/** A call as the conversation keeps it, also after its end. */
export type KeptCall = OpenCall & { over: CallBody | null };

type Columns = {
  id: string;
  kind: CallKind;
  caller: number;
  caller_device: string;
  callee_device: string | null;
  created_at: number;
  answered_at: number | null;
  over: string | null;
};

const toCall = (row: Columns): KeptCall => ({
  id: row.id,
  kind: row.kind,
  caller: row.caller,
  callerDevice: row.caller_device,
  calleeDevice: row.callee_device,
  createdAt: row.created_at,
  answeredAt: row.answered_at,
  over: row.over === null ? null : v.parse(CallBody, JSON.parse(row.over)),
});

/** The one call of a conversation, in the table and in memory. */
export class CallRow {
  readonly #sql: SqlStorage;
  #kept: KeptCall | undefined;
  #version: number;
  #before: { kept: KeptCall | undefined; version: number } | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const [row] = sql.exec<Columns>("SELECT * FROM calls").toArray();
    this.#kept = row && toCall(row);
    this.#version = sql.exec<{ calls: number }>("SELECT calls FROM conversation").one().calls;
  }

  /** The call under way. */
  get open(): OpenCall | null {
    return this.#kept?.over === null ? this.#kept : null;
  }

  /** It, or the last one. */
  get kept(): KeptCall | undefined {
    return this.#kept;
  }

  /** How often there was a change. */
  get version(): number {
    return this.#version;
  }

  write(call: KeptCall): void {
    this.#kept = call;
    this.#version += 1;
    this.#sql.exec("DELETE FROM calls WHERE id <> ?", call.id);
    this.#sql.exec(
      "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      call.id,
      call.kind,
      call.caller,
      call.callerDevice,
      call.calleeDevice,
      call.createdAt,
      call.answeredAt,
      call.over && JSON.stringify(call.over),
    );
    this.#sql.exec("UPDATE conversation SET calls = ?", this.#version);
  }

  /** What follows can be taken back. */
  begin(): void {
    this.#before = { kept: this.#kept, version: this.#version };
  }

  rollback(): void {
    if (!this.#before) return;
    this.#kept = this.#before.kept;
    this.#version = this.#before.version;
  }
}
