import * as v from "valibot";
import { Uuid } from "./ids.ts";
import { Profile } from "./people.ts";

/** SPEC.md §3 `connection_requests`, joined with the profiles of both people. */
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

/** Profile of a contact with the ids needed to delete it (SPEC.md §3 Contact). */
export const Contact = v.object({
  ...Profile.entries,
  connection_id: Uuid,
  connection_request_id: v.nullable(Uuid),
  connected_at: v.number(),
});
export type Contact = v.InferOutput<typeof Contact>;

/** Pending requests in both directions, newest first. `before` is where the next page begins, null on the last. */
export const RequestPage = v.object({
  received: v.array(ConnectionRequest),
  sent: v.array(ConnectionRequest),
  before: v.nullable(Uuid),
});
export type RequestPage = v.InferOutput<typeof RequestPage>;

/** Contacts in the order they were added. `after` is where the next page begins, null on the last. */
export const ContactPage = v.object({ contacts: v.array(Contact), after: v.nullable(Uuid) });
export type ContactPage = v.InferOutput<typeof ContactPage>;

/** Blocked people, last blocked first. `before` is where the next page begins, null on the last. */
export const BlockList = v.object({ blocked: v.array(Profile), before: v.nullable(v.number()) });
export type BlockList = v.InferOutput<typeof BlockList>;
