import * as v from "valibot";
import { CommonNames } from "./contacts.ts";
import { Uuid } from "./ids.ts";
import { groupMembersMax, groupNameMaxLength, memberPageRows } from "./limits/groups.ts";
import { Profile } from "./people.ts";
import { createNameSchema } from "./text.ts";

/** A group is a conversation whose id is a UUID chosen by its creator's device, so that creating it is idempotent. */

/** Actions of each role beyond reading and writing. */
const actionsOfRole = {
  owner: ["add", "remove", "rename", "picture", "handOver", "end", "mentionEveryone", "deleteMessages", "pin"],
  member: [],
} as const satisfies Record<string, readonly string[]>;
export type GroupRole = keyof typeof actionsOfRole;
export type GroupAction = (typeof actionsOfRole)[GroupRole][number];
/** Roles; the index is their short form in frames. */
export const groupRoles = ["member", "owner"] as const satisfies readonly GroupRole[];

export const isGroupActionAllowed = (role: GroupRole, action: GroupAction): boolean =>
  (actionsOfRole[role] as readonly GroupAction[]).includes(action);

export const GroupName = createNameSchema(groupNameMaxLength, "invalid_group_name");

/**
 * Group data in a member's inbox row. `roster` is the members version: the number of changes to members, name and
 * picture.
 */
export const GroupCard = v.object({
  name: v.string(),
  picture: v.nullable(v.string()), // avatar key
  count: v.number(), // number of members, including oneself
  roster: v.number(),
  role: v.picklist(groupRoles), // own role
  number: v.number(), // own member number, by which messages name their sender
});
export type GroupCard = v.InferOutput<typeof GroupCard>;

/** SPEC.md §3 `groups`, as seen by a member. */
export const Group = v.object({
  id: Uuid,
  ...GroupCard.entries,
  created_by: Uuid,
  created_at: v.number(),
});
export type Group = v.InferOutput<typeof Group>;

/** A group after people were added. `invited`: those of them who got an invitation instead, whatever the reason. */
export const GroupWithInvited = v.object({ ...Group.entries, invited: v.array(Uuid) });
export type GroupWithInvited = v.InferOutput<typeof GroupWithInvited>;

/** Invitation to a group, for the invited person. It shows neither messages nor members besides common contacts. */
export const GroupInvitation = v.object({
  id: Uuid,
  group: v.object({ id: Uuid, name: v.string(), count: v.number() }),
  from_user: Profile, // without the picture unless they are a contact
  is_contact: v.boolean(), // the person who invites
  created_at: v.number(),
  contacts: CommonNames, // own contacts among the members, besides who invites
});
export type GroupInvitation = v.InferOutput<typeof GroupInvitation>;
/** Invitations that wait for an answer, newest first. */
export const GroupInvitations = v.object({ invitations: v.array(GroupInvitation) });
export type GroupInvitations = v.InferOutput<typeof GroupInvitations>;

/**
 * People outside a group whom its owner invited or may invite again: invitations that were neither accepted nor
 * withdrawn, newest first, and former members. A declined invitation is not told apart.
 */
export const GroupCandidates = v.object({
  invited: v.array(v.object({ profile: Profile, created_at: v.number() })),
  former: v.array(Profile),
});
export type GroupCandidates = v.InferOutput<typeof GroupCandidates>;

/** Current or former member. Messages name their sender by `number`, which never changes. */
export const GroupMember = v.object({
  number: v.number(),
  profile: v.nullable(Profile), // null if the account was deleted
  role: v.picklist(groupRoles),
  since: v.number(), // time of the last join
  left: v.boolean(),
});
export type GroupMember = v.InferOutput<typeof GroupMember>;

/**
 * Members in order of their numbers. `after` is where the next page begins, null on the last. All pages read with the
 * same `since` bring a device to the `roster` of the first page.
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
/**
 * Selects all current members, the members changed after a members version (former ones included), or members by
 * number.
 */
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

/** Delivery of one's own message by member number. Members who joined later are in no list. */
export const Receipts = v.object({
  read: v.array(v.number()),
  delivered: v.array(v.number()),
  sent: v.array(v.number()),
});
export type Receipts = v.InferOutput<typeof Receipts>;

export const groupPath = (group: Uuid): string => `/api/groups/${group}`;
export const groupInvitationsPath = "/api/group-invitations";
export const receiptsPath = (group: Uuid, seq: number): string =>
  `/api/conversations/${group}/messages/${seq}/receipts`;
