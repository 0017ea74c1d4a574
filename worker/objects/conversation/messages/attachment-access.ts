import type { Uuid } from "#contract/ids.ts";
import { findAttachment, type StoredBody } from "#contract/messages/body.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isVisibleSeq } from "#worker/objects/conversation/log/memberships.ts";
import { type MessageRecord, readBodyFor } from "#worker/objects/conversation/log/message-table.ts";
import { toReadableRow } from "./former-view.ts";

/** Whether a member may read the file of a message. Authors keep their own files after the connection has ended. */
const canReadAttachment = (log: ConversationLog, member: Member, row: MessageRecord): boolean => {
  if (!isVisibleSeq(member, log.head, row.seq)) return false;
  return row.sender === member.number || (log.sharesFiles && row.withheld === 0);
};

/** Whether a message that this member can see references the file. */
export const isFileReadable = (log: ConversationLog, member: Member, file: Uuid): boolean => {
  const rows = log.sql.exec<MessageRecord>(
    "SELECT messages.* FROM attachments JOIN messages USING (seq) WHERE file = ?",
    file,
  );
  for (const row of rows) if (canReadAttachment(log, member, row)) return true;
  return false;
};

/** A message that this member may forward, and its author. Undefined if there is none. */
export const findForwardOriginal = (
  log: ConversationLog,
  member: Member,
  seq: number,
): { body: StoredBody; author: Uuid } | undefined => {
  const found = log.findVisible(member, seq);
  const row = found && toReadableRow(log, member, found);
  const author = row && log.members.findByNumber(row.sender);
  if (!row || !author || messageKinds[row.kind].nature !== "content" || (row.withheld > 0 && author !== member))
    return undefined;
  const body = readBodyFor(row, member);
  return findAttachment(body) && !canReadAttachment(log, member, row) ? undefined : { body, author: author.user };
};
