import { Buffer } from "node:buffer";
import { gapPageRows, pageMaxBytes } from "#contract/limits/conversations.ts";
import type { Message } from "#contract/messages/message.ts";
import type { CommandOf, PageResult } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { SeqRange } from "#worker/objects/conversation/log/memberships.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";
import { toVisibleMessages } from "./visible-messages.ts";

/** Bytes of a message on a page besides its body: seq, time, sender, client id and punctuation. */
const messageOverheadBytes = 60;
/** Size of a message in a page of messages or search results. */
export const bytesOnPage = (row: MessageRecord): number =>
  Buffer.byteLength(JSON.stringify(row.body)) + messageOverheadBytes;

/** Leading rows that fit into a page by size, at least one. */
const takePage = (rows: Iterable<MessageRecord>): MessageRecord[] => {
  const page: MessageRecord[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += bytesOnPage(row);
    if (page.length > 0 && bytes > pageMaxBytes) break;
    page.push(row);
  }
  return page;
};

/** Rows of a page in its direction, from one membership of the member after the other. */
function* selectRows(
  log: ConversationLog,
  ranges: readonly SeqRange[],
  { direction, seq, limit }: Pick<CommandOf<"page">, "direction" | "seq" | "limit">,
): Generator<MessageRecord> {
  let room = limit;
  for (const [first, last] of direction === "after" ? ranges : ranges.toReversed()) {
    if (room <= 0) return;
    const rows =
      direction === "after"
        ? log.sql.exec<MessageRecord>(
            "SELECT * FROM messages WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
            Math.max(seq, first - 1),
            last,
            room,
          )
        : log.sql.exec<MessageRecord>(
            "SELECT * FROM messages WHERE seq < ? AND seq >= ? ORDER BY seq DESC LIMIT ?",
            Math.min(seq, last + 1),
            first,
            room,
          );
    for (const row of rows) {
      room -= 1;
      yield row;
    }
  }
}

/**
 * Page of messages before or after a seq as the member sees them. Seqs have no gaps within a membership, so the last
 * one tells whether there are more.
 */
export const readMessagePage = (log: ConversationLog, member: Member, query: CommandOf<"page">): PageResult => {
  const { direction, seq, limit } = query;
  const head = log.headFor(member);
  const ranges = log.listVisibleRanges(member);
  const rows = takePage(selectRows(log, ranges, { direction, seq, limit }));
  const last = rows.at(-1)?.seq;
  const oldest = ranges[0]?.[0] ?? 0;
  const more = last !== undefined && (direction === "after" ? last < head : last > oldest);
  const messages = toVisibleMessages(log, member, rows);
  return { epoch: log.epoch, head, messages, more };
};

/** Messages after a seq up to the newest the member sees, or undefined if there are too many to push. */
export const readNewMessages = (log: ConversationLog, member: Member, after: number): Message[] | undefined => {
  const head = log.headFor(member);
  const count = head - after;
  if (count <= 0) return [];
  if (count > gapPageRows) return undefined;
  const isRecent = (log.messages.recent[0]?.seq ?? Number.POSITIVE_INFINITY) <= after + 1;
  const found = isRecent
    ? log.messages.recent.filter((row) => row.seq > after && row.seq <= head)
    : log.sql.exec<MessageRecord>("SELECT * FROM messages WHERE seq > ? AND seq <= ? ORDER BY seq", after, head);
  const rows = takePage(found);
  return rows.length < count ? undefined : toVisibleMessages(log, member, rows);
};
