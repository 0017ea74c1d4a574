import { type InboxRow, mergeReadStates, type StoredBody } from "#contract/conversations.ts";
import { restoreWindowMs } from "#contract/limits.ts";
import type { PageResult } from "#contract/wire/commands.ts";
import type { LocalConversationRow, LocalMessageRow, OutboxRow } from "#sync/store/database.ts";
import { insertPendingDeletion } from "#sync/store/pending-deletions.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { ApplyTransaction } from "./apply-transaction.ts";
import { afterNewestSeq, isDifferentMessage } from "./log-forks.ts";
import type { PageRequest } from "./server-changes.ts";

const requeuedMax = 500; // messages; some may be in the log after all, below the fetched page

/** Whether a page belongs to the stored log, as far as that reaches. */
const isSameLog = async (work: ApplyTransaction, row: LocalConversationRow, page: PageResult): Promise<boolean> => {
  if (page.epoch !== row.epoch || page.head < row.hi) return false;
  const last = row.lo <= row.hi ? await work.store.messages.get([row.id, row.hi]) : undefined;
  return last === undefined || page.anchor === null || page.anchor === last.at;
};

const isUserContent = ({ type }: StoredBody): boolean => ["text", "image", "file", "voice"].includes(type);

/**
 * Applies the inbox row that was deferred while the row was forked. `isAnew`: the stored log turned out to be the
 * server's.
 */
const applyDeferredRow = async (
  work: ApplyTransaction,
  row: LocalConversationRow,
  told: InboxRow | undefined,
  isAnew: boolean,
): Promise<void> => {
  const mine = row.forked?.mine;
  delete row.forked;
  if (told) await work.applyInboxRow(told, isAnew, isAnew);
  if (!told || !mine) return;
  const now = await work.loadRow(row.id);
  await work.applyUnreadCount(now, mine);
  Object.assign(now, mergeReadStates(now, mine));
};

/** Own recent messages stored after a sequence number and missing on the page, oldest first. */
const listLostMessages = async (
  work: ApplyTransaction,
  row: LocalConversationRow,
  after: number,
  page: PageResult,
): Promise<LocalMessageRow[]> => {
  const { startedAt } = work;
  const isThere = new Set(page.messages.flatMap(({ cid }) => cid ?? []));
  const { skew } = await readSyncCursor(work.store);
  const since = startedAt + skew - restoreWindowMs;
  const own = await work.store
    .queryMessages(row.id, after + 1)
    .filter(
      ({ mine, cid, at, body }) =>
        mine === 1 && cid !== undefined && !isThere.has(cid) && at > since && isUserContent(body),
    )
    .toArray();
  return own.slice(-requeuedMax);
};

/** Inserts messages that the log has lost into the outbox, before all waiting ones. */
const requeueMessages = async (work: ApplyTransaction, missing: readonly LocalMessageRow[]): Promise<void> => {
  const { outbox } = work.store;
  const first = await outbox.orderBy("order").first();
  const { skew } = await readSyncCursor(work.store);
  const createdAt = work.startedAt + skew;
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

/** Queues the deletion of own messages that were deleted here and are in the log again. */
const requeueDeletions = async (work: ApplyTransaction, row: LocalConversationRow, page: PageResult): Promise<void> => {
  const held = await work.store.messages.bulkGet(page.messages.map(({ seq }) => [row.id, seq]));
  for (const [index, { cid, body }] of page.messages.entries()) {
    const before = held[index];
    if (cid === undefined || before?.cid !== cid || before.body.type !== "deleted" || body.type === "deleted") continue;
    await insertPendingDeletion(work.store, { cid, conversation: row.id });
    work.invalidatePendingDeletions();
  }
};

/**
 * Resolves a fork with the newest page of the server's log, which is authoritative from here on. Returns the row to
 * apply the page to and the request it then answers; undefined for a page that was requested before the fork.
 */
export const resolveFork = async (
  work: ApplyTransaction,
  row: LocalConversationRow,
  asked: PageRequest,
  page: PageResult,
): Promise<{ row: LocalConversationRow; asked: PageRequest } | undefined> => {
  const { forked } = row;
  if (!forked || asked.seq !== afterNewestSeq) return undefined;
  work.hasRequeued = true;
  await requeueDeletions(work, row, page);
  const told = forked.row?.epoch === page.epoch ? forked.row : undefined;
  const question = { ...asked, seq: page.head + 1, head: 0, revised: told?.revision ?? 0 };
  if (await isSameLog(work, row, page)) {
    if (told) Object.assign(row, { revision: told.revision, revised: told.revision });
    await applyDeferredRow(work, row, told, true);
    row.head = Math.max(row.head, forked.head);
    return { row, asked: question };
  }
  const held = await work.store.messages.bulkGet(page.messages.map(({ seq }) => [row.id, seq]));
  const same = page.messages.filter((message, index) => held[index] && !isDifferentMessage(held[index], message));
  const common = Math.max(0, ...same.map(({ seq }) => seq));
  const missing = await listLostMessages(work, row, common, page);
  const fresh = await work.resetLog(row, page.epoch);
  await requeueMessages(work, missing);
  await applyDeferredRow(work, row, told, false);
  // Reads before the fork stay valid: the server may know less of them than this device.
  fresh.wantDelivered = Math.min(Math.max(row.wantDelivered, row.delivered), common);
  fresh.wantRead = Math.min(Math.max(row.wantRead, row.read), common);
  fresh.head = Math.max(fresh.head, forked.head);
  return { row: fresh, asked: question };
};
