import type { PageResult } from "#contract/wire/commands.ts";
import type { PageRequest } from "#sync/inbound/server-changes.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import type { ApplyTransaction } from "./apply-transaction.ts";
import { afterNewestSeq, confirmLog } from "./log-confirmation.ts";

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

/** Applies a page and keeps the stored range contiguous: a page that leaves a gap to older messages replaces them. */
export const applyPage = async (
  transaction: ApplyTransaction,
  sentRequest: PageRequest,
  page: PageResult,
): Promise<void> => {
  let [row, request] = [await transaction.loadRow(sentRequest.conversation), sentRequest];
  if (row.gone) return;
  if (row.unconfirmed) {
    const confirmed = await confirmLog(transaction, row, request, page);
    if (!confirmed) return;
    ({ row, request } = confirmed);
  } else if (request.seq === afterNewestSeq) request = { ...request, seq: page.head + 1 };
  if (row.epoch !== "" && page.epoch !== row.epoch) {
    if (row.storedFrom <= row.storedTo) {
      row.unconfirmed = {};
      return;
    }
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
