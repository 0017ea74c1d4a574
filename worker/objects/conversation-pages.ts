import { Buffer } from "node:buffer";
import type { CommandOf, PageResult, SearchResult } from "../../contract/commands";
import type { Message } from "../../contract/conversations";
import { gapPageRows, pageMaxBytes, searchResultsMax, searchScanRows } from "../../contract/limits";
import { foldText } from "../../contract/text";
import { type ConversationLog, type Member, type MessageRow, toMessage } from "./conversation-log";

/** What one message adds to a page besides its body: seq, time, sender, client id and their punctuation. */
const messageOverheadBytes = 60;
const bytesOf = (row: MessageRow): number => Buffer.byteLength(JSON.stringify(row.body)) + messageOverheadBytes;

/** Rows from the front as long as they fit, and whether there were more. A page has at least one. */
const fill = (rows: Iterable<MessageRow>, limit: number): { rows: MessageRow[]; more: boolean } => {
  const page: MessageRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += bytesOf(row);
    if (page.length === limit || (page.length > 0 && bytes > pageMaxBytes)) return { rows: page, more: true };
    page.push(row);
  }
  return { rows: page, more: false };
};

/** Messages after or before a place, as far as the member may see them. */
export const readPage = (log: ConversationLog, member: Member, query: CommandOf<"page">): PageResult => {
  const { direction, seq, limit } = query;
  const found =
    direction === "after"
      ? log.sql.exec<MessageRow>(
          "SELECT * FROM messages WHERE seq > ? ORDER BY seq LIMIT ?",
          Math.max(seq, member.hidden),
          limit + 1,
        )
      : log.sql.exec<MessageRow>(
          "SELECT * FROM messages WHERE seq < ? AND seq > ? ORDER BY seq DESC LIMIT ?",
          seq,
          member.hidden,
          limit + 1,
        );
  const { rows, more } = fill(found, limit);
  return { epoch: log.epoch, head: log.head, messages: rows.map((row) => toMessage(row, member)), more };
};

/** What came after a place up to the head, or undefined when that is too much to push. */
export const readNews = (log: ConversationLog, member: Member, after: number): Message[] | undefined => {
  const count = log.head - after;
  if (count <= 0) return [];
  if (count > gapPageRows) return undefined;
  const isRecent = (log.recent[0]?.seq ?? Number.POSITIVE_INFINITY) <= after + 1;
  const found = isRecent
    ? log.recent.filter((row) => row.seq > after)
    : log.sql.exec<MessageRow>("SELECT * FROM messages WHERE seq > ? ORDER BY seq", after);
  const { rows, more } = fill(found, gapPageRows);
  return more ? undefined : rows.map((row) => toMessage(row, member));
};

/**
 * Texts that contain what is looked for, whatever the case and the accents, newest first. One call looks at
 * `searchScanRows` messages at most and says where to go on.
 */
export const searchLog = (log: ConversationLog, member: Member, query: CommandOf<"search">): SearchResult => {
  const needle = foldText(query.query);
  const messages: Message[] = [];
  let last = query.before;
  let scanned = 0;
  let bytes = 0;
  const found = log.sql.exec<MessageRow>(
    "SELECT * FROM messages WHERE seq < ? AND seq > ? ORDER BY seq DESC LIMIT ?",
    query.before,
    member.hidden,
    searchScanRows,
  );
  for (const row of found) {
    scanned += 1;
    if (row.kind === "text" && foldText(row.body).includes(needle)) {
      bytes += bytesOf(row);
      if (messages.length > 0 && bytes > pageMaxBytes) return { messages, before: last };
      messages.push(toMessage(row, member));
    }
    last = row.seq;
    if (messages.length === searchResultsMax) break;
  }
  const isDone = last <= member.hidden + 1 || (scanned < searchScanRows && messages.length < searchResultsMax);
  return { messages, before: isDone ? null : last };
};
