import { type InboxRow, mergeMarks, type StoredBody } from "#contract/conversations.ts";
import { restoreWindowMs } from "#contract/limits.ts";
import type { PageResult } from "#contract/wire/commands.ts";
import type { ConversationRow, MessageRow, OutboxRow } from "#sync/store/database.ts";
import { noteWithdrawn } from "#sync/store/pending-deletion-rows.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import type { Workspace } from "./apply-transaction.ts";
import { isOther, newestPlace } from "./log-forks.ts";
import type { PageAsked } from "./page-request.ts";

const resentMax = 500; // messages; they may be in the log after all, below the page that was read

/** Whether the log a page is of and the one held here are the same as far as that reaches. */
const isSameLog = async (work: Workspace, row: ConversationRow, page: PageResult): Promise<boolean> => {
  if (page.epoch !== row.epoch || page.head < row.hi) return false;
  const last = row.lo <= row.hi ? await work.store.messages.get([row.id, row.hi]) : undefined;
  return last === undefined || page.anchor === null || page.anchor === last.at;
};

const isWritten = ({ type }: StoredBody): boolean => ["text", "image", "file", "voice"].includes(type);

/** Adds what was told of the row while it was marked. `isAnew`: the log held was found to be the server's. */
const addTold = async (
  work: Workspace,
  row: ConversationRow,
  told: InboxRow | undefined,
  isAnew: boolean,
): Promise<void> => {
  const mine = row.forked?.mine;
  delete row.forked;
  if (told) await work.addRow(told, isAnew, isAnew);
  if (!told || !mine) return;
  const now = await work.row(row.id);
  await work.count(now, mine);
  Object.assign(now, mergeMarks(now, mine));
};

/** Own messages held after a place that are not on the page and lately were in the log, oldest first. */
const listMissing = async (
  work: Workspace,
  row: ConversationRow,
  after: number,
  page: PageResult,
): Promise<MessageRow[]> => {
  const { clock } = work;
  const isThere = new Set(page.messages.flatMap(({ cid }) => cid ?? []));
  const { skew } = await readCursor(work.store);
  const since = clock + skew - restoreWindowMs;
  const own = await work.store
    .range(row.id, after + 1)
    .filter(
      ({ mine, cid, at, body }) =>
        mine === 1 && cid !== undefined && !isThere.has(cid) && at > since && isWritten(body),
    )
    .toArray();
  return own.slice(-resentMax);
};

/** Puts messages that the log has lost into the outbox, before whatever waits there. */
const sendAgain = async (work: Workspace, missing: readonly MessageRow[]): Promise<void> => {
  const { outbox } = work.store;
  const first = await outbox.orderBy("order").first();
  const { skew } = await readCursor(work.store);
  const createdAt = work.clock + skew;
  const step = (first?.order ?? missing.length + 1) / (missing.length + 1);
  const rows = missing.flatMap(({ cid, conversation, body }, index): OutboxRow[] =>
    cid === undefined
      ? []
      : [
          {
            cid,
            conversation,
            body: body as OutboxRow["body"],
            order: step * (index + 1),
            createdAt,
            state: "queued",
            attempts: 0,
          },
        ],
  );
  await outbox.bulkPut(rows);
};

/** Own messages that were deleted here and stand in the log again are deleted once more. */
const deleteAgain = async (work: Workspace, row: ConversationRow, page: PageResult): Promise<void> => {
  const held = await work.store.messages.bulkGet(page.messages.map(({ seq }) => [row.id, seq]));
  for (const [index, { cid, body }] of page.messages.entries()) {
    const before = held[index];
    if (cid === undefined || before?.cid !== cid || before.body.type !== "deleted" || body.type === "deleted") continue;
    await noteWithdrawn(work.store, { cid, conversation: row.id });
    work.forgetWithdrawnList();
  }
};

/**
 * Takes the newest page of a marked row as the log from here on. Returns the row to add the page to and the question it
 * answers then; undefined for a page that was asked for before.
 */
export const settleFork = async (
  work: Workspace,
  row: ConversationRow,
  asked: PageAsked,
  page: PageResult,
): Promise<{ row: ConversationRow; asked: PageAsked } | undefined> => {
  const { forked } = row;
  if (!forked || asked.seq !== newestPlace) return undefined;
  work.hasResent = true;
  await deleteAgain(work, row, page);
  const told = forked.row?.epoch === page.epoch ? forked.row : undefined;
  const question = { ...asked, seq: page.head + 1, head: 0, revised: told?.revision ?? 0 };
  if (await isSameLog(work, row, page)) {
    if (told) Object.assign(row, { revision: told.revision, revised: told.revision });
    await addTold(work, row, told, true);
    row.head = Math.max(row.head, forked.head);
    return { row, asked: question };
  }
  const held = await work.store.messages.bulkGet(page.messages.map(({ seq }) => [row.id, seq]));
  const same = page.messages.filter((message, index) => held[index] && !isOther(held[index], message));
  const common = Math.max(0, ...same.map(({ seq }) => seq));
  const missing = await listMissing(work, row, common, page);
  const fresh = await work.forget(row, page.epoch);
  await sendAgain(work, missing);
  await addTold(work, row, told, false);
  // What was read up to where the logs part was read: the server may know less of that than this device.
  fresh.wantDelivered = Math.min(Math.max(row.wantDelivered, row.delivered), common);
  fresh.wantRead = Math.min(Math.max(row.wantRead, row.read), common);
  fresh.head = Math.max(fresh.head, forked.head);
  return { row: fresh, asked: question };
};
