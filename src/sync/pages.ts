import type { PageResult } from "../../contract/commands";
import type { ConversationId } from "../../contract/ids";
import type { ConversationRow } from "./store";
import type { Workspace } from "./workspace";

/** The question a page answers: messages after or before `seq`, exclusive. `head` and `revised` stood when it was asked. */
export type PageAsked = {
  conversation: ConversationId;
  direction: "after" | "before";
  seq: number;
  head: number;
  revised: number;
};

/** The places a page speaks for, its own messages and what it shows not to exist: inclusive. */
const covered = ({ direction, seq }: PageAsked, page: PageResult, row: ConversationRow): [number, number] => {
  const last = page.messages.at(-1)?.seq;
  if (direction === "after") return [seq + 1, page.more ? (last ?? seq) : Math.max(last ?? seq, page.head)];
  return [page.more ? (last ?? seq) : row.hidden + 1, seq - 1];
};

/** A page of another log than the one held: recreated, or restored from a copy that lacks what was known. */
const isOfAnotherLog = (row: ConversationRow, asked: PageAsked, page: PageResult): boolean =>
  (row.epoch !== "" && page.epoch !== row.epoch) || page.head < asked.head;

/** Takes in a page, keeping what is held in one piece: a page that leaves a hole to older messages replaces them. */
export const applyPage = async (work: Workspace, asked: PageAsked, page: PageResult): Promise<void> => {
  let row = await work.row(asked.conversation);
  if (row.gone) return;
  if (isOfAnotherLog(row, asked, page)) {
    row = await work.forget(row, page.epoch);
    row.head = page.head;
    return;
  }
  row.epoch = page.epoch;
  row.head = Math.max(row.head, page.head);
  const [from, to] = covered(asked, page, row);
  if (from > to) return;
  const touches = from <= row.hi + 1 && to >= row.lo - 1;
  if (!touches && to < row.lo) return; // below a piece that was replaced since it was asked for
  if (!touches) {
    await work.store.range(row.id, 0, from - 1).delete();
    row.lo = from;
    row.hi = from - 1;
  }
  await work.addMessages(row, page.messages);
  // A change that was told while the page was on its way may be missing in it: it is asked for again.
  row.revised = Math.min(row.revised, asked.revised);
  row.lo = Math.max(Math.min(row.lo, from), row.hidden + 1);
  row.hi = Math.max(row.hi, to);
  const others = page.messages.filter(({ seq, sender, cid }) => seq <= row.hi && !work.isOwn(row, { sender, cid }));
  row.wantDelivered = Math.max(row.wantDelivered, ...others.map(({ seq }) => seq));
  await work.advance(row);
};
