import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { CallKind, CallReason, CallStatus, DeviceId, ElapsedMs, Signal } from "./call.ts";

/** What a device asks about calls, but for the conversation it is asked in. */
export const CallRequest = v.variant("type", [
  /** Calls the other person. Asked again under the same id it is the same call. */
  v.strictObject({ type: v.literal("dial"), call: Uuid, kind: CallKind, device: DeviceId }),
  v.strictObject({ type: v.literal("answer"), call: Uuid, device: DeviceId }),
  /** Refuses, gives up or ends a call. Done twice it is still done, and the first end counts. */
  v.strictObject({
    type: v.literal("hangUp"),
    call: Uuid,
    device: DeviceId,
    status: CallStatus,
    reason: v.optional(CallReason),
    ago: v.optional(ElapsedMs),
  }),
  /** How the call stands, or how it ended if none came after it. */
  v.strictObject({ type: v.literal("standing"), call: Uuid }),
  /**
   * This side is still there: the device that talks, or whichever when none is named. `unheard`: for how long it has
   * heard nothing of the other one.
   */
  v.strictObject({
    type: v.literal("beat"),
    call: Uuid,
    device: v.optional(DeviceId),
    unheard: v.optional(ElapsedMs),
  }),
  /** Passed on to the other person's devices, or to one of them; nobody keeps it. */
  v.strictObject({ type: v.literal("signal"), call: Uuid, from: DeviceId, to: v.nullable(DeviceId), signal: Signal }),
]);
export type CallRequest = v.InferOutput<typeof CallRequest>;
