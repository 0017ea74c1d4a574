import { type CallSide, type LastSeen, type OpenCall, recordPeerLastSeen } from "#contract/calls/open-call.ts";
import { callHeardWriteMs } from "#contract/limits/calls.ts";
import type { ConversationCall } from "#worker/objects/shared/call-record.ts";

/** When each side of the call was heard. Written only every `callHeardWriteMs`, to save rows. */
export class CallHeartbeats {
  readonly #calls: ConversationCall;
  /** Time of the last known heartbeat of each side. */
  #known: LastSeen;
  /** Latest time at which each side may have sent a heartbeat: a previous instance may have heard unwritten ones. */
  #latestPossible: LastSeen;

  constructor(calls: ConversationCall, now: number) {
    this.#calls = calls;
    const { caller, callee } = calls.lastHeard;
    const findLatest = (writtenAt: number) => Math.min(now, writtenAt + callHeardWriteMs);
    this.#known = { caller, callee };
    this.#latestPossible = { caller: findLatest(caller), callee: findLatest(callee) };
  }

  get lastSeen(): LastSeen {
    return this.#latestPossible;
  }

  /** Records a sign of life of one side. */
  record(side: CallSide, now: number): void {
    this.#known = { ...this.#known, [side]: now };
    this.#latestPossible = { ...this.#latestPossible, [side]: now };
  }

  /** Records a heartbeat of one side of the open call. `peerSilentMs`: for how long that side has not heard the other. */
  recordHeartbeat(open: OpenCall, side: CallSide, now: number, peerSilentMs: number | undefined): void {
    this.record(side, now);
    this.#latestPossible = recordPeerLastSeen(this.#latestPossible, side === "caller", now, peerSilentMs);
    if (open.answeredAt !== null && now - this.#calls.lastHeard[side] >= callHeardWriteMs)
      this.#calls.recordHeard(this.#known);
  }

  /** Takes over the written times after the call was saved: both sides then count as alive. */
  handleCallSaved(): void {
    this.#known = this.#calls.lastHeard;
    this.#latestPossible = this.#calls.lastHeard;
  }
}
