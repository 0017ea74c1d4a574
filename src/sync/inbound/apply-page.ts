import type { PageResult } from "#contract/wire/commands.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import type { ApplyTransaction } from "./apply-transaction.ts";
import { resolveFork } from "./fork-resolution.ts";
import { afterNewestSeq, markForked } from "./log-forks.ts";
import type { PageRequest } from "./server-changes.ts";

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
  work: ApplyTransaction,
  row: LocalConversationRow,
  asked: PageRequest,
  page: PageResult,
): Promise<boolean> => {
  if ((row.epoch !== "" && page.epoch !== row.epoch) || page.head < asked.head) return true;
  const place = asked.held ?? asked.seq;
  if (page.anchor === null || place < row.lo || place > row.hi) return false;
  const held = await work.store.messages.get([row.id, place]);
  return held !== undefined && held.at !== page.anchor;
};

/** Applies a page and keeps the stored range contiguous: a page that leaves a gap to older messages replaces them. */
export const applyPage = async (work: ApplyTransaction, question: PageRequest, page: PageResult): Promise<void> => {
  let [row, asked] = [await work.loadRow(question.conversation), question];
  if (row.gone) return;
  if (!row.forked && asked.seq === afterNewestSeq) asked = { ...asked, seq: page.head + 1 };
  if (row.forked) {
    const settled = await resolveFork(work, row, asked, page);
    if (!settled) return;
    ({ row, asked } = settled);
  } else if (await isPageOfOtherLog(work, row, asked, page)) {
    if (row.lo <= row.hi) return markForked(work, row, page.head);
    row = await work.resetLog(row, page.epoch);
    work.logResets.push(row.id);
    row.head = page.head;
    return;
  }
  row.epoch = page.epoch;
  row.head = Math.max(row.head, page.head);
  const [from, to] = toCoveredRange(asked, page, row);
  if (from > to) return;
  const touches = from <= row.hi + 1 && to >= row.lo - 1;
  if (!touches && to < row.lo) return; // below a range that was replaced since the request
  if (!touches) {
    await work.store.queryMessages(row.id, 0, from - 1).delete();
    row.lo = from;
    row.hi = from - 1;
  }
  await work.addMessages(row, page.messages);
  // A revision pushed while the page was in flight may be missing in it: it is fetched again.
  row.revised = Math.min(row.revised, asked.revised);
  row.lo = Math.max(Math.min(row.lo, from), row.hidden + 1);
  row.hi = Math.max(row.hi, to);
  const others = page.messages.filter(
    ({ seq, sender, cid }) => seq <= row.hi && !work.isOwnMessage(row, { sender, cid }),
  );
  row.wantDelivered = Math.max(row.wantDelivered, ...others.map(({ seq }) => seq));
  await work.extendHeldRange(row);
};
