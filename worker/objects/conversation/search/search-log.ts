import { type Message, searchTextOfBody } from "#contract/conversations.ts";
import { searchResultsMax, searchSliceLength, searchSliceRows } from "#contract/limits.ts";
import { createSearchMatcher, toSearchWords } from "#contract/text.ts";
import type { CommandOf } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { getMessageTraits } from "#worker/objects/conversation/log/message-kinds.ts";
import { type MessageRecord, readBodyFor, toVisibleMessage } from "#worker/objects/conversation/log/message-table.ts";
import { toBlockStart } from "#worker/objects/conversation/log/search-index.ts";
import { bytesOnPage } from "#worker/objects/conversation/messages/history.ts";
import type { SearchBudget, SearchSlice } from "#worker/objects/rpc.ts";

/** Searchable text of a message, empty if the member may not see it. */
const searchTextOf = (row: MessageRecord, member: Member): string => {
  const { kind, body, sender, withheld } = row;
  if (!getMessageTraits(kind).isSearchable || (withheld > 0 && sender !== member.number)) return "";
  return kind === "text" ? body : searchTextOfBody(readBodyFor(row, member));
};

/** Oldest message up to which a slice was searched, with its matches. `isCut`: a limit was reached before the end. */
type Scan = { messages: Message[]; last: number; bytes: number; isFull: boolean; isCut: boolean };

/** Examines rows, newest first and at most to this seq, until a limit of the slice or the response is reached. */
const examine = (
  rows: Iterable<MessageRecord>,
  member: Member,
  query: CommandOf<"search">,
  budget: SearchBudget,
  onExamined: (row: MessageRecord) => void,
): Scan => {
  const isMatch = createSearchMatcher(query.query);
  const scan: Scan = { messages: [], last: query.before, bytes: 0, isFull: false, isCut: false };
  let count = 0;
  let length = 0;
  for (const row of rows) {
    const text = searchTextOf(row, member);
    count += 1;
    length += text.length;
    if (text !== "" && isMatch(text)) {
      const rowBytes = bytesOnPage(row);
      const isFirst = scan.messages.length === 0 && budget.messages === searchResultsMax;
      if (!isFirst && scan.bytes + rowBytes > budget.bytes) return { ...scan, isFull: true, isCut: true };
      scan.bytes += rowBytes;
      scan.messages.push(toVisibleMessage(row, member));
    }
    onExamined(row);
    scan.last = row.seq;
    scan.isFull = scan.messages.length >= budget.messages;
    scan.isCut = scan.isFull || count >= searchSliceRows || length >= searchSliceLength;
    if (scan.isCut) break;
  }
  return scan;
};

/**
 * Searches messages newest first, ignoring case and accents. One call examines at most `searchSliceRows` messages and
 * stops after the message that reaches `searchSliceLength` characters. Indexed messages are found by the index, others
 * are read, and indexed if their block is complete. `before` is where to continue. The object serves nobody else during
 * a call.
 */
export const searchLog = (
  log: ConversationLog,
  member: Member,
  query: CommandOf<"search">,
  budget: SearchBudget,
): SearchSlice => {
  const { searchIndex } = log.messages;
  const words = toSearchWords(query.query);
  const newest = Math.min(query.before - 1, log.headFor(member));
  const lowest = member.hidden + 1;
  if (newest < lowest || words.length === 0) return { messages: [], before: null, bytes: 0, isFull: false };
  const isIndexed = searchIndex.has(newest);
  const end = Math.max(lowest, isIndexed ? searchIndex.findRangeStart(newest) : toBlockStart(newest));
  const rows = isIndexed
    ? searchIndex.find<MessageRecord>(words, { from: end, to: newest, limit: searchSliceRows })
    : log.sql.exec<MessageRecord>("SELECT * FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq DESC", end, newest);
  const examined: MessageRecord[] = [];
  const isIndexing = !isIndexed && searchIndex.isNext(newest) && !log.isFull;
  const scan = examine(rows, member, query, budget, (row) => {
    if (isIndexing) examined.push(row);
  });
  if (isIndexing) log.transaction(() => searchIndex.add(examined));
  const last = scan.isCut ? scan.last : end;
  return { messages: scan.messages, before: last <= lowest ? null : last, bytes: scan.bytes, isFull: scan.isFull };
};
