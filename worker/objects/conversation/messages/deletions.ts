import { Buffer } from "node:buffer";
import { findAttachment, type Message } from "#contract/conversations.ts";
import { messagePageRows } from "#contract/limits.ts";
import type { CommandOf, Refusal, RevisedResult } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { fromBodyColumns, toBodyColumns } from "#worker/objects/conversation/log/message-codec.ts";
import { type MessageRecord, toVisibleMessage } from "#worker/objects/conversation/log/message-table.ts";
import type { ConversationNotice } from "#worker/objects/rpc.ts";

const pushedMax = 20; // changed messages that a notice carries; a device asks for more
const pushedMaxBytes = 16 * 1024;
const pageMaxBytes = 64 * 1024;

/** Lines that the conversation writes of what happened. */
const isSystemEntry = ({ kind }: MessageRecord): boolean => ["event", "call", "missed"].includes(kind);

/** `revision` is the one it was deleted by; `isWithheld`: the others never had it. */
export type TombstoneResult = { revision: number; isNew: boolean; isWithheld: boolean };

/** Turns a member's own message into a tombstone, within the caller's transaction. Done twice it is still done. */
export const replaceByTombstone = (
  log: ConversationLog,
  member: Member,
  row: MessageRecord | undefined,
): TombstoneResult | Refusal => {
  if (!row) return { error: "message_not_found" };
  const { seq } = row;
  if (row.sender !== member.number || isSystemEntry(row)) return { error: "not_your_message" };
  const isWithheld = row.withheld > 0;
  if (row.kind === "deleted") return { revision: row.revision, isNew: false, isWithheld };
  const { file } = findAttachment(fromBodyColumns(row.kind, row.body)) ?? {};
  log.addRevisions(1);
  log.messages.replace({ ...row, ...toBodyColumns({ type: "deleted" }), revision: log.revision });
  if (file !== undefined) {
    log.sql.exec("DELETE FROM attachments WHERE file = ? AND seq = ?", file, seq);
    log.sql.exec("INSERT INTO releases (cid, file) VALUES (?, ?)", row.cid, file);
  }
  return { revision: log.revision, isNew: true, isWithheld };
};

/**
 * Rows changed after a revision, in the order of their last change, as far as the member sees them. For somebody
 * from whom a message was withheld nothing about it ever changes.
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

/** A page of what was changed. The revision it leads to is the log's own on the last page. */
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

/** What was changed after a revision, when that is little enough to be pushed. */
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
