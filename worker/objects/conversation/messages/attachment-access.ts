import { attachmentOf, type StoredBody } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { fromColumns } from "#worker/objects/conversation/log/message-codec.ts";
import type { MessageRow } from "#worker/objects/conversation/log/message-table.ts";

/** Whether a member may have the file of a message now: who wrote it keeps it when the connection has ended. */
const mayHave = (log: ConversationLog, member: Member, row: MessageRow): boolean => {
  if (row.seq <= member.hidden || row.seq > log.headOf(member)) return false;
  return row.sender === member.number || (log.sharesFiles && row.withheld === 0);
};

/** Whether a message that this member may see now names the file. */
export const isNamed = (log: ConversationLog, member: Member, file: Uuid): boolean => {
  const named = log.sql.exec<MessageRow>(
    "SELECT messages.* FROM attachments JOIN messages USING (seq) WHERE file = ?",
    file,
  );
  for (const row of named) if (mayHave(log, member, row)) return true;
  return false;
};

const wordless = ["deleted", "event", "call", "missed"];

/** A message that this member may pass on, and who wrote it; undefined when there is none. */
export const findOriginal = (
  log: ConversationLog,
  member: Member,
  seq: number,
): { body: StoredBody; author: Uuid } | undefined => {
  const row = log.findSeen(member, seq);
  const author = row && log.members.at(row.sender);
  if (!row || !author || wordless.includes(row.kind) || (row.withheld > 0 && author !== member)) return undefined;
  const body = fromColumns(row.kind, row.body);
  return attachmentOf(body) && !mayHave(log, member, row) ? undefined : { body, author: author.user };
};
