import { toNameOrNumber } from "#components/people/person-name.ts";
import type { GroupRole } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { MemberRow } from "#sync/store/database.ts";

/**
 * Member as displayed. `user` is empty for a deleted account; `role` is undefined if the stored role may be outdated.
 */
export type GroupMemberView = {
  number: number;
  user: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  role: GroupRole | undefined;
  isMe: boolean;
};

/** Display name for use in sentences. */
export const formatGroupMemberName = (member: GroupMemberView): string => isolateBidi(toNameOrNumber(member));

const getSortRank = ({ role, isMe }: GroupMemberView): number => (role === "owner" ? 0 : isMe ? 1 : 2);

/**
 * Converts stored members to views: owner first, then the current user, then the others by name. The current user's
 * role comes from the group, not from the list: if they own it, nobody else does, however old the list is.
 */
export const toGroupMemberViews = (
  rows: readonly MemberRow[],
  areRolesKnown: boolean,
  me: Uuid,
  ownRole: GroupRole,
  language: string,
): GroupMemberView[] => {
  const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
  const roleOf = ({ user, role }: MemberRow): GroupRole | undefined => {
    if (user === me) return ownRole;
    if (ownRole === "owner") return "member";
    return areRolesKnown ? role : undefined;
  };
  const views = rows.map((row): GroupMemberView => {
    const { number, user, username, phone, avatar } = row;
    return { number, user, username, phone, avatar, role: roleOf(row), isMe: user === me };
  });
  return views.sort((a, b) => getSortRank(a) - getSortRank(b) || compare(a.username || a.phone, b.username || b.phone));
};
