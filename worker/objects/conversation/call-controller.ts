import {
  applyCallCommand,
  applyCallTimeout,
  type CallBody,
  type CallCommand,
  type CallReason,
  type CallSide,
  type CallStatus,
  type DeviceId,
  getCallTimeoutAt,
  hasSide,
  isAbandoned,
  isUnreachable,
  type LastSeen,
  type OpenCall,
  recordPeerLastSeen,
} from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import { callHeardWriteMs, unansweredMax, unansweredMs } from "#contract/limits.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { CallHeartbeat, CallSnapshot } from "#worker/objects/rpc.ts";
import type { CallRecord, CallSessions, UnansweredStreak } from "#worker/objects/shared/call-record.ts";
import { toVisibleCall } from "./delivery/build-notice.ts";
import type { MemberNotifier } from "./delivery/notifier.ts";
import type { ConversationLog } from "./log/conversation-log.ts";
import type { Member } from "./log/member-table.ts";

const callNotFound: Refusal = { error: "call_not_found" };

const sideOfMember = ({ number }: Member, { caller }: Pick<OpenCall, "caller">): CallSide =>
  number === caller ? "caller" : "callee";

/**
 * The call of a private conversation. Everything that happens to it is one synchronous go, and so is its end with the
 * line that tells of it: the line's client id is the call's own, so that it stands there once.
 */
export class CallController {
  readonly #log: ConversationLog;
  readonly #notifier: Pick<MemberNotifier, "notifyUrgently" | "scheduleAlarm">;
  /** When each side was last heard of: at the latest, and as far as it is known. */
  #lastHeard: LastSeen;
  #confirmedHeard: LastSeen;

  constructor(
    log: ConversationLog,
    notifier: Pick<MemberNotifier, "notifyUrgently" | "scheduleAlarm">,
    now = Date.now(),
  ) {
    this.#log = log;
    this.#notifier = notifier;
    // What was heard in the life of an instance before this one is written only once in a while.
    const { caller, callee } = log.calls.lastHeard;
    const latestPossible = (writtenAt: number) => Math.min(now, writtenAt + callHeardWriteMs);
    this.#lastHeard = { caller: latestPossible(caller), callee: latestPossible(callee) };
    this.#confirmedHeard = { caller, callee };
  }

  /** When time alone will make something of it. */
  get nextTimeoutAt(): number | undefined {
    const { open } = this.#log.calls;
    return open ? getCallTimeoutAt(open, this.#lastHeard) : undefined;
  }

  /** What a member does with it, by a session of theirs. */
  runCommand(member: Member, command: CallCommand, session?: Uuid, now = Date.now()): CallSnapshot | Refusal {
    return this.transaction(() => {
      this.#applyTimeouts(now);
      return this.#applyCommand(member, command, session, now);
    });
  }

  /** It rings for a member who is busy. They need not be allowed to know of it: whoever calls hears the same. */
  refuseAsBusy(member: Member, id: Uuid, now = Date.now()): CallSnapshot | Refusal {
    return this.transaction(() => {
      this.#applyTimeouts(now);
      const { latest, open } = this.#log.calls;
      if (latest?.id !== id || latest.caller === member.number) return callNotFound;
      if (open?.answeredAt === null) this.#end(open, member.number, "missed", now, "busy");
      return this.#toSnapshot(member, this.#log.calls.latest ?? latest);
    });
  }

  /** Whoever calls is gone. What was answered meanwhile goes on: their page may come back to it. */
  cancelCall(member: Member, id: Uuid, now = Date.now()): CallSnapshot | Refusal {
    this.transaction(() => {
      this.#applyTimeouts(now);
      const { open } = this.#log.calls;
      const isOwnCall = open?.id === id && open.caller === member.number;
      if (isOwnCall && open.answeredAt === null) this.#end(open, member.number, "missed", now);
    });
    return this.find(member, id);
  }

  /** Sessions of a member ended: the call that they are in by one of them ends as if they hung up. */
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

  /** How it stands, or how the last one ended, as far as the member may know. */
  find(member: Member, id: Uuid): CallSnapshot | Refusal {
    this.applyTimeouts();
    const { call } = toVisibleCall(this.#log, member);
    return call?.id === id ? this.#toSnapshot(member, call) : callNotFound;
  }

  /** A side is still there. False when the call is not, or another device has that side: it keeps none of one that is gone. */
  recordHeartbeat(member: Member, id: Uuid, { device, peerSilentMs }: CallHeartbeat = {}, now = Date.now()): boolean {
    const { calls } = this.#log;
    const { open, lastHeard } = calls;
    if (open?.id !== id || toVisibleCall(this.#log, member).call?.id !== id) return false;
    const isCaller = member.number === open.caller;
    if (device !== undefined && !hasSide(open, isCaller, device)) return false;
    this.#recordHeard(member, open, now);
    this.#lastHeard = recordPeerLastSeen(this.#lastHeard, isCaller, now, peerSilentMs);
    if (open.answeredAt !== null && now - lastHeard[sideOfMember(member, open)] >= callHeardWriteMs)
      calls.recordHeard(this.#confirmedHeard);
    return true;
  }

  /** The other side's device, where neither this one hears it nor the server did for as long as it may be away. */
  findUnreachable(member: Member, id: Uuid, now = Date.now()): { other: Member; device: DeviceId } | undefined {
    const { members, calls } = this.#log;
    const { open } = calls;
    const isCaller = open?.caller === member.number;
    if (open?.id !== id || !isUnreachable(open, !isCaller, this.#lastHeard, now)) return undefined;
    const other = members.present.find(({ number }) => number !== member.number);
    const device = isCaller ? open.calleeDevice : open.callerDevice;
    return other && device !== null ? { other, device } : undefined;
  }

  /** That device has no way to the server either: whoever waits for it waits in vain. */
  endUnreachable(member: Member, id: Uuid, now = Date.now()): void {
    this.transaction(() => {
      const { open } = this.#log.calls;
      const unreachable = this.findUnreachable(member, id, now);
      if (open && unreachable) this.#end(open, unreachable.other.number, "ended", now, "failed");
    });
  }

  /** Ends what time has ended. */
  applyTimeouts(now = Date.now()): void {
    const timeoutAt = this.nextTimeoutAt;
    if (timeoutAt !== undefined && timeoutAt <= now) this.transaction(() => this.#applyTimeouts(now));
  }

  /** The two may not speak to each other any more. When that is one's own doing, the end is theirs. Within `change`. */
  endOpenCall(endedBy?: Member, now = Date.now()): void {
    const { open } = this.#log.calls;
    if (!open) return;
    this.#end(open, endedBy?.number ?? open.caller, open.answeredAt === null ? "rejected" : "ended", now);
  }

  /** A transaction that may change the call: if it does, both sides are told before anything else. */
  transaction<T>(change: () => T): T {
    const { calls } = this.#log;
    const before = calls.version;
    const result = this.#log.transaction(change);
    const { nextTimeoutAt } = this;
    if (nextTimeoutAt !== undefined) this.#notifier.scheduleAlarm(nextTimeoutAt);
    if (calls.version !== before) this.#notifier.notifyUrgently(this.#log.members.present);
    return result;
  }

  #applyCommand(member: Member, command: CallCommand, session: Uuid | undefined, now: number): CallSnapshot | Refusal {
    const { calls, group } = this.#log;
    if (group) return { error: "not_allowed" };
    const { latest, open } = calls;
    // What rings nowhere is neither answered nor refused.
    if (command.type !== "create" && toVisibleCall(this.#log, member).call?.id !== command.id) return callNotFound;
    // It is over, and whoever asks has not heard of it yet.
    if (latest?.over && latest.id === command.id && command.type !== "answer") return this.#toSnapshot(member, latest);
    let unanswered: UnansweredStreak | undefined;
    if (command.type === "create") {
      if (!this.#log.isOpen) return { error: "not_connected" };
      if (member.isBlocking) return { error: "contact_blocked" };
      // It was over before another one began.
      if (open?.id !== command.id && this.#log.messages.findByClientId(member.number, command.id)) return callNotFound;
      if (!open) {
        const before = this.#unansweredOf(member, now);
        const { count, since } = before;
        if (count >= unansweredMax) return { error: "rate_limited", retryAfterMs: since + unansweredMs - now };
        unanswered = { ...before, count: count + 1 };
      } else if (open.id !== command.id && isAbandoned(open, open.caller === member.number, this.#lastHeard, now)) {
        this.#end(open, member.number, "ended", now);
        return this.#applyCommand(member, command, session, now);
      }
    }
    const next = applyCallCommand(open, member.number, command, now, this.#lastHeard);
    if ("error" in next) return next;
    this.#recordHeard(member, next.call ?? open, now);
    const enteredSessions =
      session && next.call && command.type !== "end" ? { [sideOfMember(member, next.call)]: session } : {};
    return this.#toSnapshot(member, this.#save(open, next, now, unanswered, enteredSessions));
  }

  /** The calls of theirs that nobody answered up to now; whoever answers, or writes, has them begin anew. */
  #unansweredOf({ number }: Member, now: number): UnansweredStreak {
    const { calls, head } = this.#log;
    const { latest, unanswered } = calls;
    const isStreak = latest?.caller === number && latest.answeredAt === null && now < unanswered.since + unansweredMs;
    const continues =
      isStreak && (unanswered.count < unansweredMax || !this.#log.messages.hasSentAfter(1 - number, unanswered.from));
    return continues ? unanswered : { count: 0, since: now, from: head };
  }

  /** How a call stands for a member. */
  #toSnapshot(member: Member, call: CallRecord): CallSnapshot {
    const isLeft = call.over === null && isAbandoned(call, call.caller === member.number, this.#lastHeard, Date.now());
    return { call, version: this.#log.calls.version, isAbandoned: isLeft };
  }

  /** The device of a side ends its call. */
  #end(open: OpenCall, endedBy: number, status: CallStatus, now: number, reason?: CallReason): void {
    const { id, caller, callerDevice, calleeDevice } = open;
    const device = endedBy === caller ? callerDevice : (calleeDevice ?? callerDevice);
    const next = applyCallCommand(
      open,
      endedBy,
      { type: "end", id, device, status, ...(reason ? { reason } : {}) },
      now,
      this.#lastHeard,
    );
    if (!("error" in next)) this.#save(open, next, now);
  }

  #applyTimeouts(now: number): void {
    const { open } = this.#log.calls;
    const next = open && applyCallTimeout(open, this.#lastHeard, now);
    if (next && !("error" in next)) this.#save(open, next, now);
  }

  #recordHeard(member: Member, call: OpenCall | null, now: number): void {
    if (!call) return;
    const heardNow = { [sideOfMember(member, call)]: now };
    this.#lastHeard = { ...this.#lastHeard, ...heardNow };
    this.#confirmedHeard = { ...this.#confirmedHeard, ...heardNow };
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
    if (!call) throw new Error("a call ended that never was");
    const over = next.logEntry ?? null;
    const record: CallRecord = { ...call, over, isHiddenFromCallee: this.#isHiddenFromCallee(before, call) };
    if (next.call === before) return calls.latest ?? record;
    calls.save(record, now, unanswered, enteredSessions);
    this.#lastHeard = calls.lastHeard;
    this.#confirmedHeard = calls.lastHeard;
    // In logs of before, a message may have taken the call's name while it was open.
    if (over && !this.#log.messages.findByClientId(call.caller, call.id))
      this.#log.append(call.caller, call.id, over, now, record.isHiddenFromCallee);
    return record;
  }

  /** That is decided when it begins, and stays so; but who enters it knows of it. */
  #isHiddenFromCallee(before: OpenCall | null, call: OpenCall): boolean {
    return before
      ? call.answeredAt === null && this.#log.calls.latest?.isHiddenFromCallee === true
      : this.#log.isSenderBlocked(call.caller);
  }
}
