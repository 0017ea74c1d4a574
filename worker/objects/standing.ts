import { clampMarks, type Marks, mergeMarks } from "../../contract/conversations";
import type { ConversationLog } from "./conversation-log";
import { changeMember, type Member } from "./members";
import type { Standing } from "./rpc";

/** Others' messages that a member may see and has neither read nor hidden, counted. */
export const unreadOf = (log: ConversationLog, { number, read, hidden }: Member): number => {
  const from = Math.max(read, hidden);
  if (from >= log.head) return 0;
  const count =
    "SELECT count(*) AS n FROM messages WHERE seq > ? AND sender <> ? AND kind <> 'deleted' AND withheld = 0";
  return log.sql.exec<{ n: number }>(count, from, number).one().n;
};

/** Moves a member's marks on, never back and never beyond what they see. Tells what moved. */
export const mark = (log: ConversationLog, member: Member, claim: Marks): { moved: boolean; read: boolean } => {
  const marks = mergeMarks(member, clampMarks(claim, log.headOf(member)));
  const moved = marks.delivered !== member.delivered || marks.read !== member.read;
  const read = marks.read !== member.read;
  if (moved) changeMember(log.sql, member, marks);
  return { moved, read };
};

/** Messages up to a place go from a member's view. What is gone stays gone. */
export const hide = (log: ConversationLog, member: Member, upTo: number): void => {
  const hidden = Math.min(upTo, log.headOf(member));
  if (hidden > member.hidden) changeMember(log.sql, member, { hidden });
};

/** The least that the other members have got and read, as far as they let it be seen. */
export const othersOf = (log: ConversationLog, { number }: Member): Marks => {
  const others = log.members.filter((member) => member.number !== number).map((member) => member.shown ?? member);
  return {
    delivered: Math.min(log.head, ...others.map(({ delivered }) => delivered)),
    read: Math.min(log.head, ...others.map(({ read }) => read)),
  };
};

export const standingOf = (log: ConversationLog, member: Member, isCounted: boolean): Standing => {
  const { delivered, read, hidden } = member;
  const { epoch, revision } = log;
  const standing = { epoch, head: log.headOf(member), revision, mine: { delivered, read }, hidden };
  return isCounted ? { ...standing, unread: unreadOf(log, member) } : standing;
};
