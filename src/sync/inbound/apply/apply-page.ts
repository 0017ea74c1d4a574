import type { PageResult } from "#contract/wire/commands.ts";
import { resolveFork } from "#sync/inbound/forks/fork-resolution.ts";
import { afterNewestSeq, markForked } from "#sync/inbound/forks/log-forks.ts";
import type { PageRequest } from "#sync/inbound/server-changes.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import type { ApplyTransaction } from "./apply-transaction.ts";

/** Range of sequence numbers a page covers, inclusive: its own messages and those it shows not to exist. */
const toCoveredRange = (
  { direction, seq }: PageRequest,
  page: PageResult,
  row: LocalConversationRow,
): [number, number] => {
  const last = page.messages.at(-1)?.seq;
  if (direction === "after") return [seq + 1, page.more ? (last ?? seq) : Math.max(last ?? seq, page.head)];
  return [page.more ? (last ?? seq) : row.hidden + 1, seq - 1];
};

/**
 * Whether a page belongs to another log than the stored one: recreated, or restored from a copy that lacks known
 * messages.
 */
const isPageOfOtherLog = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  request: PageRequest,
  page: PageResult,
): Promise<boolean> => {
  if ((row.epoch !== "" && page.epoch !== row.epoch) || page.head < request.head) return true;
  const seq = request.anchor ?? request.seq;
  if (page.anchor === null || seq < row.storedFrom || seq > row.storedTo) return false;
  const stored = await transaction.store.messages.get([row.id, seq]);
  return stored !== undefined && stored.at !== page.anchor;
};

/** Applies a page and keeps the stored range contiguous: a page that leaves a gap to older messages replaces them. */
export const applyPage = async (
  transaction: ApplyTransaction,
  sentRequest: PageRequest,
  page: PageResult,
): Promise<void> => {
  let [row, request] = [await transaction.loadRow(sentRequest.conversation), sentRequest];
  if (row.gone) return;
  if (!row.forked && request.seq === afterNewestSeq) request = { ...request, seq: page.head + 1 };
  if (row.forked) {
    const resolved = await resolveFork(transaction, row, request, page);
    if (!resolved) return;
    ({ row, request } = resolved);
  } else if (await isPageOfOtherLog(transaction, row, request, page)) {
    if (row.storedFrom <= row.storedTo) return markForked(transaction, row, page.head);
    row = await transaction.resetLog(row, page.epoch);
    transaction.logResets.push(row.id);
    row.head = page.head;
    return;
  }
  row.epoch = page.epoch;
  row.head = Math.max(row.head, page.head);
  const [from, to] = toCoveredRange(request, page, row);
  if (from > to) return;
  const isAdjacent = from <= row.storedTo + 1 && to >= row.storedFrom - 1;
  if (!isAdjacent && to < row.storedFrom) return; // below a range that was replaced since the request
  if (!isAdjacent) {
    await transaction.store.queryMessages(row.id, 0, from - 1).delete();
    row.storedFrom = from;
    row.storedTo = from - 1;
  }
  await transaction.addMessages(row, page.messages);
  // A revision pushed while the page was in flight may be missing in it: it is fetched again.
  row.revised = Math.min(row.revised, request.revised);
  row.storedFrom = Math.max(Math.min(row.storedFrom, from), row.hidden + 1);
  row.storedTo = Math.max(row.storedTo, to);
  const others = page.messages.filter(
    ({ seq, sender, cid }) => seq <= row.storedTo && !transaction.isOwnMessage(row, { sender, cid }),
  );
  row.wantDelivered = Math.max(row.wantDelivered, ...others.map(({ seq }) => seq));
  await transaction.extendStoredRange(row);
};
