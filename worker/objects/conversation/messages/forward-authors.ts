import type { Uuid } from "#contract/ids.ts";
import { anonymousForward } from "#contract/messages/body.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import { fromBodyColumns, toBodyColumns, toKindList } from "#worker/objects/conversation/log/body-columns.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";

/** Original authors of stored forwards, and their anonymization after they deleted their account. */

const kindsNamingAuthors = toKindList((kind) => messageKinds[kind].canNameAuthor);

/**
 * Messages that name a user as original author. Quotes inside JSON strings are escaped, so no message text matches the
 * pattern.
 */
const listForwardsOf = (log: ConversationLog, author: Uuid): MessageRecord[] =>
  log.sql
    .exec<MessageRecord>(
      `SELECT * FROM messages WHERE kind IN (${kindsNamingAuthors}) AND instr(body, ?) > 0 ORDER BY seq`,
      `"by":"${author}"`,
    )
    .toArray();

/**
 * Removes a deleted author's name from forwarded messages within the caller's transaction. Returns the members who see
 * a change.
 */
export const anonymizeForwardsOf = (log: ConversationLog, author: Uuid): readonly Member[] => {
  const rows = listForwardsOf(log, author);
  const { revision } = log;
  log.addRevisions(rows.length);
  for (const [index, row] of rows.entries()) {
    const body = { ...fromBodyColumns(row.kind, row.body), forwarded: anonymousForward };
    log.messages.replace({ ...row, ...toBodyColumns(body), revision: revision + 1 + index });
  }
  const { active, formerReaders } = log.members;
  if (rows.some(({ withheld }) => withheld === 0)) return [...active, ...formerReaders];
  return active.filter(({ number }) => rows.some(({ sender }) => sender === number));
};

/** Marks a message as changed because its stored body differs from the one its device sent. */
export const reviseCorrected = (log: ConversationLog, seq: number): void => {
  const row = log.messages.find(seq);
  if (!row) return;
  log.addRevisions(1);
  log.messages.replace({ ...row, revision: log.revision });
};
