import type { Group } from "#contract/groups.ts";
import { memberPageRows } from "#contract/limits.ts";
import type { ConversationLog, GroupFacts } from "#worker/objects/conversation/log/conversation-log.ts";
import { isSeated, type Member } from "#worker/objects/conversation/log/member-table.ts";
import type { GroupDone, Seats } from "#worker/objects/rpc.ts";

export type GroupLog = ConversationLog & { group: GroupFacts };

/** Ended or not. */
export const isOfGroup = (log: ConversationLog | undefined): log is GroupLog => log?.group != null;

export const isGroup = (log: ConversationLog | undefined): log is GroupLog => isOfGroup(log) && !log.group.ended;

export const standOfGroup = (log: GroupLog, replaced: string | null = null): GroupDone => ({
  roster: log.group.roster,
  count: log.members.seated.length,
  replaced,
});

/** The group as one of its members reads it. */
export const describe = (log: GroupLog, { number, role }: Member): Group => {
  const { name, picture, roster } = log.group;
  return {
    id: log.id,
    name,
    picture,
    roster,
    count: log.members.seated.length,
    role,
    number,
    created_by: log.members.at(0)?.user ?? "",
    created_at: log.began,
  };
};

/**
 * Those with these numbers, members or not; else a page of those who changed after a roster, at first of all who are
 * members. Who went before the reader came is nobody to them: they see nothing that was said or done until then.
 */
export const readSeats = (
  log: GroupLog,
  reader: Member,
  query: { numbers: number[] } | { since: number; after: number },
): Seats => {
  const isMet = (member: Member): boolean => isSeated(member) || member.joined >= reader.joined;
  const asked =
    "numbers" in query
      ? query.numbers.flatMap((number) => log.members.at(number) ?? [])
      : log.members.all.filter(
          (member) =>
            member.number >= query.after && member.version > query.since && (query.since > 0 || isSeated(member)),
        );
  const found = asked.filter(isMet);
  const page = found.slice(0, memberPageRows);
  return {
    roster: log.group.roster,
    count: log.members.seated.length,
    seats: page.map((member) => ({
      number: member.number,
      user: member.user,
      role: member.role,
      since: member.since,
      left: !isSeated(member),
    })),
    after: page.length < found.length ? (page.at(-1)?.number ?? 0) + 1 : null,
  };
};
