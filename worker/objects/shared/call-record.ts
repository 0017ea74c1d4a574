import * as v from "valibot";
import { CallBody, type CallKind, type LastSeen, type OpenCall } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import { toInsert } from "./columns.ts";

/** A call as the conversation keeps it, also after its end. Who is rung knows nothing of one that is `withheld`. */
export type CallRecord = OpenCall & { over: CallBody | null; isHiddenFromCallee: boolean };

type CallColumns = {
  id: string;
  kind: CallKind;
  caller: number;
  caller_device: string;
  callee_device: string | null;
  created_at: number;
  answered_at: number | null;
  over: string | null;
  withheld: number;
  caller_heard_at: number;
  callee_heard_at: number;
  unanswered: number;
  unanswered_since: number;
  unanswered_from: number;
  caller_session: string | null;
  callee_session: string | null;
};

/** How many calls in a row the caller has made that nobody answered, since when, and where the log ended then. */
export type UnansweredStreak = { count: number; since: number; from: number };

/** The sessions by which its sides came into it, as far as they are known. */
export type CallSessions = { caller: Uuid | null; callee: Uuid | null };
const noSessions: CallSessions = { caller: null, callee: null };

const toCallRecord = (row: CallColumns): CallRecord => ({
  id: row.id,
  kind: row.kind,
  caller: row.caller,
  callerDevice: row.caller_device,
  calleeDevice: row.callee_device,
  createdAt: row.created_at,
  answeredAt: row.answered_at,
  over: row.over === null ? null : v.parse(CallBody, JSON.parse(row.over)),
  isHiddenFromCallee: row.withheld === 1,
});

type ConversationCallState = {
  latest: CallRecord | undefined;
  lastHeard: LastSeen;
  unanswered: UnansweredStreak;
  sessions: CallSessions;
  version: number;
};

/** The one call of a conversation, in the table and in memory. */
export class ConversationCall {
  readonly #sql: SqlStorage;
  #state: ConversationCallState;
  #before: ConversationCallState | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const [row] = sql.exec<CallColumns>("SELECT * FROM calls").toArray();
    const version = sql.exec<{ calls: number }>("SELECT calls FROM conversation").one().calls;
    this.#state = {
      latest: row && toCallRecord(row),
      lastHeard: { caller: row?.caller_heard_at ?? 0, callee: row?.callee_heard_at ?? 0 },
      unanswered: {
        count: row?.unanswered ?? 0,
        since: row?.unanswered_since ?? 0,
        from: row?.unanswered_from ?? 0,
      },
      sessions: { caller: row?.caller_session ?? null, callee: row?.callee_session ?? null },
      version,
    };
  }

  /** The call under way. */
  get open(): OpenCall | null {
    const { latest } = this.#state;
    return latest?.over === null ? latest : null;
  }

  /** It, or the last one. */
  get latest(): CallRecord | undefined {
    return this.#state.latest;
  }

  /** When each side of it was last heard of, as far as that is written. */
  get lastHeard(): LastSeen {
    return this.#state.lastHeard;
  }

  /** The calls like it up to this one, should nobody have answered it. */
  get unanswered(): UnansweredStreak {
    return this.#state.unanswered;
  }

  get sessions(): CallSessions {
    return this.#state.sessions;
  }

  /** How often there was a change. */
  get version(): number {
    return this.#state.version;
  }

  /** From here on both sides are taken to be there. */
  save(call: CallRecord, now: number, unanswered = this.unanswered, enteredSessions: Partial<CallSessions> = {}): void {
    const before = call.id === this.latest?.id ? this.sessions : noSessions;
    const sessions = { ...before, ...enteredSessions };
    this.#state = {
      latest: call,
      lastHeard: { caller: now, callee: now },
      unanswered,
      sessions,
      version: this.version + 1,
    };
    const row: CallColumns = {
      id: call.id,
      kind: call.kind,
      caller: call.caller,
      caller_device: call.callerDevice,
      callee_device: call.calleeDevice,
      created_at: call.createdAt,
      answered_at: call.answeredAt,
      over: call.over && JSON.stringify(call.over),
      withheld: call.isHiddenFromCallee ? 1 : 0,
      caller_heard_at: now,
      callee_heard_at: now,
      unanswered: unanswered.count,
      unanswered_since: unanswered.since,
      unanswered_from: unanswered.from,
      caller_session: sessions.caller,
      callee_session: sessions.callee,
    };
    this.#sql.exec("DELETE FROM calls WHERE id <> ?", call.id);
    this.#sql.exec(toInsert("calls", Object.keys(row), "INSERT OR REPLACE"), ...Object.values(row));
    this.#sql.exec("UPDATE conversation SET calls = ?", this.version);
  }

  /** A side was heard of. That is no change of the call. */
  recordHeard(heard: LastSeen): void {
    this.#state = { ...this.#state, lastHeard: heard };
    this.#sql.exec("UPDATE calls SET caller_heard_at = ?, callee_heard_at = ?", heard.caller, heard.callee);
  }

  /** What follows can be taken back. */
  beginTransaction(): void {
    this.#before = this.#state;
  }

  rollback(): void {
    if (this.#before) this.#state = this.#before;
  }
}
