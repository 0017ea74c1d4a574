import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { toColumns } from "#worker/objects/conversation/log/message-codec.ts";
import { unsign } from "#worker/objects/conversation/messages/anonymize-forwards.ts";
import type { Departed } from "#worker/objects/rpc.ts";
import { goWithout, leave } from "./group-commands.ts";
import { type GroupLog, isGroup, isOfGroup } from "./group-view.ts";

/**
 * What becomes of a conversation when a member's account is gone. What they said stays for the others, whose places and
 * marks nothing changes. Each is one synchronous go within the caller's transaction, and done again by doing nothing.
 */

/** What was never let through to the other is nobody's to read any more. */
const forgetWithheld = (log: ConversationLog, { number }: Member): void => {
  const withheld = "withheld > 0 AND sender = ?";
  log.sql.exec(
    `INSERT OR IGNORE INTO releases (cid, file)
     SELECT messages.cid, attachments.file FROM attachments JOIN messages USING (seq) WHERE ${withheld}`,
    number,
  );
  log.sql.exec(`DELETE FROM attachments WHERE seq IN (SELECT seq FROM messages WHERE ${withheld})`, number);
  const { kind, body } = toColumns({ type: "deleted" });
  log.sql.exec(`UPDATE messages SET kind = ?, body = ? WHERE ${withheld}`, kind, body, number);
  log.messages.forgetRecent();
};

/** Of two people one goes: nobody writes there any more. The other is told, and the one who went of nothing. */
const departFromPair = (log: ConversationLog, member: Member): boolean => {
  if (member.state !== "in") return false;
  forgetWithheld(log, member);
  log.withdrawals.forget(member);
  log.members.change(member, { state: "quiet" });
  log.turned();
  return true;
};

const departFromGroup = (log: GroupLog, member: Member, now: number): string | null => {
  if (!isGroup(log)) return null;
  if (member.state !== "in") {
    goWithout(log, member, now);
    return null;
  }
  const done = leave(log, member, undefined, now);
  return "error" in done ? null : done.replaced;
};

/**
 * Whether there is something to tell all others, and to whom there is when not; the picture of a group that went with its
 * last member.
 */
type Departure = Departed & { hasChanged: boolean; readers: readonly Member[] };

export const depart = (log: ConversationLog, member: Member, now: number): Departure => {
  const before = log.group?.roster;
  const replaced = isOfGroup(log) ? departFromGroup(log, member, now) : null;
  const hasChanged = isOfGroup(log) ? log.group.roster !== before : departFromPair(log, member);
  return { hasChanged, readers: unsign(log, member.user), replaced };
};
