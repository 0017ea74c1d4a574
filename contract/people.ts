import * as v from "valibot";
import { Uuid } from "./ids.ts";

/** Data that one person may see of another: SPEC.md §3 `profiles`. */
export const Profile = v.object({
  id: Uuid,
  username: v.string(),
  phone: v.string(),
  avatar_url: v.nullable(v.string()), // avatar key; served at /api/avatars/<key>?size=50|512
  created_at: v.number(), // epoch milliseconds
  handle: v.optional(v.string()), // without "@"; absent if the person has none
  verified: v.optional(v.literal(true)), // the number is proved to be theirs
  deleted: v.optional(v.literal(true)), // account deleted; all other fields are empty
});
export type Profile = v.InferOutput<typeof Profile>;

export const relationStates = ["contact", "received", "sent", "none"] as const;
export type RelationState = (typeof relationStates)[number];

/**
 * Unconfirmed change of a contact's number: somebody else proved that it is theirs ("left"), or the contact has another
 * one ("changed").
 */
export const numberNotices = ["left", "changed"] as const;
export type NumberNotice = (typeof numberNotices)[number];

/**
 * State between the user and another person, with that person's visible profile. One row feeds the contact list, both
 * lists of requests, the permission to write and the names in chats. `none` stays for people with former contact.
 */
export const Relation = v.object({
  profile: Profile,
  state: v.picklist(relationStates),
  request_id: v.nullable(Uuid),
  connection_id: v.nullable(Uuid),
  since: v.number(), // start of this state; in the own relation the time of the newest received invitation to a group
  blocked: v.boolean(), // by the user; the blocked person is not notified
  number_notice: v.optional(v.picklist(numberNotices)), // absent once confirmed
  group_invitations: v.optional(v.number()), // received and not answered; in the own relation only, absent if none
});
export type Relation = v.InferOutput<typeof Relation>;

/** Relation to a deleted account. */
export const createDeletedRelation = (id: Uuid): Relation => ({
  profile: { id, username: "", phone: "", avatar_url: null, created_at: 0, deleted: true },
  state: "none",
  request_id: null,
  connection_id: null,
  since: 0,
  blocked: false,
});

/** Numbers that one request looks up. */
export const numberLookupMax = 50;
const numberMaxLength = 40;

/** Whole numbers to look up, as typed or as in the device's contacts. */
export const NumberLookup = v.strictObject({
  phones: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(numberMaxLength))),
    v.minLength(1),
    v.maxLength(numberLookupMax),
  ),
});

/** Search result. Never stored locally. */
export const FoundPerson = v.object({
  id: Uuid,
  username: v.string(),
  phone: v.string(),
  avatar_url: v.nullable(v.string()),
  handle: v.optional(v.string()),
  verified: v.optional(v.literal(true)),
  state: v.picklist(relationStates),
});
export type FoundPerson = v.InferOutput<typeof FoundPerson>;

/**
 * Results in the order of the numbers. `none`: not a number, without an account, or of somebody who cannot be found.
 * `not_searched`: the searches of the day are used up.
 */
export const NumberLookupResult = v.object({
  results: v.array(
    v.variant("status", [
      v.object({ status: v.literal("found"), person: FoundPerson }),
      v.object({ status: v.picklist(["none", "not_searched"]) }),
    ]),
  ),
});
export type NumberLookupResult = v.InferOutput<typeof NumberLookupResult>;
