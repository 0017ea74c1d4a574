import * as v from "valibot";
import { Uuid } from "./ids.ts";
import { groupMembersMax, groupNameMaxLength, memberPageRows } from "./limits.ts";
import { Profile } from "./people.ts";
import { createNameSchema } from "./text.ts";

/** A group is a conversation whose id is a UUID that its creator's phone made, so that creating it twice makes one. */

/** What each role may do beyond reading and writing. A later role is a line here. */
const actionsOfRole = {
  owner: ["add", "remove", "rename", "picture", "handOver", "end"],
  member: [],
} as const satisfies Record<string, readonly string[]>;
export type GroupRole = keyof typeof actionsOfRole;
export type GroupAction = (typeof actionsOfRole)[GroupRole][number];
/** Their order is their short form in frames. */
export const groupRoles = ["member", "owner"] as const satisfies readonly GroupRole[];

export const isGroupActionAllowed = (role: GroupRole, action: GroupAction): boolean =>
  (actionsOfRole[role] as readonly GroupAction[]).includes(action);

export const GroupName = createNameSchema(groupNameMaxLength, "invalid_group_name");

/** What a member's inbox row says of a group. `roster` counts the changes to its members, name and picture. */
export const GroupCard = v.object({
  name: v.string(),
  picture: v.nullable(v.string()), // a key, served as those of people are
  count: v.number(), // members, oneself included
  roster: v.number(),
  role: v.picklist(groupRoles), // one's own
  number: v.number(), // one's own, by which messages name their sender
});
export type GroupCard = v.InferOutput<typeof GroupCard>;

/** SPEC.md §3 `groups`, as a member reads it. */
export const Group = v.object({
  id: Uuid,
  ...GroupCard.entries,
  created_by: Uuid,
  created_at: v.number(),
});
export type Group = v.InferOutput<typeof Group>;

/** Somebody who is or was a member. The number is theirs for good: messages name their sender by it. */
export const GroupMember = v.object({
  number: v.number(),
  profile: v.nullable(Profile), // null when the account is gone
  role: v.picklist(groupRoles),
  since: v.number(), // when they (last) joined
  left: v.boolean(),
});
export type GroupMember = v.InferOutput<typeof GroupMember>;

/**
 * Members in the order of their numbers; `after` is where the next page begins, null on the last. All pages that were
 * read with the same `since` bring a device to `roster`, the first one's.
 */
export const MemberPage = v.object({
  roster: v.number(),
  count: v.number(),
  members: v.array(GroupMember),
  after: v.nullable(v.number()),
});
export type MemberPage = v.InferOutput<typeof MemberPage>;

const MemberNumbers = v.pipe(
  v.string(),
  v.regex(/^\d{1,6}(,\d{1,6})*$/, "invalid_input"),
  v.transform((list) => list.split(",").map(Number)),
  v.maxLength(memberPageRows, "invalid_input"),
);
const MemberNumber = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
/** All who are members; those who changed after a roster, who left among them; or these numbers, whoever they are. */
export const MemberQuery = v.pipe(
  v.strictObject({
    numbers: v.optional(MemberNumbers),
    since: v.optional(MemberNumber),
    after: v.optional(MemberNumber),
  }),
  v.check(({ numbers, since, after }) => !numbers || (since ?? after) === undefined, "numbers, or since and after"),
);
export type MemberQuery = v.InferOutput<typeof MemberQuery>;

const MemberIds = v.pipe(
  v.array(Uuid),
  v.minLength(1, "group_without_members"),
  v.maxLength(groupMembersMax - 1, "group_full"),
);
export const NewGroup = v.strictObject({ id: Uuid, name: GroupName, members: MemberIds });
export type NewGroup = v.InferInput<typeof NewGroup>;
export const NewMembers = v.strictObject({ members: MemberIds });
export const GroupChange = v.strictObject({ name: GroupName });
export const NewOwner = v.strictObject({ user_id: Uuid });

/** Who of the others has got and read a message of one's own, by member number; who came later is in none. */
export const Receipts = v.object({
  read: v.array(v.number()),
  delivered: v.array(v.number()),
  sent: v.array(v.number()),
});
export type Receipts = v.InferOutput<typeof Receipts>;

export const groupPath = (group: Uuid): string => `/api/groups/${group}`;
export const receiptsPath = (group: Uuid, seq: number): string =>
  `/api/conversations/${group}/messages/${seq}/receipts`;
