import * as v from "valibot";
import {
  Call,
  CallKind,
  CallRating,
  CallResult,
  CallStatus,
  DeviceId,
  ElapsedMs,
  ReportedReason,
  Signal,
} from "#contract/calls/call.ts";
import { IceServers } from "#contract/calls/ice.ts";
import { ConversationId, privateConversationId, Uuid } from "#contract/ids.ts";

/** Request and response schemas of the call routes. */

/**
 * A call's peer is named by the conversation or, in the words of SPEC.md §7, by user id. A client that keeps no ids may
 * omit those of the call and the device: they are created and returned.
 */
const dialFields = { call_id: v.optional(Uuid), type: CallKind, device: v.optional(DeviceId) };
export const DialBody = v.union([
  v.strictObject({ conversation: ConversationId, ...dialFields }),
  v.strictObject({ callee_id: Uuid, ...dialFields }),
]);

const withConversation = <T extends v.ObjectEntries>(entries: T) =>
  v.union([
    v.strictObject({ conversation: ConversationId, ...entries }),
    v.strictObject({ to_user_id: Uuid, ...entries }),
  ]);
export const AnswerBody = withConversation({ device: v.optional(DeviceId) });
export const HangUpBody = withConversation({
  device: v.optional(DeviceId),
  status: CallStatus,
  reason: v.optional(ReportedReason),
  ago: v.optional(ElapsedMs),
});
export const HeartbeatBody = withConversation({ device: v.optional(DeviceId), unheard: v.optional(ElapsedMs) });
export const SignalBody = withConversation({
  from: v.optional(DeviceId),
  to: v.optional(v.nullable(DeviceId), null),
  signal: Signal,
});
export const RatingBody = withConversation(CallRating.entries);

/** Both are optional for an open call. */
export const CallQuery = v.pipe(
  v.object({ conversation: v.optional(ConversationId), to_user_id: v.optional(Uuid) }),
  v.check(({ conversation, to_user_id }) => conversation === undefined || to_user_id === undefined),
);

/** Cursor from the previous response. */
export const SignalsQuery = v.object({
  after: v.optional(v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number)), "0"),
});

export const DialResult = v.object({ ...CallResult.entries, call_id: Uuid, ...IceServers.entries });
export const OpenCallList = v.object({ calls: v.array(Call), now: v.number() });

type ConversationReference = { conversation: ConversationId } | { to_user_id: Uuid } | { callee_id: Uuid };

/** Conversation that a body refers to. */
export const toConversationId = (reference: ConversationReference, me: Uuid): ConversationId => {
  if ("conversation" in reference) return reference.conversation;
  return privateConversationId(me, "callee_id" in reference ? reference.callee_id : reference.to_user_id);
};
