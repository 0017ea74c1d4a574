import * as v from "valibot";
import { Uuid } from "./ids";
import { Profile } from "./people";

/** SPEC.md §3 `connection_requests`, joined with both people. */
export const ConnectionRequest = v.object({
  id: Uuid,
  from_user_id: Uuid,
  to_user_id: Uuid,
  status: v.picklist(["pending", "accepted", "declined"]),
  created_at: v.number(),
  from_user: Profile,
  to_user: Profile,
});
export type ConnectionRequest = v.InferOutput<typeof ConnectionRequest>;

export const NewRequest = v.strictObject({ to_user_id: Uuid });
export type NewRequest = v.InferInput<typeof NewRequest>;

/** The other person's profile and what deleting the contact needs (SPEC.md §3 Contact). */
export const Contact = v.object({
  ...Profile.entries,
  connection_id: Uuid,
  connection_request_id: v.nullable(Uuid),
  connected_at: v.number(),
});
export type Contact = v.InferOutput<typeof Contact>;
