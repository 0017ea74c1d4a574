import type { ConversationId } from "#contract/ids.ts";
import { restoreWindowMs } from "#contract/limits/delivery.ts";
import { withoutEdits, withReply } from "#contract/messages/body.ts";
import { hasContent } from "#contract/messages/kinds.ts";
import type { Message } from "#contract/messages/message.ts";
import type { PageResult } from "#contract/wire/commands.ts";
import type { PageRequest } from "#sync/inbound/server-changes.ts";
import type { LocalConversationRow, LocalMessageRow } from "#sync/store/database.ts";
import { changeMessage, listOutbox, listUnsent } from "#sync/unsent/messages.ts";
import { toDeletion, unsentDeletions } from "#sync/unsent/operations.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import { applyInboxRow } from "./apply-inbox-row.ts";
import { type ApplyTransaction, UnsentChangesNeeded } from "./apply-transaction.ts";

/**
 * Confirmation of a stored log after the server was restored from an earlier copy: it answers with another epoch then,
 * that of the inbox or that of a log. A log is unconfirmed until the newest page of the server's log, which says its
 * epoch, has arrived. Stored messages stay readable until that page replaces them, nothing new is sent in the
 * conversation, and own messages that the server lost are sent again under their client ids.
 */

const requeuedMax = 500; // messages; some may be in the log after all, below the fetched page

/** Sequence number beyond every message: requests the newest page. */
export const afterNewestSeq = Number.MAX_SAFE_INTEGER;

const isSameMessage = (stored: LocalMessageRow, { at, sender, cid }: Message): boolean =>
  stored.at === at && (stored.cid !== undefined && cid !== undefined ? stored.cid === cid : stored.sender === sender);

/**
 * Last sequence number up to which a page shows the stored messages, 0 if it shows none of them. Both logs continue one
 * copy, so they are the same up to there.
 */
const findLastCommonSeq = async (
  { store }: ApplyTransaction,
  { id }: LocalConversationRow,
  { messages }: PageResult,
): Promise<number> => {
  const stored = await store.messages.bulkGet(messages.map(({ seq }) => [id, seq]));
  const same = messages.filter((message, n) => stored[n] && isSameMessage(stored[n], message));
  const different = messages.filter((message, n) => stored[n] && !isSameMessage(stored[n], message));
  const forkedAt = Math.min(...different.map(({ seq }) => seq));
  return Math.max(0, ...same.map(({ seq }) => seq).filter((seq) => seq < forkedAt));
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

/** Ends the wait for a log that the server does not have. What is sent there from now on is refused, and shown so. */
export const releaseLog = async (transaction: ApplyTransaction, id: ConversationId): Promise<void> => {
  delete (await transaction.loadRow(id)).unconfirmed;
  transaction.hasPendingWork = true;
};

/**
 * Confirms a log with its newest page, or replaces it if the server's has another epoch. Returns the row to apply the
 * page to and the request it then answers; undefined for a page that is not to be applied.
 */
export const confirmLog = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  request: PageRequest,
  page: PageResult,
): Promise<{ row: LocalConversationRow; request: PageRequest } | undefined> => {
  if (request.seq !== afterNewestSeq) return undefined;
  const received = row.unconfirmed?.row;
  const inbox = received?.epoch === page.epoch ? received : undefined;
  const answered = { ...request, seq: page.head + 1, head: 0 };
  transaction.hasPendingWork = true;
  if (page.epoch === row.epoch) {
    delete row.unconfirmed;
    if (inbox) await applyInboxRow(transaction, inbox);
    row.head = Math.max(row.head, page.head);
    // A page that does not reach the stored messages would replace them: what is between is fetched as usual.
    const oldest = page.messages.at(-1)?.seq ?? 0;
    return oldest <= row.storedTo + 1 ? { row, request: answered } : undefined;
  }
  await requeueDeletions(transaction, row, page);
  const commonSeq = await findLastCommonSeq(transaction, row, page);
  const missing = await listLostMessages(transaction, row, commonSeq, page);
  await requeueMessages(transaction, row, missing, commonSeq);
  const fresh = await transaction.resetLog(row, page.epoch);
  transaction.logResets.push(row.id);
  if (inbox) await applyInboxRow(transaction, inbox);
  // Reads up to the last common message stay valid: the server may know less of them than this device.
  fresh.wantDelivered = Math.min(Math.max(row.wantDelivered, row.delivered), commonSeq);
  fresh.wantRead = Math.min(Math.max(row.wantRead, row.read), commonSeq);
  return { row: fresh, request: { ...answered, revised: inbox?.revision ?? 0 } };
};
