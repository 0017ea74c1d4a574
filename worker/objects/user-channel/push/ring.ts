import type { Call, CallBody } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import type { CallEnding } from "#worker/lib/push/texts.ts";

/** New state of a call; `over` tells how it ended. */
export type CallChange = { call: Call; over: Pick<CallBody, "status"> | null };

/** A call that rings or rang on devices by a push. Times are those of this object. */
export type Ring = {
  call: Pick<Call, "call_id" | "conversation" | "type" | "created_at" | "ring">;
  startedAt: number;
  /** Sessions of the devices that received the ring. */
  sessions: Set<Uuid>;
  /** Those of them that know that it rings longer than usual. */
  longSessions: Set<Uuid>;
  sending: Map<Uuid, Promise<void>>;
  /** Earliest time of another attempt after a failure, by session. */
  retryAt: Map<Uuid, number>;
  isOver: boolean;
  /** Whether the devices are notified of the call's log entry, so that nothing else has to replace the ring. */
  isReplaced: boolean;
};

export const createRing = (call: Ring["call"], startedAt: number, sessions: readonly Uuid[]): Ring => ({
  call,
  startedAt,
  sessions: new Set(sessions),
  longSessions: new Set(),
  sending: new Map(),
  retryAt: new Map(),
  isOver: false,
  isReplaced: false,
});

export const toEnding = (over: CallChange["over"]): CallEnding => {
  if (!over) return "answered";
  return over.status === "rejected" ? "declined" : "ended";
};
