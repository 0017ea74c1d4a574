import { anonymousForward } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { fromBodyColumns, toBodyColumns } from "#worker/objects/conversation/log/message-codec.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";

/** What was passed on, and by whom it was written first, when that is somebody whose account is gone. */

/** Messages that name somebody as the one who wrote them first. In JSON no text of a message can look like that. */
const listForwardsOf = (log: ConversationLog, author: Uuid): MessageRecord[] =>
  log.sql
    .exec<MessageRecord>(
      "SELECT * FROM messages WHERE kind IN ('forwarded', 'image', 'file', 'voice') AND instr(body, ?) > 0 ORDER BY seq",
      `"by":"${author}"`,
    )
    .toArray();

/** Takes the name out of all that was passed on of somebody's, within the caller's transaction. Returns those who see it. */
export const anonymizeForwardsOf = (log: ConversationLog, author: Uuid): readonly Member[] => {
  const rows = listForwardsOf(log, author);
  const { revision } = log;
  log.addRevisions(rows.length);
  for (const [index, row] of rows.entries()) {
    const body = { ...fromBodyColumns(row.kind, row.body), forwarded: anonymousForward };
    log.messages.replace({ ...row, ...toBodyColumns(body), revision: revision + 1 + index });
  }
  if (rows.some(({ withheld }) => withheld === 0)) return log.members.present;
  return log.members.present.filter(({ number }) => rows.some(({ sender }) => sender === number));
};

/** A message that was stored with another name than its device gave with it, or none: its author's devices have yet to hear that. */
export const reviseForAuthor = (log: ConversationLog, seq: number): void => {
  const row = log.messages.find(seq);
  if (!row) return;
  log.addRevisions(1);
  log.messages.replace({ ...row, revision: log.revision });
};
