import {
  advance,
  type CallBody,
  type CallDeed,
  type CallReason,
  type CallStatus,
  type Device,
  dueAt,
  expire,
  type Heard,
  hasSide,
  hearOther,
  isAbandoned,
  isLost,
  type OpenCall,
  type Side,
} from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import { callNoteMs, unansweredMax, unansweredMs } from "#contract/limits.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { CallSigns, CallStanding } from "#worker/objects/rpc.ts";
import type { CallSessions, KeptCall, Unanswered } from "#worker/objects/shared/call-record.ts";
import { callFor } from "./delivery/build-notice.ts";
import type { Telling } from "./delivery/notifier.ts";
import type { ConversationLog } from "./log/conversation-log.ts";
import type { Member } from "./log/member-table.ts";

const noCall: Refusal = { error: "call_not_found" };

const sideOf = ({ number }: Member, { caller }: Pick<OpenCall, "caller">): Side =>
  number === caller ? "caller" : "callee";

/**
 * The call of a private conversation. Everything that happens to it is one synchronous go, and so is its end with the
 * line that tells of it: the line's client id is the call's own, so that it stands there once.
 */
export class Calling {
  readonly #log: ConversationLog;
  readonly #telling: Pick<Telling, "hurry" | "wake">;
  /** When each side was last heard of: at the latest, and as far as it is known. */
  #heard: Heard;
  #known: Heard;

  constructor(log: ConversationLog, telling: Pick<Telling, "hurry" | "wake">, now = Date.now()) {
    this.#log = log;
    this.#telling = telling;
    // What was heard in the life of an instance before this one is written only once in a while.
    const { caller, callee } = log.calls.heard;
    const lately = (noted: number) => Math.min(now, noted + callNoteMs);
    this.#heard = { caller: lately(caller), callee: lately(callee) };
    this.#known = { caller, callee };
  }

  /** When time alone will make something of it. */
  get dueAt(): number | undefined {
    const { open } = this.#log.calls;
    return open ? dueAt(open, this.#heard) : undefined;
  }

  /** What a member does with it, by a session of theirs. */
  do(member: Member, deed: CallDeed, session?: Uuid, now = Date.now()): CallStanding | Refusal {
    return this.change(() => {
      this.#expire(now);
      return this.#advance(member, deed, session, now);
    });
  }

  /** It rings for a member who is busy. They need not be allowed to know of it: whoever calls hears the same. */
  refuse(member: Member, id: Uuid, now = Date.now()): CallStanding | Refusal {
    return this.change(() => {
      this.#expire(now);
      const { kept, open } = this.#log.calls;
      if (kept?.id !== id || kept.caller === member.number) return noCall;
      if (open?.answeredAt === null) this.#end(open, member.number, "missed", now, "busy");
      return this.#standing(member, this.#log.calls.kept ?? kept);
    });
  }

  /** Whoever calls is gone. What was answered meanwhile goes on: their page may come back to it. */
  giveUp(member: Member, id: Uuid, now = Date.now()): CallStanding | Refusal {
    this.change(() => {
      this.#expire(now);
      const { open } = this.#log.calls;
      const isTheirs = open?.id === id && open.caller === member.number;
      if (isTheirs && open.answeredAt === null) this.#end(open, member.number, "missed", now);
    });
    return this.find(member, id);
  }

  /** Sessions of a member ended: the call that they are in by one of them ends as if they hung up. */
  signOut(member: Member, ended: readonly Uuid[] | "all", now = Date.now()): CallStanding | Refusal {
    return this.change(() => {
      this.#expire(now);
      const { open, sessions } = this.#log.calls;
      const side = open && sideOf(member, open);
      if (!side || (side === "callee" && open.answeredAt === null)) return noCall;
      if (ended !== "all" && !ended.includes(sessions[side] ?? "")) return noCall;
      this.cut(member, now);
      return this.#standing(member, this.#log.calls.kept ?? { ...open, over: null, withheld: false });
    });
  }

  /** How it stands, or how the last one ended, as far as the member may know. */
  find(member: Member, id: Uuid): CallStanding | Refusal {
    this.expire();
    const { call } = callFor(this.#log, member);
    return call?.id === id ? this.#standing(member, call) : noCall;
  }

  /** A side is still there. False when the call is not, or another device has that side: it keeps none of one that is gone. */
  beat(member: Member, id: Uuid, { device, unheard }: CallSigns = {}, now = Date.now()): boolean {
    const { calls } = this.#log;
    const { open, heard } = calls;
    if (open?.id !== id || callFor(this.#log, member).call?.id !== id) return false;
    const isCaller = member.number === open.caller;
    if (device !== undefined && !hasSide(open, isCaller, device)) return false;
    this.#hear(member, open, now);
    this.#heard = hearOther(this.#heard, isCaller, now, unheard);
    if (open.answeredAt !== null && now - heard[sideOf(member, open)] >= callNoteMs) calls.note(this.#known);
    return true;
  }

  /** The other side's device, where neither this one hears it nor the server did for as long as it may be away. */
  findLost(member: Member, id: Uuid, now = Date.now()): { other: Member; device: Device } | undefined {
    const { members, calls } = this.#log;
    const { open } = calls;
    const isCaller = open?.caller === member.number;
    if (open?.id !== id || !isLost(open, !isCaller, this.#heard, now)) return undefined;
    const other = members.present.find(({ number }) => number !== member.number);
    const device = isCaller ? open.calleeDevice : open.callerDevice;
    return other && device !== null ? { other, device } : undefined;
  }

  /** That device has no way to the server either: whoever waits for it waits in vain. */
  endLost(member: Member, id: Uuid, now = Date.now()): void {
    this.change(() => {
      const { open } = this.#log.calls;
      const lost = this.findLost(member, id, now);
      if (open && lost) this.#end(open, lost.other.number, "ended", now, "failed");
    });
  }

  /** Ends what time has ended. */
  expire(now = Date.now()): void {
    const due = this.dueAt;
    if (due !== undefined && due <= now) this.change(() => this.#expire(now));
  }

  /** The two may not speak to each other any more. When that is one's own doing, the end is theirs. Within `change`. */
  cut(by?: Member, now = Date.now()): void {
    const { open } = this.#log.calls;
    if (!open) return;
    this.#end(open, by?.number ?? open.caller, open.answeredAt === null ? "rejected" : "ended", now);
  }

  /** A transaction that may change the call: if it does, both sides are told before anything else. */
  change<T>(change: () => T): T {
    const { calls } = this.#log;
    const before = calls.version;
    const result = this.#log.transaction(change);
    const { dueAt } = this;
    if (dueAt !== undefined) this.#telling.wake(dueAt);
    if (calls.version !== before) this.#telling.hurry(this.#log.members.present);
    return result;
  }

  #advance(member: Member, deed: CallDeed, session: Uuid | undefined, now: number): CallStanding | Refusal {
    const { calls, group } = this.#log;
    if (group) return { error: "not_allowed" };
    const { kept, open } = calls;
    // What rings nowhere is neither answered nor refused.
    if (deed.type !== "create" && callFor(this.#log, member).call?.id !== deed.id) return noCall;
    // It is over, and whoever asks has not heard of it yet.
    if (kept?.over && kept.id === deed.id && deed.type !== "answer") return this.#standing(member, kept);
    let unanswered: Unanswered | undefined;
    if (deed.type === "create") {
      if (!this.#log.isOpen) return { error: "not_connected" };
      if (member.blocks) return { error: "contact_blocked" };
      // It was over before another one began.
      if (open?.id !== deed.id && this.#log.messages.findSent(member.number, deed.id)) return noCall;
      if (!open) {
        const before = this.#unansweredOf(member, now);
        const { count, since } = before;
        if (count >= unansweredMax) return { error: "rate_limited", retryAfterMs: since + unansweredMs - now };
        unanswered = { ...before, count: count + 1 };
      } else if (open.id !== deed.id && isAbandoned(open, open.caller === member.number, this.#heard, now)) {
        this.#end(open, member.number, "ended", now);
        return this.#advance(member, deed, session, now);
      }
    }
    const next = advance(open, member.number, deed, now, this.#heard);
    if ("error" in next) return next;
    this.#hear(member, next.call ?? open, now);
    const entered = session && next.call && deed.type !== "end" ? { [sideOf(member, next.call)]: session } : {};
    return this.#standing(member, this.#write(open, next, now, unanswered, entered));
  }

  /** The calls of theirs that nobody answered up to now; whoever answers, or writes, has them begin anew. */
  #unansweredOf({ number }: Member, now: number): Unanswered {
    const { calls, head } = this.#log;
    const { kept, unanswered } = calls;
    const isRow = kept?.caller === number && kept.answeredAt === null && now < unanswered.since + unansweredMs;
    const goesOn =
      isRow && (unanswered.count < unansweredMax || !this.#log.messages.hasWritten(1 - number, unanswered.from));
    return goesOn ? unanswered : { count: 0, since: now, from: head };
  }

  /** How a call stands for a member. */
  #standing(member: Member, call: KeptCall): CallStanding {
    const isLeft = call.over === null && isAbandoned(call, call.caller === member.number, this.#heard, Date.now());
    return { call, calls: this.#log.calls.version, isLeft };
  }

  /** The device of a side ends its call. */
  #end(open: OpenCall, by: number, status: CallStatus, now: number, reason?: CallReason): void {
    const { id, caller, callerDevice, calleeDevice } = open;
    const device = by === caller ? callerDevice : (calleeDevice ?? callerDevice);
    const next = advance(
      open,
      by,
      { type: "end", id, device, status, ...(reason ? { reason } : {}) },
      now,
      this.#heard,
    );
    if (!("error" in next)) this.#write(open, next, now);
  }

  #expire(now: number): void {
    const { open } = this.#log.calls;
    const next = open && expire(open, this.#heard, now);
    if (next && !("error" in next)) this.#write(open, next, now);
  }

  #hear(member: Member, call: OpenCall | null, now: number): void {
    if (!call) return;
    const heard = { [sideOf(member, call)]: now };
    this.#heard = { ...this.#heard, ...heard };
    this.#known = { ...this.#known, ...heard };
  }

  #write(
    before: OpenCall | null,
    next: { call: OpenCall | null; line?: CallBody },
    now: number,
    unanswered?: Unanswered,
    entered?: Partial<CallSessions>,
  ): KeptCall {
    const { calls } = this.#log;
    const call = next.call ?? before;
    if (!call) throw new Error("a call ended that never was");
    const over = next.line ?? null;
    const kept = { ...call, over, withheld: this.#isWithheld(before, call) };
    if (next.call === before) return calls.kept ?? kept;
    calls.write(kept, now, unanswered, entered);
    this.#heard = calls.heard;
    this.#known = calls.heard;
    // In logs of before, a message may have taken the call's name while it was open.
    if (over && !this.#log.messages.findSent(call.caller, call.id))
      this.#log.append(call.caller, call.id, over, now, kept.withheld);
    return kept;
  }

  /** That is decided when it begins, and stays so; but who enters it knows of it. */
  #isWithheld(before: OpenCall | null, call: OpenCall): boolean {
    return before
      ? call.answeredAt === null && this.#log.calls.kept?.withheld === true
      : this.#log.isWithheld(call.caller);
  }
}
