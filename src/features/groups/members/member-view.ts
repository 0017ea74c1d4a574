import type { GroupRole } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { MemberRow } from "#sync/store/database.ts";

/** A member as the list shows them; `user` is empty when the account is gone, `role` undefined when it may be old. */
export type GroupMemberView = {
  number: number;
  user: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  role: GroupRole | undefined;
  isMe: boolean;
};

/** As sentences name them. */
export const formatGroupMemberName = ({ username, phone }: GroupMemberView): string => isolateBidi(username || phone);

const getSortRank = ({ role, isMe }: GroupMemberView): number => (role === "owner" ? 0 : isMe ? 1 : 2);

/**
 * The owner first, then oneself, then everybody by name. The own role is what the group itself says: whoever owns it
 * is its only owner, however old the list is.
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
  const shown = rows.map((row): GroupMemberView => {
    const { number, user, username, phone, avatar } = row;
    return { number, user, username, phone, avatar, role: roleOf(row), isMe: user === me };
  });
  return shown.sort((a, b) => getSortRank(a) - getSortRank(b) || compare(a.username || a.phone, b.username || b.phone));
};
