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

/** Names of what the recipient and the sender of a request have in common: the number, and some of the names. */
export const CommonNames = v.object({ count: v.number(), names: v.array(v.string()) });
export type CommonNames = v.InferOutput<typeof CommonNames>;

/** Facts about the sender of a pending request, for its recipient. */
export const RequestContext = v.object({
  from_user_id: Uuid,
  /** Country of the phone number, ISO 3166-1 alpha-2. Null if several countries share its code. */
  country: v.nullable(v.string()),
  /** Month in which the account was created (UTC): 2026-11. */
  account_month: v.string(),
  /** Whether the sender has proved that the number is theirs. */
  is_verified: v.boolean(),
  contacts: CommonNames,
  groups: CommonNames,
});
export type RequestContext = v.InferOutput<typeof RequestContext>;

/** Contexts of the newest received requests. */
export const RequestContexts = v.object({ contexts: v.array(RequestContext) });
export type RequestContexts = v.InferOutput<typeof RequestContexts>;

/** Contacts in the order they were added. `after` is where the next page begins, null on the last. */
export const ContactPage = v.object({ contacts: v.array(Contact), after: v.nullable(Uuid) });
export type ContactPage = v.InferOutput<typeof ContactPage>;

/** Blocked people, last blocked first. `before` is where the next page begins, null on the last. */
export const BlockList = v.object({ blocked: v.array(Profile), before: v.nullable(v.number()) });
export type BlockList = v.InferOutput<typeof BlockList>;
