import type { Group } from "#contract/groups.ts";
import { memberPageRows } from "#contract/limits/groups.ts";
import type { ConversationLog, GroupState } from "#worker/objects/conversation/log/conversation-log.ts";
import { isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";
import type { KeptHistory } from "#worker/objects/conversation/log/memberships.ts";
import type { GroupChangeResult, MemberEntries } from "#worker/objects/rpc/groups.ts";

export type GroupLog = ConversationLog & { group: GroupState };

/** Whether the conversation is a group, active or ended. */
export const isGroupLog = (log: ConversationLog | undefined): log is GroupLog => log?.group != null;

export const isActiveGroup = (log: ConversationLog | undefined): log is GroupLog => isGroupLog(log) && !log.group.ended;

export const toGroupChangeResult = (log: GroupLog, replaced: string | null = null): GroupChangeResult => ({
  roster: log.group.roster,
  count: log.members.visible.length,
  replaced,
});

/** The group as one of its members sees it. */
export const toGroupView = (log: GroupLog, { number, role }: Member): Group => {
  const { name, picture, roster } = log.group;
  return {
    id: log.id,
    name,
    picture,
    roster,
    count: log.members.visible.length,
    role,
    number,
    created_by: log.members.findByNumber(0)?.user ?? "",
    created_at: log.createdAt,
  };
};

/** Head of the log when the reader joined, or joined first if they kept the history of earlier memberships. */
const findFirstJoin = ({ kept, visibleAfter }: Member): number =>
  kept ? (kept.ranges[0]?.[0] ?? 1) - 1 : visibleAfter;

/**
 * Members by number for a former member: only those who were members during the reader's time, and nothing of what
 * happened to them since.
 */
export const readFormerMemberEntries = (
  log: GroupLog,
  reader: Member,
  kept: KeptHistory,
  numbers: readonly number[],
): MemberEntries => {
  const isKnown = (member: Member): boolean => {
    const wasMember = member.version <= kept.roster || member.since < kept.at;
    if (wasMember && (isVisibleMember(member) || member.visibleAfter >= findFirstJoin(reader))) return true;
    return kept.ranges.some(([first, last]) => log.messages.hasSentWithin(member.number, first, last));
  };
  const found = numbers.slice(0, memberPageRows).flatMap((number) => log.members.findByNumber(number) ?? []);
  const entries = found
    .filter(isKnown)
    .map(({ number, user }) => ({ number, user, role: "member" as const, since: 0, left: true }));
  return { roster: kept.roster, count: 0, members: entries, after: null };
};

/**
 * Members by number, former ones included, or a page of members changed after a members version (`since` 0: all current
 * members). People who left before the reader joined are left out.
 */
export const readMemberEntries = (
  log: GroupLog,
  reader: Member,
  query: { numbers: number[] } | { since: number; after: number },
): MemberEntries => {
  const isKnownToReader = (member: Member): boolean =>
    isVisibleMember(member) || member.visibleAfter >= findFirstJoin(reader);
  const requested =
    "numbers" in query
      ? query.numbers.flatMap((number) => log.members.findByNumber(number) ?? [])
      : log.members.all.filter(
          (member) =>
            member.number >= query.after &&
            member.version > query.since &&
            (query.since > 0 || isVisibleMember(member)),
        );
  const found = requested.filter(isKnownToReader);
  const page = found.slice(0, memberPageRows);
  return {
    roster: log.group.roster,
    count: log.members.visible.length,
    members: page.map((member) => ({
      number: member.number,
      user: member.user,
      role: member.role,
      since: member.since,
      left: !isVisibleMember(member),
    })),
    after: page.length < found.length ? (page.at(-1)?.number ?? 0) + 1 : null,
  };
};
