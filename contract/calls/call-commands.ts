import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { CallKind, CallStatus, DeviceId, ElapsedMs, ReportedReason, Signal } from "./call.ts";

/** Request of a device about a call, without the conversation of the call. */
export const CallRequest = v.variant("type", [
  /** Calls the other person. Repeating it with the same id refers to the same call. */
  v.strictObject({ type: v.literal("dial"), call: Uuid, kind: CallKind, device: DeviceId }),
  v.strictObject({ type: v.literal("answer"), call: Uuid, device: DeviceId }),
  /** Rejects, cancels or ends a call. Idempotent: the first end counts. */
  v.strictObject({
    type: v.literal("hangUp"),
    call: Uuid,
    device: DeviceId,
    status: CallStatus,
    reason: v.optional(ReportedReason),
    /** Time since this side hung up. */
    ago: v.optional(ElapsedMs),
  }),
  /** Returns the state of the call, or how it ended if no later call followed. */
  v.strictObject({ type: v.literal("standing"), call: Uuid }),
  /**
   * Heartbeat of this side: of the device in the call, or of any device if none is named. `unheard` is the time in
   * milliseconds since this side last heard the other one.
   */
  v.strictObject({
    type: v.literal("beat"),
    call: Uuid,
    device: v.optional(DeviceId),
    unheard: v.optional(ElapsedMs),
  }),
  /** Relayed to one or all devices of the other person, not stored. */
  v.strictObject({ type: v.literal("signal"), call: Uuid, from: DeviceId, to: v.nullable(DeviceId), signal: Signal }),
]);
export type CallRequest = v.InferOutput<typeof CallRequest>;
