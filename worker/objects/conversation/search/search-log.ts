import type { Uuid } from "#contract/ids.ts";
import { searchResultsMax, searchSliceLength, searchSliceRows } from "#contract/limits/search.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import { createSearchMatcher, toSearchWords } from "#contract/text.ts";
import type { CommandOf } from "#contract/wire/commands.ts";
import { createMessageMatcher, type SearchFilter } from "#contract/wire/search-filter.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { type MessageRecord, readBodyFor, toVisibleMessage } from "#worker/objects/conversation/log/message-table.ts";
import { toBlockStart } from "#worker/objects/conversation/log/search-index.ts";
import { toReadableRow } from "#worker/objects/conversation/messages/former-view.ts";
import { bytesOnPage } from "#worker/objects/conversation/messages/history.ts";
import type { SearchBudget, SearchSlice } from "#worker/objects/rpc/messages.ts";

/** Body of a message as a search compares it: a placeholder if the member may not see it. */
const readSearchedBody = (row: MessageRecord, member: Member): StoredBody =>
  row.withheld > 0 && row.sender !== member.number ? { type: "withheld" } : readBodyFor(row, member);

/**
 * Oldest message up to which a slice was searched, with its matches. `count`: examined messages. `isCut`: a limit was
 * reached before the end.
 */
type Scan = { messages: Message[]; last: number; count: number; bytes: number; isFull: boolean; isCut: boolean };

/** Examines at most `limit` rows, newest first, until a limit of the slice or the response is reached. */
const examine = (
  log: ConversationLog,
  rows: Iterable<MessageRecord>,
  member: Member,
  query: CommandOf<"search">,
  budget: SearchBudget,
  limit: number,
): Scan => {
  const isMatch = createMessageMatcher(query.query === "" ? undefined : createSearchMatcher(query.query), query.filter);
  const scan: Scan = { messages: [], last: query.before, count: 0, bytes: 0, isFull: false, isCut: false };
  let length = 0;
  for (const row of rows) {
    const readable = toReadableRow(log, member, row);
    const body = readSearchedBody(readable, member);
    scan.count += 1;
    length += searchTextOfBody(body).length;
    if (isMatch({ sender: row.sender, at: row.at, body })) {
      const rowBytes = bytesOnPage(row);
      const isFirst = scan.messages.length === 0 && budget.messages === searchResultsMax;
      if (!isFirst && scan.bytes + rowBytes > budget.bytes) return { ...scan, isFull: true, isCut: true };
      scan.bytes += rowBytes;
      scan.messages.push(toVisibleMessage(readable, member));
    }
    scan.last = row.seq;
    scan.isFull = scan.messages.length >= budget.messages;
    scan.isCut = scan.isFull || scan.count >= limit || length >= searchSliceLength;
    if (scan.isCut) break;
  }
  return scan;
};

type SeqRange = { lowest: number; newest: number };

/** Seq of the first message of a range that was sent at this time or later. Times never decrease. */
const findFirstSince = ({ sql }: ConversationLog, time: number, { lowest, newest }: SeqRange): number => {
  let [from, to] = [lowest, newest + 1];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const { at } = sql.exec<{ at: number }>("SELECT at FROM messages WHERE seq = ?", middle).one();
    if (at < time) from = middle + 1;
    else to = middle;
  }
  return from;
};

/** Part of a range that was sent within the times of a filter. */
const cutToTimes = (log: ConversationLog, range: SeqRange, { after, before }: SearchFilter): SeqRange => {
  const lowest = after === undefined ? range.lowest : findFirstSince(log, after, range);
  const newest = before === undefined ? range.newest : findFirstSince(log, before, { ...range, lowest }) - 1;
  return { lowest, newest };
};

const nothing: SearchSlice = { messages: [], before: null, bytes: 0, rows: 0, isLast: false };

/**
 * Searches messages newest first, ignoring case and accents. One call examines at most `searchSliceRows` messages and
 * stops after the message that reaches `searchSliceLength` characters. Indexed messages are found by the index, others
 * are read. `before` is where to continue. The object serves nobody else during a call.
 */
export const searchLog = (
  log: ConversationLog,
  member: Member,
  query: CommandOf<"search">,
  budget: SearchBudget,
): SearchSlice => {
  const { searchIndex } = log.messages;
  const { filter = {} } = query;
  const words = toSearchWords(query.query);
  if (query.query !== "" && words.length === 0) return nothing;
  const ranges = log.listVisibleRanges(member);
  const range = ranges.findLast(([first]) => first < query.before);
  if (!range) return nothing;
  const [oldest, highest] = range;
  const visible = { lowest: oldest, newest: Math.min(query.before - 1, highest) };
  const { lowest, newest } = cutToTimes(log, visible, filter);
  const isLastRange = range === ranges[0] || lowest > oldest;
  if (newest < lowest) return isLastRange ? nothing : { ...nothing, before: oldest };
  const isIndexed = searchIndex.has(newest) && searchIndex.canFind(words, filter);
  const end = Math.max(lowest, isIndexed ? searchIndex.findRangeStart(newest) : toBlockStart(newest));
  const rowsPerMessage = isIndexed ? 2 : 1; // an indexed message is read in the index too
  const limit = Math.min(searchSliceRows, Math.ceil(budget.rows / rowsPerMessage));
  const rows = isIndexed
    ? searchIndex.find<MessageRecord>(words, filter, { from: end, to: newest, limit })
    : log.sql.exec<MessageRecord>("SELECT * FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq DESC", end, newest);
  const scan = examine(log, rows, member, query, budget, limit);
  const last = scan.isCut ? scan.last : end;
  const isDone = last <= lowest && isLastRange;
  const { messages, bytes, count, isFull } = scan;
  return { messages, before: isDone ? null : last, bytes, rows: count * rowsPerMessage, isLast: isFull };
};

/** Searches the messages of one person, who may have left. Nothing is found if they never were a member. */
export const searchLogOfSender = (
  log: ConversationLog,
  member: Member,
  { filter, ...query }: CommandOf<"search">,
  ...[budget, sender]: [SearchBudget, Uuid]
): SearchSlice => {
  const from = log.members.find(sender)?.number;
  return from === undefined ? nothing : searchLog(log, member, { ...query, filter: { ...filter, from } }, budget);
};
