import { Buffer } from "node:buffer";
import { findAttachment, type Message } from "#contract/conversations.ts";
import { messagePageRows } from "#contract/limits.ts";
import type { CommandOf, Refusal, RevisedResult } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { fromBodyColumns, getMessageTraits, toBodyColumns } from "#worker/objects/conversation/log/message-kinds.ts";
import { type MessageRecord, toVisibleMessage } from "#worker/objects/conversation/log/message-table.ts";
import type { ConversationNotice } from "#worker/objects/rpc.ts";

const pushedMax = 20; // changed messages in a notice; devices request the rest
const pushedMaxBytes = 16 * 1024;
const pageMaxBytes = 64 * 1024;

/**
 * `revision` of the deletion. `isNew`: deleted now, not before. `isUndelivered`: the message never reached the other
 * member.
 */
export type TombstoneResult = { revision: number; isNew: boolean; isUndelivered: boolean };

/** Replaces a member's own message by a tombstone within the caller's transaction. Idempotent. */
export const replaceByTombstone = (
  log: ConversationLog,
  member: Member,
  row: MessageRecord | undefined,
): TombstoneResult | Refusal => {
  if (!row) return { error: "message_not_found" };
  const { seq } = row;
  if (row.sender !== member.number || getMessageTraits(row.kind).isSystem) return { error: "not_your_message" };
  const isUndelivered = row.withheld > 0;
  if (row.kind === "deleted") return { revision: row.revision, isNew: false, isUndelivered };
  const { file } = findAttachment(fromBodyColumns(row.kind, row.body)) ?? {};
  log.addRevisions(1);
  log.messages.replace({ ...row, ...toBodyColumns({ type: "deleted" }), revision: log.revision, shown: null });
  log.earlierTexts.deleteOf(seq);
  if (file !== undefined) {
    log.sql.exec("DELETE FROM attachments WHERE file = ? AND seq = ?", file, seq);
    log.sql.exec("INSERT INTO releases (cid, file) VALUES (?, ?)", row.cid, file);
  }
  return { revision: log.revision, isNew: true, isUndelivered };
};

/**
 * Rows changed after a revision in order of their last change, as the member sees them. Recipients see no changes of
 * undelivered messages.
 */
const listRevisedRows = (log: ConversationLog, member: Member, since: number, limit: number): MessageRecord[] =>
  log.sql
    .exec<MessageRecord>(
      `SELECT * FROM messages WHERE revision > 0 AND revision > ? AND seq > ? AND seq <= ? AND (withheld = 0 OR sender = ?)
       ORDER BY revision LIMIT ?`,
      since,
      member.hidden,
      log.headFor(member),
      member.number,
      limit,
    )
    .toArray();

const bytesOfRow = (row: MessageRecord): number => Buffer.byteLength(row.body);

/** Page of changed messages. On the last page `revision` is that of the log. */
export const readRevisionsPage = (log: ConversationLog, member: Member, query: CommandOf<"revised">): RevisedResult => {
  const found = listRevisedRows(log, member, query.since, messagePageRows + 1);
  let bytes = 0;
  const page = found.slice(0, messagePageRows).filter((row, index) => {
    bytes += bytesOfRow(row);
    return index === 0 || bytes <= pageMaxBytes;
  });
  const more = page.length < found.length;
  const revision = more ? (page.at(-1)?.revision ?? log.revision) : log.revision;
  return { epoch: log.epoch, revision, messages: page.map((row) => toVisibleMessage(row, member)), more };
};

/** Messages changed after a revision, or nothing if there are too many to push. */
export const readPushableRevisions = (
  log: ConversationLog,
  member: Member,
  since: number,
): Pick<ConversationNotice, "revised"> => {
  if (since >= log.revision) return {};
  const found = listRevisedRows(log, member, since, pushedMax + 1);
  const bytes = found.reduce((sum, row) => sum + bytesOfRow(row), 0);
  if (found.length > pushedMax || bytes > pushedMaxBytes) return {};
  const messages: Message[] = found.map((row) => toVisibleMessage(row, member));
  return { revised: { since, messages } };
};
