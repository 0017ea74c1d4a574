import * as v from "valibot";
import {
  Ago,
  Call,
  CallKind,
  CallReason,
  CallResult,
  CallStatus,
  CallVerdict,
  Device,
  Signal,
} from "#contract/calls/call.ts";
import { IceServers } from "#contract/calls/ice.ts";
import { ConversationId, privateConversationId, Uuid } from "#contract/ids.ts";

/** What the routes of calls take and answer. */

/**
 * The other person of a call is named by the conversation with them or, in SPEC.md §7's words, by their own id. A
 * caller that keeps no ids of its own may leave out the call's and the device's: they are made and stand in the answer.
 */
const dialled = { call_id: v.optional(Uuid), type: CallKind, device: v.optional(Device) };
export const Dial = v.union([
  v.strictObject({ conversation: ConversationId, ...dialled }),
  v.strictObject({ callee_id: Uuid, ...dialled }),
]);

const within = <T extends v.ObjectEntries>(entries: T) =>
  v.union([
    v.strictObject({ conversation: ConversationId, ...entries }),
    v.strictObject({ to_user_id: Uuid, ...entries }),
  ]);
export const Answer = within({ device: v.optional(Device) });
export const End = within({
  device: v.optional(Device),
  status: CallStatus,
  reason: v.optional(CallReason),
  ago: v.optional(Ago),
});
export const Beat = within({ device: v.optional(Device), unheard: v.optional(Ago) });
export const Pass = within({ from: v.optional(Device), to: v.optional(v.nullable(Device), null), signal: Signal });
export const Judge = within(CallVerdict.entries);

/** Neither is needed for a call that is open. */
export const Whose = v.pipe(
  v.object({ conversation: v.optional(ConversationId), to_user_id: v.optional(Uuid) }),
  v.check(({ conversation, to_user_id }) => conversation === undefined || to_user_id === undefined),
);

/** A place as the answer before named it. */
export const After = v.object({
  after: v.optional(v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number)), "0"),
});

export const Dialled = v.object({ ...CallResult.entries, call_id: Uuid, ...IceServers.entries });
export const OpenCalls = v.object({ calls: v.array(Call), now: v.number() });

type Place = { conversation: ConversationId } | { to_user_id: Uuid } | { callee_id: Uuid };

/** The conversation a body names. */
export const placeOf = (place: Place, me: Uuid): ConversationId => {
  if ("conversation" in place) return place.conversation;
  return privateConversationId(me, "callee_id" in place ? place.callee_id : place.to_user_id);
};
