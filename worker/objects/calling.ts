import { advance, type CallBody, type CallDeed, dueAt, expire, type Heard, type OpenCall } from "../../contract/calls";
import type { Refusal } from "../../contract/commands";
import type { ConversationLog } from "./conversation-log";
import type { Member } from "./members";
import type { CallStanding } from "./rpc";

/**
 * The call of a private conversation. Everything that happens to it is one synchronous go, and so is its end with the
 * line that tells of it: the line's client id is the call's own, so that it stands there once.
 */
export class Calling {
  readonly #log: ConversationLog;
  /** When each side was last heard of; an instance that just began has heard of both. */
  #heard: Heard;

  constructor(log: ConversationLog, now = Date.now()) {
    this.#log = log;
    this.#heard = { caller: now, callee: now };
  }

  /** When time alone will make something of it. */
  get dueAt(): number | undefined {
    const { open } = this.#log.calls;
    return open ? dueAt(open, this.#heard) : undefined;
  }

  /** What a member does with it. */
  do(member: Member, deed: CallDeed, now: number): CallStanding | Refusal {
    const { calls, group } = this.#log;
    if (group) return { error: "not_allowed" };
    const { kept, open } = calls;
    // It is over, and whoever asks has not heard of it yet.
    if (kept?.over && kept.id === deed.id && deed.type !== "answer") return { call: kept, calls: calls.version };
    if (deed.type === "create") {
      if (!this.#log.isOpen) return { error: "not_connected" };
      if (member.blocks) return { error: "contact_blocked" };
    }
    const next = advance(open, member.number, deed, now);
    if ("error" in next) return next;
    this.#hear(member.number, next.call ?? open, now);
    const call = this.#write(open, next, now);
    return { call, calls: calls.version };
  }

  /** A side is still there. */
  beat(member: Member, id: string, now: number): void {
    const { open } = this.#log.calls;
    if (open?.id === id) this.#hear(member.number, open, now);
  }

  /** True when time has ended it. */
  expire(now: number): boolean {
    const { open } = this.#log.calls;
    const next = open && expire(open, this.#heard, now);
    if (!next || "error" in next) return false;
    this.#write(open, next, now);
    return true;
  }

  /** The two may not speak to each other any more. True when a call ended by that. */
  cut(now: number): boolean {
    const { open } = this.#log.calls;
    if (!open) return false;
    const status = open.answeredAt === null ? "missed" : "ended";
    const deed: CallDeed = { type: "end", id: open.id, device: open.callerDevice, status };
    const next = advance(open, open.caller, deed, now);
    if ("error" in next) return false;
    this.#write(open, next, now);
    return true;
  }

  #hear(number: number, call: OpenCall | null, now: number): void {
    this.#heard = number === call?.caller ? { ...this.#heard, caller: now } : { ...this.#heard, callee: now };
  }

  #write(before: OpenCall | null, next: { call: OpenCall | null; line?: CallBody }, now: number) {
    const { calls } = this.#log;
    const call = next.call ?? before;
    if (!call) throw new Error("a call ended that never was");
    const over = next.line ?? null;
    if (next.call !== before) calls.write({ ...call, over });
    if (over) this.#log.append(call.caller, call.id, over, now);
    return { ...call, over };
  }
}
