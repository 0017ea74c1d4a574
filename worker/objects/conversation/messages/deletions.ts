import { createTombstone, findAttachment, type Tombstone } from "#contract/messages/body.ts";
import { mayDeleteMessage } from "#contract/messages/deletion.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { fromBodyColumns, toBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";
import { withoutDeletedPin } from "#worker/objects/conversation/log/pinned-messages.ts";

/**
 * `revision` and tombstone of the deletion of the message `seq`. `isNew`: deleted now, not before. `isUndelivered`: the
 * message never reached the other member.
 */
export type TombstoneResult = {
  seq: number;
  revision: number;
  tombstone: Tombstone;
  isNew: boolean;
  isUndelivered: boolean;
};

/** Result of a deletion as devices receive it. */
export const toDeletionResult = ({
  revision,
  tombstone: { by },
}: TombstoneResult): { revision: number; by?: number } => (by === undefined ? { revision } : { revision, by });

/** Whether a member may delete a message for everyone. Nobody may delete what the conversation itself wrote. */
const mayDelete = (log: ConversationLog, member: Member, { sender, kind }: MessageRecord): boolean =>
  messageKinds[kind].nature !== "system" &&
  mayDeleteMessage(sender === member.number, log.group === null ? undefined : member.role);

/**
 * Replaces a message by a tombstone within the caller's transaction. If it is of another member, a system message names
 * both. Idempotent.
 */
export const replaceByTombstone = (
  log: ConversationLog,
  member: Member,
  row: MessageRecord | undefined,
  now = Date.now(),
): TombstoneResult | Refusal => {
  if (!row) return { error: "message_not_found" };
  const { seq } = row;
  if (!mayDelete(log, member, row)) return { error: "not_your_message" };
  const isUndelivered = row.withheld > 0;
  const body = fromBodyColumns(row.kind, row.body);
  if (body.type === "deleted") return { seq, revision: row.revision, tombstone: body, isNew: false, isUndelivered };
  const { file } = findAttachment(body) ?? {};
  const tombstone = createTombstone(row.sender === member.number ? undefined : member.number);
  log.addRevisions(1);
  log.messages.replace({ ...row, ...toBodyColumns(tombstone), revision: log.revision, shown: null });
  log.earlierTexts.deleteOf(seq);
  log.reactions.deleteOf(seq);
  log.setPinned(withoutDeletedPin(log.pinned, seq, now));
  if (file !== undefined) {
    log.sql.exec("DELETE FROM attachments WHERE file = ? AND seq = ?", file, seq);
    log.sql.exec("INSERT INTO releases (cid, file) VALUES (?, ?)", row.cid, file);
  }
  if (row.sender !== member.number)
    log.append(member.number, crypto.randomUUID(), { type: "event", event: "deleted", who: [row.sender] }, now);
  return { seq, revision: log.revision, tombstone, isNew: true, isUndelivered };
};
