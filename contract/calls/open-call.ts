import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import {
  callAsleepMs,
  callConnectMs,
  callEndBackdateMaxMs,
  callRecoverMs,
  callSilentMaxMs,
  callStaleMs,
  callUnreachableMs,
} from "#contract/limits/calls.ts";
import {
  type Call,
  type CallBody,
  type CallKind,
  type CallReason,
  type CallStatus,
  type DeviceId,
  getRingMs,
  type ReportedReason,
  type RingState,
} from "./call.ts";

/*
 * State machine of a call on the server. Its Conversation object owns the call: `applyCallCommand` applies each command
 * to the current state; the result is stored in one transaction, together with the log entry if the call ended.
 */

/** Active call as stored by its conversation. `caller` is a member number. */
export type OpenCall = {
  id: Uuid;
  kind: CallKind;
  caller: number;
  callerDevice: DeviceId;
  calleeDevice: DeviceId | null;
  createdAt: number;
  answeredAt: number | null;
  /**
   * `unreported`: no device of the callee has reported that it rings. `unknown`: the conversation's object was
   * restarted and does not know whether one has, until it has asked the callee's channel.
   */
  ring: RingState | "unreported" | "unknown";
};

export type CallSide = "caller" | "callee";
type SideTimes = Record<CallSide, number>;
/**
 * Time of the last sign of life of each side. `unreachable` holds the sides from which the other one receives no media
 * now, with the time of the last media.
 */
export type LastSeen = SideTimes & { unreachable?: Partial<SideTimes> };

export type CallCommand =
  | { type: "create"; id: Uuid; kind: CallKind; device: DeviceId }
  | { type: "answer"; id: Uuid; device: DeviceId }
  | { type: "reportRing"; id: Uuid }
  | { type: "end"; id: Uuid; device: DeviceId; status: CallStatus; reason?: ReportedReason; ago?: number };

type CallCommandError = "call_in_progress" | "call_not_found" | "answered_elsewhere" | "not_allowed";
/** Result of applying a command to a call: the next state and, if the call ended, its log entry. */
export type CallTransition = { call: OpenCall | null; logEntry?: CallBody } | { error: CallCommandError };

const measureTalkSeconds = ({ answeredAt }: OpenCall, until: number): number =>
  answeredAt === null ? 0 : Math.max(0, Math.round((until - answeredAt) / 1000));

const closeCall = (call: OpenCall, status: CallStatus, until: number, reason?: CallReason): CallTransition => ({
  call: null,
  logEntry: {
    type: "call",
    id: call.id,
    kind: call.kind,
    status,
    seconds: status === "cancelled" ? 0 : measureTalkSeconds(call, until),
    ...(reason ? { reason } : {}),
  },
});

/**
 * Status a side may end the call with. An unanswered call never ends as `ended`. An answered call cannot be ended
 * as missed, nor as cancelled once the time to connect has passed. A callee who failed to answer has not rejected the
 * call.
 */
const toEndStatus = (
  { answeredAt }: OpenCall,
  isCaller: boolean,
  { status, reason }: Pick<Extract<CallCommand, { type: "end" }>, "status" | "reason">,
  now: number,
): CallStatus => {
  if (answeredAt !== null) return status === "cancelled" && now <= answeredAt + 2 * callConnectMs ? status : "ended";
  return isCaller || status === "missed" || reason === "failed" ? "missed" : "rejected";
};

/**
 * Cause that the log entry of a call tells. "busy" is accepted from the callee only, and only if the call ends as
 * missed. A missed call that the caller did not end was not answered.
 */
const findEndReason = (
  reported: ReportedReason | undefined,
  isCaller: boolean,
  status: CallStatus,
): CallReason | undefined => {
  const isMissedByCallee = !isCaller && status === "missed";
  if (reported === "busy") return isMissedByCallee ? reported : undefined;
  return reported ?? (isMissedByCallee ? "unanswered" : undefined);
};

/** Whether the device holds the given side of the call. While it rings, every device of that person does. */
export const hasSide = (call: OpenCall, isCaller: boolean, device: DeviceId): boolean =>
  call.answeredAt === null || device === (isCaller ? call.callerDevice : call.calleeDevice);

/** Time a side was last known to be present, if the other side reports it unreachable. */
const findUnreachableSince = (lastSeen: LastSeen, side: CallSide): number | undefined => {
  const at = lastSeen.unreachable?.[side];
  return at === undefined ? undefined : Math.max(at, lastSeen[side]);
};

/**
 * Time both sides were last known to be present; infinity if neither reports the other one unreachable. A side that
 * reports nothing about the other one is assumed to hear it.
 */
const findLastSeenTogether = (lastSeen: LastSeen): number =>
  Math.min(
    findUnreachableSince(lastSeen, "caller") ?? Number.POSITIVE_INFINITY,
    findUnreachableSince(lastSeen, "callee") ?? Number.POSITIVE_INFINITY,
  );

/**
 * Whether the device of this side in an answered call is unreachable: neither the server nor the other side heard it
 * for `callUnreachableMs`.
 */
export const isUnreachable = (call: OpenCall, isCaller: boolean, lastSeen: LastSeen, now: number): boolean => {
  const at = findUnreachableSince(lastSeen, isCaller ? "caller" : "callee");
  return call.answeredAt !== null && at !== undefined && now >= at + callUnreachableMs;
};

/** Whether the device of this side seems to be gone. Any other device of its person may then end the call. */
export const isStale = (call: OpenCall, isCaller: boolean, lastSeen: LastSeen, now: number): boolean =>
  isUnreachable(call, isCaller, lastSeen, now) ||
  (call.answeredAt !== null && now >= (isCaller ? lastSeen.caller : lastSeen.callee) + callStaleMs);

/** Updates the signs of life after a side reported that it hears the other one, or has not heard it for `unheardMs`. */
export const recordPeerLastSeen = (
  lastSeen: LastSeen,
  isCaller: boolean,
  now: number,
  unheardMs: number | undefined,
): LastSeen => {
  const other: CallSide = isCaller ? "callee" : "caller";
  const { [other]: _, ...otherUnreachable }: Partial<SideTimes> = lastSeen.unreachable ?? {};
  return {
    ...lastSeen,
    unreachable: unheardMs === undefined ? otherUnreachable : { ...otherUnreachable, [other]: now - unheardMs },
  };
};

/**
 * Applies a member's command to the call. `member` is the member number. Commands are idempotent: a repeated one leaves
 * the state unchanged.
 */
export const applyCallCommand = (
  call: OpenCall | null,
  member: number,
  command: CallCommand,
  now: number,
  lastSeen: LastSeen = { caller: now, callee: now },
): CallTransition => {
  if (command.type === "create") {
    if (!call) {
      const { id, kind, device } = command;
      return {
        call: {
          id,
          kind,
          caller: member,
          callerDevice: device,
          calleeDevice: null,
          createdAt: now,
          answeredAt: null,
          ring: "unreported",
        },
      };
    }
    if (call.id === command.id && call.caller === member) return { call };
    // Glare: both dialled, so both want to talk and the first call counts as answered. A repeated dial gets the same
    // result.
    if (call.caller !== member && call.answeredAt === null) {
      return { call: { ...call, calleeDevice: command.device, answeredAt: now } };
    }
    if (call.caller !== member && call.calleeDevice === command.device) return { call };
    return { error: "call_in_progress" };
  }
  if (!call || call.id !== command.id) return { error: "call_not_found" };
  const isCaller = call.caller === member;
  if (command.type === "reportRing") {
    if (isCaller) return { error: "not_allowed" };
    const { answeredAt, ring } = call;
    if (answeredAt !== null || ring === "reported" || ring === "woken") return { call };
    return { call: { ...call, ring: ring === "asleep" ? "woken" : "reported" } };
  }
  if (command.type === "answer") {
    if (isCaller) return { error: "not_allowed" };
    if (call.answeredAt !== null)
      return call.calleeDevice === command.device ? { call } : { error: "answered_elsewhere" };
    return { call: { ...call, calleeDevice: command.device, answeredAt: now } };
  }
  // Once another device answered and still shows signs of life, a device that only rang cannot end the call.
  if (!hasSide(call, isCaller, command.device) && !isStale(call, isCaller, lastSeen, now))
    return { error: "answered_elsewhere" };
  const status = toEndStatus(call, isCaller, command, now);
  // The earliest of now, the end that the device reports, and the last time both sides were known to be connected.
  const until = Math.min(now - Math.min(command.ago ?? 0, callEndBackdateMaxMs), findLastSeenTogether(lastSeen));
  return closeCall(call, status, until, findEndReason(command.reason, isCaller, status));
};

/** Time at which an unanswered call stops ringing. A restarted object has time to decide how long that is. */
const getRingEnd = ({ createdAt, ring }: OpenCall): number =>
  createdAt + getRingMs(ring) + (ring === "unknown" ? callRecoverMs : 0);

/** Decides how long a call rings of which a restarted object knew no report: `isRinging` on a device, or nowhere. */
export const recoverRing = (call: OpenCall, isRinging: boolean, now: number): OpenCall => {
  if (call.answeredAt !== null || call.ring !== "unknown") return call;
  if (isRinging) return { ...call, ring: "reported" };
  return { ...call, ring: now >= call.createdAt + callAsleepMs ? "asleep" : "unreported" };
};

/** Time at which the callee's phone counts as asleep unless a device reports before. Undefined if it cannot. */
export const findSleepCheckAt = ({ answeredAt, createdAt, ring }: OpenCall): number | undefined =>
  answeredAt === null && ring === "unreported" ? createdAt + callAsleepMs : undefined;

/**
 * Ends a call whose ring or heartbeat timeout has passed, or lets one ring longer whose callee's phone seems asleep.
 * Returns undefined if nothing is due.
 */
export const applyCallTimeout = (call: OpenCall, lastSeen: LastSeen, now: number): CallTransition | undefined => {
  if (call.answeredAt === null) {
    if (now >= getRingEnd(call)) return closeCall(call, "missed", now, "unanswered");
    const sleepCheckAt = findSleepCheckAt(call);
    return sleepCheckAt !== undefined && now >= sleepCheckAt ? { call: { ...call, ring: "asleep" } } : undefined;
  }
  const last = Math.max(lastSeen.caller, lastSeen.callee);
  return now >= last + callSilentMaxMs
    ? closeCall(call, "ended", Math.min(last, findLastSeenTogether(lastSeen)))
    : undefined;
};

/** Time of the next possible end by a timeout. */
export const getCallTimeoutAt = (call: OpenCall, lastSeen: LastSeen): number =>
  call.answeredAt === null ? getRingEnd(call) : Math.max(lastSeen.caller, lastSeen.callee) + callSilentMaxMs;

/** Converts a stored call to the form sent to devices. */
export const toCall = (conversation: ConversationId, call: OpenCall): Call => {
  const [first = "", second = ""] = privateMembers(conversation) ?? [];
  const [from, to] = call.caller === 0 ? [first, second] : [second, first];
  return {
    call_id: call.id,
    conversation,
    type: call.kind,
    from,
    to,
    from_device: call.callerDevice,
    to_device: call.calleeDevice,
    created_at: call.createdAt,
    answered_at: call.answeredAt,
    ...(call.answeredAt !== null || call.ring === "unreported" || call.ring === "unknown" ? {} : { ring: call.ring }),
  };
};
