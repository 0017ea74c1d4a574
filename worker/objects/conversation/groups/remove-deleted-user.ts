import { toBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";
import { withoutPinsOnlyFor } from "#worker/objects/conversation/log/pinned-messages.ts";
import { anonymizeForwardsOf } from "#worker/objects/conversation/messages/forward-authors.ts";
import { removeReactionsOf } from "#worker/objects/conversation/messages/reactions.ts";
import type { UserRemoval } from "#worker/objects/rpc/groups.ts";
import { leaveSilently, leaveWithSuccessor } from "./departures.ts";
import { type GroupLog, isActiveGroup, isGroupLog } from "./group-view.ts";

/**
 * Removal of a deleted account from a conversation. Their messages and member numbers stay for the others. Each step
 * runs within the caller's transaction and is idempotent.
 */

/** Replaces the member's undelivered messages by tombstones and queues their files for release. */
const purgeUndelivered = (log: ConversationLog, { number }: Member): void => {
  const isUndelivered = "withheld > 0 AND sender = ?";
  log.sql.exec(
    `INSERT OR IGNORE INTO releases (cid, file)
     SELECT messages.cid, attachments.file FROM attachments JOIN messages USING (seq) WHERE ${isUndelivered}`,
    number,
  );
  log.sql.exec(`DELETE FROM attachments WHERE seq IN (SELECT seq FROM messages WHERE ${isUndelivered})`, number);
  const rows = log.sql.exec<MessageRecord>(`SELECT * FROM messages WHERE ${isUndelivered}`, number);
  for (const row of rows.toArray()) log.messages.searchIndex.remove(row);
  const { kind, body } = toBodyColumns({ type: "deleted" });
  log.sql.exec(`UPDATE messages SET kind = ?, body = ? WHERE ${isUndelivered}`, kind, body, number);
  log.messages.invalidateCache();
};

/** Closes a private chat. The other member is notified, the removed one is not. */
const removeFromPrivateChat = (log: ConversationLog, member: Member): boolean => {
  if (member.state !== "in") return false;
  purgeUndelivered(log, member);
  if (log.pinned) log.setPinned(withoutPinsOnlyFor(log.pinned, member));
  log.pendingDeletions.clearOf(member);
  log.members.update(member, { state: "quiet" });
  log.addWritabilityChange();
  return true;
};

/** Ends a membership. A deleted account keeps no history. */
const removeFromGroup = (log: GroupLog, member: Member, now: number): string | null => {
  let replaced: string | null = null;
  if (isActiveGroup(log) && member.state !== "in") leaveSilently(log, member, now);
  else if (isActiveGroup(log)) {
    const result = leaveWithSuccessor(log, member, undefined, now);
    replaced = "error" in result ? null : result.replaced;
  }
  if (member.kept) log.members.update(member, { kept: null });
  return replaced;
};

/**
 * Whether all members must be notified, otherwise those who see a changed forward. `replaced`: picture of a group that
 * ended with its last member.
 */
type RemovalChange = UserRemoval & { hasChanged: boolean; readers: readonly Member[] };

export const removeDeletedUser = (log: ConversationLog, member: Member, now: number): RemovalChange => {
  const versionBefore = log.group?.roster;
  const replaced = isGroupLog(log) ? removeFromGroup(log, member, now) : null;
  const hasChanged = isGroupLog(log) ? log.group.roster !== versionBefore : removeFromPrivateChat(log, member);
  const hadReactions = removeReactionsOf(log, member);
  const readers = anonymizeForwardsOf(log, member.user);
  return { hasChanged, readers: hadReactions ? [...new Set([...log.members.active, ...readers])] : readers, replaced };
};
