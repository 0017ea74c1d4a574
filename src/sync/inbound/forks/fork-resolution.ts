import type { InboxRow } from "#contract/conversations.ts";
import { gapPageRows } from "#contract/limits/conversations.ts";
import { restoreWindowMs } from "#contract/limits/delivery.ts";
import { withoutEdits, withReply } from "#contract/messages/body.ts";
import { hasContent } from "#contract/messages/kinds.ts";
import type { Message } from "#contract/messages/message.ts";
import { mergeReadStates } from "#contract/messages/positions.ts";
import type { PageResult } from "#contract/wire/commands.ts";
import { applyInboxRow } from "#sync/inbound/apply/apply-inbox-row.ts";
import { type ApplyTransaction, UnsentChangesNeeded } from "#sync/inbound/apply/apply-transaction.ts";
import type { PageRequest } from "#sync/inbound/server-changes.ts";
import type { LocalConversationRow, LocalMessageRow } from "#sync/store/database.ts";
import { changeMessage, listOutbox, listUnsent } from "#sync/unsent/messages.ts";
import { toDeletion, unsentDeletions } from "#sync/unsent/operations.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import { afterNewestSeq, isDifferentMessage } from "./log-forks.ts";

const requeuedMax = 500; // messages; some may be in the log after all, below the fetched page

/** Sequence numbers of a page at which the same message is stored, and those at which another one is. */
const comparePage = async ({ store }: ApplyTransaction, { id }: LocalConversationRow, { messages }: PageResult) => {
  const stored = await store.messages.bulkGet(messages.map(({ seq }) => [id, seq]));
  const isSame = (message: Message, index: number) => stored[index] && !isDifferentMessage(stored[index], message);
  const [same, other] = [messages.filter(isSame), messages.filter((message, n) => stored[n] && !isSame(message, n))];
  return { same: same.map(({ seq }) => seq), different: other.map(({ seq }) => seq) };
};

type PageComparison = Awaited<ReturnType<typeof comparePage>>;

/** Whether a page belongs to the stored log, as far as that reaches. */
const isSameLog = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  page: PageResult,
  { different }: PageComparison,
): Promise<boolean> => {
  if (page.epoch !== row.epoch || page.head < row.storedTo || different.length > 0) return false;
  const last =
    row.storedFrom <= row.storedTo ? await transaction.store.messages.get([row.id, row.storedTo]) : undefined;
  return last === undefined || page.anchor === null || page.anchor === last.at;
};

/**
 * Applies the inbox row that was deferred while the row was forked. `isFullSync`: the stored log turned out to be the
 * server's.
 */
const applyDeferredRow = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  inbox: InboxRow | undefined,
  isFullSync: boolean,
): Promise<void> => {
  const mine = row.forked?.mine;
  delete row.forked;
  if (inbox) await applyInboxRow(transaction, inbox, isFullSync, isFullSync);
  if (!inbox || !mine) return;
  const current = await transaction.loadRow(row.id);
  await transaction.applyUnreadCount(current, mine);
  Object.assign(current, mergeReadStates(current, mine));
};

/** Own recent messages stored after a sequence number and missing on the page, oldest first. */
const listLostMessages = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  after: number,
  page: PageResult,
): Promise<LocalMessageRow[]> => {
  const { startedAt } = transaction;
  const onPage = new Set(page.messages.flatMap(({ cid }) => cid ?? []));
  const { skew } = await transaction.readCursor();
  const since = startedAt + skew - restoreWindowMs;
  const ownMessages = await transaction.store
    .queryMessages(row.id, after + 1)
    .filter(
      ({ mine, cid, at, body }) =>
        mine === 1 && cid !== undefined && !onPage.has(cid) && at > since && hasContent(body),
    )
    .toArray();
  return ownMessages.slice(-requeuedMax);
};

/** Unsent replies to lost messages name the lost message by its client id, if it is sent again, or nothing. */
const listReplyChanges = (
  { unsent, startedAt }: ApplyTransaction,
  row: LocalConversationRow,
  missing: readonly LocalMessageRow[],
  commonSeq: number,
): UnsentChange[] =>
  listUnsent(unsent, row.id).flatMap(({ cid, body: { reply } }) => {
    if (typeof reply !== "number" || reply <= commonSeq) return [];
    const target = missing.find(({ seq }) => seq === reply)?.cid;
    return changeMessage(cid, startedAt, (message) => ({
      ...message,
      body: withReply(message.body, undefined),
      ...(target === undefined ? {} : { replyTo: target }),
    }));
  });

/** Insertion of the messages that the log has lost into the outbox, before all waiting ones. */
const listRequeued = async (
  transaction: ApplyTransaction,
  missing: readonly LocalMessageRow[],
): Promise<UnsentChange[]> => {
  const [first] = listOutbox(transaction.unsent);
  const { skew } = await transaction.readCursor();
  const at = transaction.startedAt;
  const step = (first?.order ?? missing.length + 1) / (missing.length + 1);
  return missing.flatMap(({ cid, conversation, body }, index): UnsentChange[] => {
    if (cid === undefined) return [];
    const row: OutboxRow = {
      ...{ cid, conversation, at },
      body: withoutEdits(body as OutboxRow["body"]),
      order: step * (index + 1),
      createdAt: at + skew,
      state: "queued",
      attempts: 0,
    };
    return [{ table: "outbox", key: cid, change: () => row }];
  });
};

/**
 * Queues the messages that the log has lost again. Throws if the unsent database does not have them yet: they must be
 * there before the log is replaced.
 */
const requeueMessages = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  missing: readonly LocalMessageRow[],
  commonSeq: number,
): Promise<void> => {
  const isQueued = ({ cid }: LocalMessageRow) => cid === undefined || transaction.unsent.find("outbox", cid);
  const lost = missing.filter((message) => !isQueued(message));
  const changes = [
    ...(await listRequeued(transaction, lost)),
    ...listReplyChanges(transaction, row, missing, commonSeq),
  ];
  if (changes.length > 0) throw new UnsentChangesNeeded(changes);
};

/**
 * Queues the deletion of own messages that were deleted here and are in the log again. Throws if the unsent database
 * does not have them yet: they must be there before the page is applied.
 */
const requeueDeletions = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  page: PageResult,
): Promise<void> => {
  const stored = await transaction.store.messages.bulkGet(page.messages.map(({ seq }) => [row.id, seq]));
  const changes = page.messages.flatMap(({ cid, body }, index) => {
    const before = stored[index];
    const isDeletedHere = before?.cid === cid && before?.body.type === "deleted" && body.type !== "deleted";
    if (cid === undefined || !isDeletedHere || unsentDeletions.find(transaction.unsent, { cid })) return [];
    return toDeletion({ cid, conversation: row.id }, transaction.startedAt);
  });
  if (changes.length > 0) throw new UnsentChangesNeeded(changes);
};

/**
 * Resolves a fork with the newest page of the server's log, which is authoritative from here on. Returns the row to
 * apply the page to and the request it then answers; undefined for a page that is not to be applied.
 */
export const resolveFork = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  request: PageRequest,
  page: PageResult,
): Promise<{ row: LocalConversationRow; request: PageRequest } | undefined> => {
  const { forked } = row;
  if (!forked || request.seq !== afterNewestSeq) return undefined;
  transaction.hasPendingWork = true;
  await requeueDeletions(transaction, row, page);
  const inbox = forked.row?.epoch === page.epoch ? forked.row : undefined;
  const answeredRequest = { ...request, seq: page.head + 1, head: 0, revised: inbox?.revision ?? 0 };
  const comparison = await comparePage(transaction, row, page);
  if (await isSameLog(transaction, row, page, comparison)) {
    if (inbox) Object.assign(row, { revision: inbox.revision, revised: inbox.revision });
    await applyDeferredRow(transaction, row, inbox, true);
    row.head = Math.max(row.head, forked.head, page.head);
    // More has arrived than the page holds: what follows the stored messages is fetched as usual.
    const reachesStored = row.storedFrom > row.storedTo || (page.messages[0]?.seq ?? 0) <= row.storedTo + 1;
    return reachesStored || row.head - row.storedTo > gapPageRows ? { row, request: answeredRequest } : undefined;
  }
  // A message sent since is in both logs, after those that differ.
  const forkedAt = Math.min(row.storedTo + 1, ...comparison.different);
  const commonSeq = Math.max(0, ...comparison.same.filter((seq) => seq < forkedAt));
  const missing = await listLostMessages(transaction, row, commonSeq, page);
  await requeueMessages(transaction, row, missing, commonSeq);
  const fresh = await transaction.resetLog(row, page.epoch);
  await applyDeferredRow(transaction, row, inbox, false);
  // Reads before the fork stay valid: the server may know less of them than this device.
  fresh.wantDelivered = Math.min(Math.max(row.wantDelivered, row.delivered), commonSeq);
  fresh.wantRead = Math.min(Math.max(row.wantRead, row.read), commonSeq);
  fresh.head = Math.max(fresh.head, forked.head);
  return { row: fresh, request: answeredRequest };
};
