import * as v from "valibot";
import { CallBody, type CallKind } from "#contract/calls/call.ts";
import type { LastSeen, OpenCall } from "#contract/calls/open-call.ts";
import type { Uuid } from "#contract/ids.ts";
import { toInsert } from "./columns.ts";

/**
 * A call as stored by the conversation, also after its end. `isHiddenFromCallee`: the callee blocks the caller and does
 * not see the call.
 */
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
  ring: string | null;
};

/** Consecutive unanswered calls of one caller: their count, the time of the first and the log head at that time. */
export type UnansweredStreak = { count: number; since: number; from: number };

/** Sessions by which the two sides entered the call, null if unknown. */
export type CallSessions = { caller: Uuid | null; callee: Uuid | null };
const noSessions: CallSessions = { caller: null, callee: null };

/** Rings that are stored. A new instance knows nothing of other ones. */
const storedRings = ["asleep", "woken"] as const;
const toStoredRing = (ring: string | null) => storedRings.find((stored) => stored === ring);

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
  ring: toStoredRing(row.ring) ?? "unknown",
});

type ConversationCallState = {
  latest: CallRecord | undefined;
  lastHeard: LastSeen;
  unanswered: UnansweredStreak;
  sessions: CallSessions;
  version: number;
};

/** The open or last call of a conversation, in its table and cached in memory. */
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

  /** The open call, null if there is none. */
  get open(): OpenCall | null {
    const { latest } = this.#state;
    return latest?.over === null ? latest : null;
  }

  /** The open call, otherwise the last one. */
  get latest(): CallRecord | undefined {
    return this.#state.latest;
  }

  /** Last written heartbeat time of each side. */
  get lastHeard(): LastSeen {
    return this.#state.lastHeard;
  }

  /** Streak of unanswered calls up to this one. */
  get unanswered(): UnansweredStreak {
    return this.#state.unanswered;
  }

  get sessions(): CallSessions {
    return this.#state.sessions;
  }

  /** Number of changes of the call. */
  get version(): number {
    return this.#state.version;
  }

  /** Writes a new state of the call. Both sides count as alive from `now`. */
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
      ring: toStoredRing(call.ring) ?? null,
    };
    this.#sql.exec("DELETE FROM calls WHERE id <> ?", call.id);
    this.#sql.exec(toInsert("calls", Object.keys(row), "INSERT OR REPLACE"), ...Object.values(row));
    this.#sql.exec("UPDATE conversation SET calls = ?", this.version);
  }

  /** Writes the heartbeat times. The version stays the same. */
  recordHeard(heard: LastSeen): void {
    this.#state = { ...this.#state, lastHeard: heard };
    this.#sql.exec("UPDATE calls SET caller_heard_at = ?, callee_heard_at = ?", heard.caller, heard.callee);
  }

  /** Remembers that a device rings, in memory only. The version stays the same. */
  rememberRing(call: CallRecord): void {
    this.#state = { ...this.#state, latest: call };
  }

  /** Saves the current state for `rollback`. */
  beginTransaction(): void {
    this.#before = this.#state;
  }

  rollback(): void {
    if (this.#before) this.#state = this.#before;
  }
}
