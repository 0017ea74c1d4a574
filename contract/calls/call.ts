import * as v from "valibot";
import { ConversationId, privateMembers, Uuid } from "#contract/ids.ts";
import {
  callAbandonedMs,
  callAgoMaxMs,
  callConnectMs,
  callRingMs,
  callSignalMaxBytes,
  callSilentMaxMs,
  callUnreachableMs,
} from "#contract/limits.ts";

/**
 * A call between two people. The conversation object owns it: whatever happens to it is one deed, taken
 * by `advance` against the call as it stands and stored in one go, its end together with the line that tells of it.
 */
export const CallKind = v.picklist(["audio", "video"]);
export type CallKind = v.InferOutput<typeof CallKind>;

/** How a call came to its end, in SPEC.md's words. What the two sides read of it differs (`callLine` in the client). */
export const callStatuses = ["missed", "rejected", "cancelled", "ended"] as const;
export const CallStatus = v.picklist(callStatuses);
export type CallStatus = v.InferOutput<typeof CallStatus>;
/** Why, where the status does not say it. */
const callReasons = ["busy", "failed"] as const;
export const CallReason = v.picklist(callReasons);
export type CallReason = v.InferOutput<typeof CallReason>;

/** One browser of a person; it says which of several answered, and whom a signal is for. Made once, kept in the store. */
export const DeviceId = Uuid;
export type DeviceId = v.InferOutput<typeof DeviceId>;

/** So many ms ago a side hung up, or heard the other one last. A length, for clocks differ. */
export const ElapsedMs = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** The line a call leaves in the log. Its client id is the call's own, so that it stands there once; its sender called. */
export const CallBody = v.strictObject({
  type: v.literal("call"),
  /** The call's own, so that either side's devices know which it was. */
  id: Uuid,
  kind: CallKind,
  status: CallStatus,
  seconds: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  reason: v.optional(CallReason),
});
export type CallBody = v.InferOutput<typeof CallBody>;

// ── the server's machine ───────────────────────────────────────────────────────────────────────────────────

/** A call under way, as the conversation keeps it. `caller` is a member's number. */
export type OpenCall = {
  id: Uuid;
  kind: CallKind;
  caller: number;
  callerDevice: DeviceId;
  calleeDevice: DeviceId | null;
  createdAt: number;
  answeredAt: number | null;
};

export type CallSide = "caller" | "callee";
type SideTimes = Record<CallSide, number>;
/** When each side of it was last heard of. `lost`: of a side that the other one hears nothing of, when it last did. */
export type LastSeen = SideTimes & { unreachable?: Partial<SideTimes> };

export type CallCommand =
  | { type: "create"; id: Uuid; kind: CallKind; device: DeviceId }
  | { type: "answer"; id: Uuid; device: DeviceId }
  | { type: "end"; id: Uuid; device: DeviceId; status: CallStatus; reason?: CallReason; ago?: number };

type CallCommandError = "call_in_progress" | "call_not_found" | "answered_elsewhere" | "not_allowed";
/** What a deed makes of the call: how it stands, and what is written when that is its end. */
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
 * The end a side may give a call. Nobody ends a call they did not answer by saying that it was talked, and nobody who
 * talked makes it one that was missed, or after a while one in which nothing was heard. Whoever was to answer and could
 * not, has not refused it.
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

/** Whether this device has a side of the call; while it rings, any of theirs may come to have it. */
export const hasSide = (call: OpenCall, isCaller: boolean, device: DeviceId): boolean =>
  call.answeredAt === null || device === (isCaller ? call.callerDevice : call.calleeDevice);

/** Until when a side that the other one misses was there, as far as anybody knows. */
const findUnreachableSince = (heard: LastSeen, side: CallSide): number | undefined => {
  const at = heard.unreachable?.[side];
  return at === undefined ? undefined : Math.max(at, heard[side]);
};

/** Until when both were there: whoever says nothing of the other hears it. */
const findLastSeenTogether = (heard: LastSeen): number =>
  Math.min(
    findUnreachableSince(heard, "caller") ?? Number.POSITIVE_INFINITY,
    findUnreachableSince(heard, "callee") ?? Number.POSITIVE_INFINITY,
  );

/** Whether neither the server nor the other side heard of the device that has this side of a talk for as long as it may be away. */
export const isUnreachable = (call: OpenCall, isCaller: boolean, heard: LastSeen, now: number): boolean => {
  const at = findUnreachableSince(heard, isCaller ? "caller" : "callee");
  return call.answeredAt !== null && at !== undefined && now >= at + callUnreachableMs;
};

/** Whether that device seems to be gone: then it is its person's to leave the call from any other. */
export const isAbandoned = (call: OpenCall, isCaller: boolean, heard: LastSeen, now: number): boolean =>
  isUnreachable(call, isCaller, heard, now) ||
  (call.answeredAt !== null && now >= (isCaller ? heard.caller : heard.callee) + callAbandonedMs);

/** What was heard of the sides after the other one said that it hears the one, or for how long it has not. */
export const recordPeerLastSeen = (
  heard: LastSeen,
  isCaller: boolean,
  now: number,
  unheard: number | undefined,
): LastSeen => {
  const other: CallSide = isCaller ? "callee" : "caller";
  const { [other]: _, ...lost }: Partial<SideTimes> = heard.unreachable ?? {};
  return { ...heard, unreachable: unheard === undefined ? lost : { ...lost, [other]: now - unheard } };
};

/** `by` is the member's number. What was done before is done again by doing nothing. */
export const applyCallCommand = (
  call: OpenCall | null,
  by: number,
  deed: CallCommand,
  now: number,
  heard: LastSeen = { caller: now, callee: now },
): CallTransition => {
  if (deed.type === "create") {
    if (!call) {
      const { id, kind, device } = deed;
      return {
        call: { id, kind, caller: by, callerDevice: device, calleeDevice: null, createdAt: now, answeredAt: null },
      };
    }
    if (call.id === deed.id && call.caller === by) return { call };
    // Each calls the other: they both want to talk, so they do. Who asks again hears the same again.
    if (call.caller !== by && call.answeredAt === null) {
      return { call: { ...call, calleeDevice: deed.device, answeredAt: now } };
    }
    if (call.caller !== by && call.calleeDevice === deed.device) return { call };
    return { error: "call_in_progress" };
  }
  if (!call || call.id !== deed.id) return { error: "call_not_found" };
  const isCaller = call.caller === by;
  if (deed.type === "answer") {
    if (isCaller) return { error: "not_allowed" };
    if (call.answeredAt !== null) return call.calleeDevice === deed.device ? { call } : { error: "answered_elsewhere" };
    return { call: { ...call, calleeDevice: deed.device, answeredAt: now } };
  }
  // A device that only rang has nothing to end once another one talks, and is heard of.
  if (!hasSide(call, isCaller, deed.device) && !isAbandoned(call, isCaller, heard, now))
    return { error: "answered_elsewhere" };
  const status = toEndStatus(call, isCaller, deed, now);
  // Busy is only somebody who is rung, and has not refused it.
  const isUntrue = deed.reason === "busy" && (isCaller || status !== "missed");
  // It was talked for as long as both were there; by then each would have been told that nobody is.
  const until = Math.min(now - Math.min(deed.ago ?? 0, callAgoMaxMs), findLastSeenTogether(heard));
  return closeCall(call, status, until, isUntrue ? undefined : deed.reason);
};

/** What time alone makes of a call; undefined when it is not due yet. */
export const applyCallTimeout = (call: OpenCall, heard: LastSeen, now: number): CallTransition | undefined => {
  if (call.answeredAt === null) return now >= call.createdAt + callRingMs ? closeCall(call, "missed", now) : undefined;
  const last = Math.max(heard.caller, heard.callee);
  return now >= last + callSilentMaxMs
    ? closeCall(call, "ended", Math.min(last, findLastSeenTogether(heard)))
    : undefined;
};

/** When to look at it next. */
export const getCallTimeoutAt = (call: OpenCall, heard: LastSeen): number =>
  call.answeredAt === null ? call.createdAt + callRingMs : Math.max(heard.caller, heard.callee) + callSilentMaxMs;

// ── what goes between server and devices ───────────────────────────────────────────────────────────────────

/** A call as a person's devices know it. Times are the server's. */
export const Call = v.object({
  call_id: Uuid,
  conversation: ConversationId,
  type: CallKind,
  from: Uuid,
  to: Uuid,
  from_device: DeviceId,
  to_device: v.nullable(DeviceId),
  created_at: v.number(),
  answered_at: v.nullable(v.number()),
});
export type Call = v.InferOutput<typeof Call>;

/** The same of a call as its conversation keeps it. */
export const toCall = (conversation: ConversationId, kept: OpenCall): Call => {
  const [first = "", second = ""] = privateMembers(conversation) ?? [];
  const [from, to] = kept.caller === 0 ? [first, second] : [second, first];
  return {
    call_id: kept.id,
    conversation,
    type: kept.kind,
    from,
    to,
    from_device: kept.callerDevice,
    to_device: kept.calleeDevice,
    created_at: kept.createdAt,
    answered_at: kept.answeredAt,
  };
};

/** Signal of one device to the other inside a call (see `src/calls/signaling/messages.ts`); the server passes it on and keeps none. */
export const Signal = v.pipe(v.string(), v.maxBytes(callSignalMaxBytes));

/** What is told of one: in which call, by which device and to which, null for all of the other person's. */
const relayedSignal = {
  call_id: Uuid,
  conversation: ConversationId,
  from_device: DeviceId,
  to_device: v.nullable(DeviceId),
  signal: Signal,
};

const createEventSchema = <T extends string, D extends v.ObjectEntries>(event_type: T, data: D) =>
  v.object({ event_type: v.literal(event_type), data: v.object(data) });

/** How a call stands, after what was asked if that changed it; `over` once it has ended. `now` is the server's clock. */
export const CallResult = v.object({ call: Call, over: v.nullable(CallBody), now: v.number() });
export type CallResult = v.InferOutput<typeof CallResult>;

/** What was told inside a call that is open, a moment ago and after a place; `at` is the place to ask from next. */
export const CallSignals = v.object({ call: Call, signals: v.array(v.object(relayedSignal)), at: v.number() });
export type CallSignals = v.InferOutput<typeof CallSignals>;

/** Which call it is: an id that somebody took again in another conversation is another call's. */
const callKey = { call_id: Uuid, conversation: ConversationId };

/** The event `call-system` (SPEC.md §7): the frames of a socket that are objects. */
export const CallFrame = v.object({
  event: v.literal("call-system"),
  payload: v.variant("event_type", [
    createEventSchema("ring", Call.entries),
    createEventSchema("answered", Call.entries),
    createEventSchema("signal", relayedSignal),
    ...callStatuses.map((status) =>
      createEventSchema(status, { ...callKey, seconds: v.number(), reason: v.optional(CallReason) }),
    ),
  ]),
});
export type CallFrame = v.InferOutput<typeof CallFrame>;

/** What was wrong with a call, for whoever found it bad. */
export const CallProblem = v.picklist(["sound", "picture", "dropped"]);
export type CallProblem = v.InferOutput<typeof CallProblem>;

/** What a person thought of a call that is over. */
export const CallRating = v.object({ good: v.boolean(), reason: v.optional(CallProblem) });
export type CallRating = v.InferOutput<typeof CallRating>;
