import type { CallBody, CallStatus, DeviceId, ReportedReason } from "#contract/calls/call.ts";
import {
  applyCallCommand,
  applyCallTimeout,
  type CallCommand,
  type CallSide,
  findSleepCheckAt,
  getCallTimeoutAt,
  hasSide,
  isStale,
  isUnreachable,
  type OpenCall,
  recoverRing,
} from "#contract/calls/open-call.ts";
import type { Uuid } from "#contract/ids.ts";
import { unansweredMax, unansweredMs } from "#contract/limits/calls.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { toVisibleCall } from "#worker/objects/conversation/delivery/build-notice.ts";
import type { MemberNotifier } from "#worker/objects/conversation/delivery/notifier.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { CallHeartbeat, CallSnapshot } from "#worker/objects/rpc/calls.ts";
import type { CallRecord, CallSessions, UnansweredStreak } from "#worker/objects/shared/call-record.ts";
import { CallHeartbeats } from "./call-heartbeats.ts";
import { RingTimer } from "./ring-timer.ts";
import { getUnansweredStreak } from "./unanswered-streak.ts";

const callNotFound: Refusal = { error: "call_not_found" };

const sideOfMember = ({ number }: Member, { caller }: Pick<OpenCall, "caller">): CallSide =>
  number === caller ? "caller" : "callee";

/**
 * Call of a private conversation. Each event is applied in one synchronous transaction, the log entry at the end of the
 * call included. The entry's client id is the call id, so that it is written once.
 */
export class CallController {
  readonly #log: ConversationLog;
  readonly #notifier: Pick<MemberNotifier, "notifyUrgently" | "scheduleAlarm">;
  readonly #heartbeats: CallHeartbeats;
  readonly #ringTimer = new RingTimer(
    () => this.#sleepCheckAt,
    () => this.applyTimeouts(),
  );

  constructor(
    log: ConversationLog,
    notifier: Pick<MemberNotifier, "notifyUrgently" | "scheduleAlarm">,
    now = Date.now(),
  ) {
    this.#log = log;
    this.#notifier = notifier;
    this.#heartbeats = new CallHeartbeats(log.calls, now);
  }

  /** Time of the next call timeout. */
  get nextTimeoutAt(): number | undefined {
    const { open } = this.#log.calls;
    return open ? getCallTimeoutAt(open, this.#heartbeats.lastSeen) : undefined;
  }

  /** Time at which the callee's phone counts as asleep unless a device reports before. */
  get #sleepCheckAt(): number | undefined {
    const { open } = this.#log.calls;
    return open ? findSleepCheckAt(open) : undefined;
  }

  /** Applies a member's command, sent by one of their sessions. */
  runCommand(member: Member, command: CallCommand, session?: Uuid, now = Date.now()): CallSnapshot | Refusal {
    return this.transaction(() => {
      this.#applyTimeouts(now);
      return this.#applyCommand(member, command, session, now);
    });
  }

  /** Ends a call that rings for a busy member, also one hidden from them: the caller gets the same answer. */
  refuseAsBusy(member: Member, id: Uuid, now = Date.now()): CallSnapshot | Refusal {
    return this.transaction(() => {
      this.#applyTimeouts(now);
      const { latest, open } = this.#log.calls;
      if (latest?.id !== id || latest.caller === member.number) return callNotFound;
      if (open?.answeredAt === null) this.#end(open, member.number, "missed", now, "busy");
      return this.#toSnapshot(member, this.#log.calls.latest ?? latest);
    });
  }

  /** Ends an unanswered call whose caller is gone. An answered call goes on, since the caller's page may reconnect. */
  cancelCall(member: Member, id: Uuid, now = Date.now()): CallSnapshot | Refusal {
    this.transaction(() => {
      this.#applyTimeouts(now);
      const { open } = this.#log.calls;
      const isOwnCall = open?.id === id && open.caller === member.number;
      if (isOwnCall && open.answeredAt === null) this.#end(open, member.number, "missed", now);
    });
    return this.find(member, id);
  }

  /** Ends the member's call if one of the ended sessions holds their side, as if they hung up. */
  endSessions(member: Member, endedSessions: readonly Uuid[] | "all", now = Date.now()): CallSnapshot | Refusal {
    return this.transaction(() => {
      this.#applyTimeouts(now);
      const { open, sessions } = this.#log.calls;
      const side = open && sideOfMember(member, open);
      if (!side || (side === "callee" && open.answeredAt === null)) return callNotFound;
      if (endedSessions !== "all" && !endedSessions.includes(sessions[side] ?? "")) return callNotFound;
      this.endOpenCall(member, now);
      return this.#toSnapshot(member, this.#log.calls.latest ?? { ...open, over: null, isHiddenFromCallee: false });
    });
  }

  /** State of the open or last call as the member may see it. */
  find(member: Member, id: Uuid): CallSnapshot | Refusal {
    this.applyTimeouts();
    const { call } = toVisibleCall(this.#log, member);
    return call?.id === id ? this.#toSnapshot(member, call) : callNotFound;
  }

  /** Records a heartbeat of one side. False if the call is not open or another device holds that side. */
  recordHeartbeat(member: Member, id: Uuid, { device, peerSilentMs }: CallHeartbeat = {}, now = Date.now()): boolean {
    this.reportRing(member, id, now);
    const { open } = this.#log.calls;
    if (open?.id !== id || toVisibleCall(this.#log, member).call?.id !== id) return false;
    const isCaller = member.number === open.caller;
    if (device !== undefined && !hasSide(open, isCaller, device)) return false;
    this.#heartbeats.recordHeartbeat(open, sideOfMember(member, open), now, peerSilentMs);
    return true;
  }

  /**
   * Records that the call rings on a device of the member, unless they are its caller. The usual report changes only
   * the memory; the first one of a phone that seemed asleep is stored and sent to both sides.
   */
  reportRing(member: Member, id: Uuid, now = Date.now()): void {
    if (this.#log.calls.open?.answeredAt !== null) return;
    this.applyTimeouts(now);
    const { latest, open } = this.#log.calls;
    if (!open || !latest || toVisibleCall(this.#log, member).call?.id !== id) return;
    const next = applyCallCommand(open, member.number, { type: "reportRing", id }, now);
    if ("error" in next || !next.call || next.call === open) return;
    const { ring } = next.call;
    if (ring === "woken") this.transaction(() => this.#save(open, next, now));
    else {
      this.#log.calls.rememberRing({ ...latest, ring });
      this.#ringTimer.schedule();
    }
  }

  /** Decides how long a call rings of which this instance knew no report: `isRinging` on a device, or nowhere. */
  recoverRing(id: Uuid, isRinging: boolean, now = Date.now()): void {
    const { open, latest } = this.#log.calls;
    if (!open || !latest || open.id !== id) return;
    const call = recoverRing(open, isRinging, now);
    this.transaction(() => {
      if (call.ring === "asleep") this.#save(open, { call }, now);
      else this.#log.calls.rememberRing({ ...latest, ring: call.ring });
      this.#applyTimeouts(now);
    });
  }

  /** The peer's device, if neither this side nor the server has heard from it for the time it may be away. */
  findUnreachable(member: Member, id: Uuid, now = Date.now()): { other: Member; device: DeviceId } | undefined {
    const { members, calls } = this.#log;
    const { open } = calls;
    const isCaller = open?.caller === member.number;
    if (open?.id !== id || !isUnreachable(open, !isCaller, this.#heartbeats.lastSeen, now)) return undefined;
    const other = members.active.find(({ number }) => number !== member.number);
    const device = isCaller ? open.calleeDevice : open.callerDevice;
    return other && device !== null ? { other, device } : undefined;
  }

  /** Ends the call because the peer's device has no connection to the server either. */
  endUnreachable(member: Member, id: Uuid, now = Date.now()): void {
    this.transaction(() => {
      const { open } = this.#log.calls;
      const unreachable = this.findUnreachable(member, id, now);
      if (open && unreachable) this.#end(open, unreachable.other.number, "ended", now, "failed");
    });
  }

  /** Applies due timeouts of the call. */
  applyTimeouts(now = Date.now()): void {
    const times = [this.nextTimeoutAt, this.#sleepCheckAt].filter((at) => at !== undefined);
    if (times.some((at) => at <= now)) this.transaction(() => this.#applyTimeouts(now));
  }

  /**
   * Ends the call because the two may no longer talk, attributed to `endedBy` if it is one member's doing. Runs within
   * `transaction`.
   */
  endOpenCall(endedBy?: Member, now = Date.now()): void {
    const { open } = this.#log.calls;
    if (!open) return;
    this.#end(open, endedBy?.number ?? open.caller, open.answeredAt === null ? "rejected" : "ended", now);
  }

  /** Runs a transaction that may change the call. If it does, both sides are notified before anything else. */
  transaction<T>(change: () => T): T {
    const { calls } = this.#log;
    const before = calls.version;
    const result = this.#log.transaction(change);
    const { nextTimeoutAt } = this;
    if (nextTimeoutAt !== undefined) this.#notifier.scheduleAlarm(nextTimeoutAt);
    this.#ringTimer.schedule();
    if (calls.version !== before) this.#notifier.notifyUrgently(this.#log.members.active);
    return result;
  }

  #applyCommand(member: Member, command: CallCommand, session: Uuid | undefined, now: number): CallSnapshot | Refusal {
    const { calls, group } = this.#log;
    if (group) return { error: "not_allowed" };
    const { latest, open } = calls;
    // A call that is hidden from a member cannot be answered or rejected by them.
    if (command.type !== "create" && toVisibleCall(this.#log, member).call?.id !== command.id) return callNotFound;
    // The call is over and the caller of this method has not learned that yet.
    if (latest?.over && latest.id === command.id && command.type !== "answer") return this.#toSnapshot(member, latest);
    let unanswered: UnansweredStreak | undefined;
    if (command.type === "create") {
      if (!this.#log.isOpen) return { error: "not_connected" };
      if (member.isBlocking) return { error: "contact_blocked" };
      // The call was over before another one began.
      if (open?.id !== command.id && this.#log.messages.findByClientId(member.number, command.id)) return callNotFound;
      if (!open) {
        const before = getUnansweredStreak(this.#log, member, now);
        const { count, since } = before;
        if (count >= unansweredMax) return { error: "rate_limited", retryAfterMs: since + unansweredMs - now };
        unanswered = { ...before, count: count + 1 };
      } else if (
        open.id !== command.id &&
        isStale(open, open.caller === member.number, this.#heartbeats.lastSeen, now)
      ) {
        this.#end(open, member.number, "ended", now);
        return this.#applyCommand(member, command, session, now);
      }
    }
    const next = applyCallCommand(open, member.number, command, now, this.#heartbeats.lastSeen);
    if ("error" in next) return next;
    const commanded = next.call ?? open;
    if (commanded) this.#heartbeats.record(sideOfMember(member, commanded), now);
    const enteredSessions =
      session && next.call && command.type !== "end" ? { [sideOfMember(member, next.call)]: session } : {};
    return this.#toSnapshot(member, this.#save(open, next, now, unanswered, enteredSessions));
  }

  /** State of a call from a member's point of view. */
  #toSnapshot(member: Member, call: CallRecord): CallSnapshot {
    const isLeft =
      call.over === null && isStale(call, call.caller === member.number, this.#heartbeats.lastSeen, Date.now());
    return { call, version: this.#log.calls.version, isStale: isLeft };
  }

  /** Ends a call by the device of one side. */
  #end(open: OpenCall, endedBy: number, status: CallStatus, now: number, reason?: ReportedReason): void {
    const { id, caller, callerDevice, calleeDevice } = open;
    const device = endedBy === caller ? callerDevice : (calleeDevice ?? callerDevice);
    const next = applyCallCommand(
      open,
      endedBy,
      { type: "end", id, device, status, ...(reason ? { reason } : {}) },
      now,
      this.#heartbeats.lastSeen,
    );
    if (!("error" in next)) this.#save(open, next, now);
  }

  #applyTimeouts(now: number): void {
    const { open } = this.#log.calls;
    const next = open && applyCallTimeout(open, this.#heartbeats.lastSeen, now);
    if (next && !("error" in next)) this.#save(open, next, now);
  }

  #save(
    before: OpenCall | null,
    next: { call: OpenCall | null; logEntry?: CallBody },
    now: number,
    unanswered?: UnansweredStreak,
    enteredSessions?: Partial<CallSessions>,
  ): CallRecord {
    const { calls } = this.#log;
    const call = next.call ?? before;
    if (!call) throw new Error("there is no call to end");
    const over = next.logEntry ?? null;
    const record: CallRecord = { ...call, over, isHiddenFromCallee: this.#isHiddenFromCallee(before, call) };
    if (next.call === before) return calls.latest ?? record;
    calls.save(record, now, unanswered, enteredSessions);
    this.#heartbeats.handleCallSaved();
    // In older logs a message may have used the call's client id while the call was open.
    if (over && !this.#log.messages.findByClientId(call.caller, call.id))
      this.#log.append(call.caller, call.id, over, now, record.isHiddenFromCallee);
    return record;
  }

  /** Whether the callee blocks the caller. Decided when the call begins; ends when the callee answers. */
  #isHiddenFromCallee(before: OpenCall | null, call: OpenCall): boolean {
    return before
      ? call.answeredAt === null && this.#log.calls.latest?.isHiddenFromCallee === true
      : this.#log.isSenderBlocked(call.caller);
  }
}
