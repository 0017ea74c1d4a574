import type { Call, CallBody, CallRating } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import { call_feedback } from "#worker/db/schema.ts";
import { toPseudonym } from "./turn.ts";

/** Saves one side's rating of an ended call. A new rating replaces the previous one. */
export const saveCallFeedback = async (
  env: Pick<Env, "DB" | "PEPPER">,
  { call_id, conversation, from }: Call,
  { kind, seconds }: CallBody,
  user: Uuid,
  { good, reason }: CallRating,
): Promise<void> => {
  const side = from === user ? "caller" : "callee";
  const pseudonym = await toPseudonym(env.PEPPER, `feedback:${call_id}:${conversation}`);
  const row = { good, reason: reason ?? null, kind, seconds, at: Date.now() };
  await openDb(env)
    .insert(call_feedback)
    .values({ call_id, place: pseudonym, side, ...row })
    .onConflictDoUpdate({ target: [call_feedback.call_id, call_feedback.place, call_feedback.side], set: row });
};
