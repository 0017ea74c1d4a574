import * as v from "valibot";
import { Uuid } from "./ids.ts";
import { searchQueryMaxLength } from "./limits.ts";
import { DisplayName } from "./text.ts";

/** What one person may know of another: SPEC.md §3 `profiles`. */
export const Profile = v.object({
  id: Uuid,
  username: v.string(),
  phone: v.string(),
  avatar_url: v.nullable(v.string()), // a key; served at /api/avatars/<key>?size=50|512
  created_at: v.number(), // epoch milliseconds
  deleted: v.optional(v.literal(true)), // the account is gone, and nothing else is known of whose it was
});
export type Profile = v.InferOutput<typeof Profile>;

export const PhoneSearch = v.object({ phone: v.pipe(v.string(), v.maxLength(searchQueryMaxLength)) });

export const relationStates = ["contact", "received", "sent", "none"] as const;
export type RelationState = (typeof relationStates)[number];

/**
 * How a person stands to me, with what I may know of them: the one row that feeds the contacts list, both
 * tabs of Senga, the guard of a chat and the names in it. `none` stays for people I once had to do with.
 */
export const Relation = v.object({
  profile: Profile,
  state: v.picklist(relationStates),
  request_id: v.nullable(Uuid),
  connection_id: v.nullable(Uuid),
  since: v.number(), // when this state began
  blocked: v.boolean(), // by me; who is blocked is never told
});
export type Relation = v.InferOutput<typeof Relation>;

/** Whose account is gone: all that is left of them is that they were here. */
export const createDeletedRelation = (id: Uuid): Relation => ({
  profile: { id, username: "", phone: "", avatar_url: null, created_at: 0, deleted: true },
  state: "none",
  request_id: null,
  connection_id: null,
  since: 0,
  blocked: false,
});

/** A search result: never in the local store, gone with the screen. */
export const FoundPerson = v.object({
  id: Uuid,
  username: v.string(),
  phone: v.string(),
  avatar_url: v.nullable(v.string()),
  state: v.picklist(relationStates),
});
export type FoundPerson = v.InferOutput<typeof FoundPerson>;

export const ProfileChange = v.strictObject({ username: v.optional(DisplayName) });
export type ProfileChange = v.InferInput<typeof ProfileChange>;
