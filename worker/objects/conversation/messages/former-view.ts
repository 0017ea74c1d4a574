import { createTombstone, getEditNumber, isEditableBody, withText } from "#contract/messages/body.ts";
import { fromBodyColumns, toBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isFormerReader } from "#worker/objects/conversation/log/memberships.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";

/** Revision up to which a reader sees reactions: for a former member that of the end of the membership. */
export const findLastVisibleRevision = (member: Member): number =>
  isFormerReader(member) ? (member.kept?.revision ?? 0) : Number.MAX_SAFE_INTEGER;

/**
 * Stored message as a reader may see it. A former member sees the text of the end of their membership, never a later
 * edit: if that text was purged, nothing of the message. Deletions and the anonymization of authors are for everybody.
 */
export const toReadableRow = (log: ConversationLog, member: Member, row: MessageRecord): MessageRecord => {
  const { kept } = member;
  if (!isFormerReader(member) || !kept || row.revision <= kept.revision) return row;
  const body = fromBodyColumns(row.kind, row.body);
  // They may not know the member who deleted it.
  if (body.type === "deleted") return { ...row, ...toBodyColumns(createTombstone(undefined)) };
  if (!isEditableBody(body) || getEditNumber(body) === 0) return row;
  const before = log.earlierTexts.findReplacedSince(row.seq, kept.at);
  const readable = before ? withText(body, before.text, before.number) : ({ type: "withheld" } as const);
  return { ...row, ...toBodyColumns(readable), shown: null };
};
