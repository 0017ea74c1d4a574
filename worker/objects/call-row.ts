import * as v from "valibot";
import { CallBody, type CallKind, type OpenCall } from "../../contract/calls";

/** A call as the conversation keeps it, also after its end. Who is rung knows nothing of one that is `withheld`. */
export type KeptCall = OpenCall & { over: CallBody | null; withheld: boolean };

type Columns = {
  id: string;
  kind: CallKind;
  caller: number;
  caller_device: string;
  callee_device: string | null;
  created_at: number;
  answered_at: number | null;
  over: string | null;
  withheld: number;
  heard_at: number;
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
  withheld: row.withheld === 1,
});

type State = { kept: KeptCall | undefined; heardAt: number; version: number };

/** The one call of a conversation, in the table and in memory. */
export class CallRow {
  readonly #sql: SqlStorage;
  #state: State;
  #before: State | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const [row] = sql.exec<Columns>("SELECT * FROM calls").toArray();
    const version = sql.exec<{ calls: number }>("SELECT calls FROM conversation").one().calls;
    this.#state = { kept: row && toCall(row), heardAt: row?.heard_at ?? 0, version };
  }

  /** The call under way. */
  get open(): OpenCall | null {
    const { kept } = this.#state;
    return kept?.over === null ? kept : null;
  }

  /** It, or the last one. */
  get kept(): KeptCall | undefined {
    return this.#state.kept;
  }

  /** When a side of it was last heard of, as far as that is written. */
  get heardAt(): number {
    return this.#state.heardAt;
  }

  /** How often there was a change. */
  get version(): number {
    return this.#state.version;
  }

  write(call: KeptCall, heardAt: number): void {
    this.#state = { kept: call, heardAt, version: this.version + 1 };
    this.#sql.exec("DELETE FROM calls WHERE id <> ?", call.id);
    this.#sql.exec(
      "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      call.id,
      call.kind,
      call.caller,
      call.callerDevice,
      call.calleeDevice,
      call.createdAt,
      call.answeredAt,
      call.over && JSON.stringify(call.over),
      call.withheld ? 1 : 0,
      heardAt,
    );
    this.#sql.exec("UPDATE conversation SET calls = ?", this.version);
  }

  /** A side was heard of. That is no change of the call. */
  note(heardAt: number): void {
    this.#state = { ...this.#state, heardAt };
    this.#sql.exec("UPDATE calls SET heard_at = ?", heardAt);
  }

  /** What follows can be taken back. */
  begin(): void {
    this.#before = this.#state;
  }

  rollback(): void {
    if (this.#before) this.#state = this.#before;
  }
}
