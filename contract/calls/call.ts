import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { callLongRingMs, callRingMs, callSignalMaxBytes } from "#contract/limits/calls.ts";

// Calls between two people as devices and the server exchange them, and their entry in the message log.

/** Media of a call. */
export const CallKind = v.picklist(["audio", "video"]);
export type CallKind = v.InferOutput<typeof CallKind>;

/** Outcome of a call, in SPEC.md's words. Each side displays it differently (`toCallEntry` in the client). */
export const callStatuses = ["missed", "rejected", "cancelled", "ended"] as const;
export const CallStatus = v.picklist(callStatuses);
export type CallStatus = v.InferOutput<typeof CallStatus>;
const reportedReasons = ["busy", "failed"] as const;
/** Cause of an end that a device reports, if the status alone does not explain it. */
export const ReportedReason = v.picklist(reportedReasons);
export type ReportedReason = v.InferOutput<typeof ReportedReason>;
/** Cause of an end. `unanswered`: nobody took the missed call while it rang; without it the caller gave up. */
export const CallReason = v.picklist([...reportedReasons, "unanswered"]);
export type CallReason = v.InferOutput<typeof CallReason>;

/**
 * Identifies one browser of a person: which device answered, and which one a signal is addressed to. Generated once per
 * browser and stored there.
 */
export const DeviceId = Uuid;
export type DeviceId = v.InferOutput<typeof DeviceId>;

/** Milliseconds since a side hung up or last heard the other one. No timestamp, since the clocks of devices differ. */
export const ElapsedMs = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Log entry of a call. Its client id equals the call id, so the log contains it once; its sender is the caller. */
export const CallBody = v.strictObject({
  type: v.literal("call"),
  /** Id of the call, by which the devices of both sides recognise it. */
  id: Uuid,
  kind: CallKind,
  status: CallStatus,
  seconds: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  reason: v.optional(CallReason),
});
export type CallBody = v.InferOutput<typeof CallBody>;

/**
 * State of the devices on which an unanswered call rings, to the server. `reported`: a device of the callee reported
 * that it rings. `asleep`: none did for `callAsleepMs`, so the call rings for `callLongRingMs`. `woken`: one did since.
 */
export const RingState = v.picklist(["reported", "asleep", "woken"]);
export type RingState = v.InferOutput<typeof RingState>;

/** Call as a person's devices see it. Times are server times. */
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
  /** Missing while the server knows nothing of the callee's devices. */
  ring: v.optional(RingState),
});
export type Call = v.InferOutput<typeof Call>;

/** Ringing time of an unanswered call. */
export const getRingMs = (ring: RingState | "unreported" | "unknown" | undefined): number =>
  ring === "asleep" || ring === "woken" ? callLongRingMs : callRingMs;

/** Time at which an unanswered call stops ringing. */
export const getRingEndsAt = ({ created_at, ring }: Pick<Call, "created_at" | "ring">): number =>
  created_at + getRingMs(ring);

/**
 * Signal from one device to the other inside a call (see `src/calls/signaling/messages.ts`). The server relays it
 * without storing it.
 */
export const Signal = v.pipe(v.string(), v.maxBytes(callSignalMaxBytes));

/** Signal without content: the call rings on a device of the other person. */
export const ringSignal = "";

/**
 * Signal with its routing: the call, the sending device, and the receiving device or null for all devices of the other
 * person.
 */
const relayedSignal = {
  call_id: Uuid,
  conversation: ConversationId,
  from_device: DeviceId,
  to_device: v.nullable(DeviceId),
  signal: Signal,
};

const createEventSchema = <T extends string, D extends v.ObjectEntries>(event_type: T, data: D) =>
  v.object({ event_type: v.literal(event_type), data: v.object(data) });

/**
 * Current state of a call, after the requested change if there was one. `over` is its log entry once it has ended,
 * `now` the server time.
 */
export const CallResult = v.object({ call: Call, over: v.nullable(CallBody), now: v.number() });
export type CallResult = v.InferOutput<typeof CallResult>;

/** Recent signals of an open call after a position. `at` is the position to continue from. */
export const CallSignals = v.object({ call: Call, signals: v.array(v.object(relayedSignal)), at: v.number() });
export type CallSignals = v.InferOutput<typeof CallSignals>;

/** Identity of a call. The conversation belongs to it because an id may be reused in another conversation. */
const callKey = { call_id: Uuid, conversation: ConversationId };

/** The event `call-system` (SPEC.md §7). The only socket frames that are JSON objects; all others are arrays. */
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

/** Problem a person reports with a call they rated as bad. */
export const CallProblem = v.picklist(["sound", "picture", "dropped"]);
export type CallProblem = v.InferOutput<typeof CallProblem>;

/** Rating of an ended call. */
export const CallRating = v.object({ good: v.boolean(), reason: v.optional(CallProblem) });
export type CallRating = v.InferOutput<typeof CallRating>;
