import { mergeReadStates } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";
import { saveOwnProfile } from "#sync/store/own-profile-row.ts";
import { raisePeerReadState, toOwnMessage, toPeerNumber, toPersonRow } from "#sync/store/row-mapping.ts";
import { insertSecurityNotice } from "#sync/store/security-notice-rows.ts";
import { mergeServerSettings, updateSettingsRow } from "#sync/store/settings-rows.ts";
import { deleteCachedFiles, isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { addGap, readSyncCursor, type SyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { applyPage } from "./apply-page.ts";
import { ApplyTransaction } from "./apply-transaction.ts";
import { hasDifferentMessage, markForked } from "./log-forks.ts";
import type { ConversationKey, ServerChange } from "./server-changes.ts";

/** Result of applying changes: the touched rows and the follow-up work. */
export type ApplyResult = {
  rows: LocalConversationRow[];
  logResets: ConversationId[];
  needsLogCheck: ConversationId[];
  sentIds: Uuid[];
  /** Files whose messages were deleted. */
  orphanedFiles: Uuid[];
  /** Groups and people whose cached pictures are not shown anywhere any more. */
  orphanedPictureOwners: ReadonlySet<Uuid>;
  /** Messages or deletions were queued again. */
  hasRequeued: boolean;
  cursor: SyncCursor;
};

/** Moves an acknowledged message from the outbox into the stored log. */
const applySent = async (
  transaction: ApplyTransaction,
  change: Extract<ServerChange, { type: "sent" }>,
): Promise<void> => {
  const row = await transaction.loadRow(change.conversation);
  const { seq, at, cid, epoch } = change;
  const isOfOtherEpoch = epoch !== undefined && row.epoch !== "" && row.epoch !== epoch;
  const acknowledged = {
    seq,
    at,
    cid,
    sender: toOwnMessage(row, transaction.me, { cid, seq, at, body: { type: "deleted" } }).sender,
  };
  // The message stays in the outbox until its log is stored.
  if (
    !row.gone &&
    (row.forked || isOfOtherEpoch || (await hasDifferentMessage(transaction.store, row, [acknowledged])))
  )
    return markForked(transaction, row, seq);
  const unsent = await transaction.store.outbox.get(change.cid);
  transaction.sentIds.push(change.cid);
  if (row.gone) {
    await transaction.store.outbox.delete(change.cid);
    if (unsent) transaction.collectOrphanedFile(unsent);
  } else if (!unsent) {
    // Deleted here while in flight: its log entry is fetched.
    row.head = Math.max(row.head, change.seq);
  } else await transaction.addMessages(row, [toOwnMessage(row, transaction.me, { ...change, body: unsent.body })]);
  await transaction.extendStoredRange(row);
};

/**
 * Whether no push arrived since the request. A push may be newer than the answer, and what is newer than a push is
 * pushed as well.
 */
const hasNoNewerPush = (row: LocalConversationRow, pushCount: number): boolean => (row.told ?? 0) === pushCount;

/** Applies the answer to clearing or deleting a conversation for oneself. */
const applyClearedHistory = async (
  transaction: ApplyTransaction,
  { conversation, upTo, keep, pushCount }: Extract<ServerChange, { type: "cleared" }>,
): Promise<void> => {
  const row = await transaction.loadRow(conversation);
  if (row.gone) return;
  if (hasNoNewerPush(row, pushCount)) row.kept = keep;
  if (upTo <= row.hidden) return;
  row.hidden = upTo;
  await transaction.deleteCleared(row);
  row.unread = row.head > upTo ? row.unread : 0;
};

const applyLiveText = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  { seq, at, text }: Extract<ServerChange, { type: "liveText" }>,
): Promise<void> => {
  if (seq <= row.hi) return;
  await transaction.addMessages(row, [
    { seq, at, sender: toPeerNumber(row.id, transaction.me), body: { type: "text", text } },
  ]);
  await transaction.extendStoredRange(row);
};

/** Messages in a change, as far as needed to compare them with stored ones. */
const listChangeMessages = (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  change: Extract<ServerChange, { target: ConversationKey }>,
) => {
  if (change.type === "messages") return change.messages;
  const sender = toPeerNumber(row.id, transaction.me);
  return change.type === "liveText" ? [{ seq: change.seq, at: change.at, sender }] : [];
};

/** Whether the change contains another message than the one stored at its sequence number. */
const isChangeOfOtherLog = (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  change: Extract<ServerChange, { target: ConversationKey }>,
): Promise<boolean> => hasDifferentMessage(transaction.store, row, listChangeMessages(transaction, row, change));

/** Collects changes of a forked conversation in its row until the log they belong to is fetched. */
const deferUntilForkResolved = (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  change: Extract<ServerChange, { target: ConversationKey }>,
): void => {
  const seqs = listChangeMessages(transaction, row, change).map(({ seq }) => seq);
  if (!row.forked || seqs.length > 0) markForked(transaction, row, Math.max(0, ...seqs));
  if (row.forked && change.type === "ownRead") {
    const { delivered, read, unread, head } = change;
    row.forked.mine = { delivered, read, unread, head };
  }
  const { row: inbox } = row.forked ?? {};
  if (inbox && change.type === "peerRead") {
    const others = mergeReadStates({ delivered: inbox.othersDelivered, read: inbox.othersRead }, change);
    Object.assign(inbox, { othersDelivered: others.delivered, othersRead: others.read });
  }
};

/** Applies a change addressed by handle or id. Returns false if this device does not know the conversation. */
const applyConversationChange = async (
  transaction: ApplyTransaction,
  change: Extract<ServerChange, { target: ConversationKey }>,
): Promise<boolean> => {
  const row = await transaction.findRow(change.target);
  if (!row) return false;
  if (row.gone) return true; // after joining again, the whole row arrives first
  if (row.forked || (await isChangeOfOtherLog(transaction, row, change))) {
    deferUntilForkResolved(transaction, row, change);
    return true;
  }
  switch (change.type) {
    case "liveText":
      await applyLiveText(transaction, row, change);
      break;
    case "messages":
      await transaction.addMessages(
        row,
        change.messages.filter(({ seq, cid }) => seq > row.hi || cid !== undefined),
      );
      await transaction.extendStoredRange(row);
      break;
    case "peerRead":
      raisePeerReadState(row, change.delivered, change.read);
      break;
    case "ownRead":
      // A count older than the stored read state is obsolete.
      if (change.read >= row.read && change.delivered >= row.delivered) await transaction.applyUnreadCount(row, change);
      Object.assign(row, mergeReadStates(row, change));
      break;
    case "revised":
      if (change.epoch !== undefined && change.epoch !== row.epoch) break; // of a discarded log
      await transaction.applyRevisions(row, change);
      break;
    case "head":
      row.head = Math.max(row.head, change.head);
  }
  return true;
};

const applyChange = async (transaction: ApplyTransaction, change: ServerChange): Promise<boolean> => {
  switch (change.type) {
    case "row":
      await transaction.applyInboxRow(change.row, change.isFullSync);
      return true;
    case "person": {
      const { profile } = change.relation;
      if (profile.id === transaction.me) {
        await saveOwnProfile(transaction.store, profile);
        return true;
      }
      const stored = await transaction.store.people.get(profile.id);
      await transaction.store.people.put({ ...toPersonRow(change.relation), told: (stored?.told ?? 0) + 1 });
      if (profile.deleted) await transaction.purgeDeletedPerson(profile.id);
      return true;
    }
    case "relation": {
      // A push since the request may be newer than the answer.
      const pushCount = (await transaction.store.people.get(change.relation.profile.id))?.told ?? 0;
      if (pushCount === change.pushCount)
        await transaction.store.people.put({ ...toPersonRow(change.relation), told: pushCount });
      return true;
    }
    case "settings":
      await updateSettingsRow(transaction.store, (row) => mergeServerSettings(row, change.kept));
      return true;
    case "notice":
      await insertSecurityNotice(transaction.store, change.notice);
      return true;
    case "sent":
      await applySent(transaction, change);
      return true;
    case "page":
      await applyPage(transaction, change.request, change.page);
      return true;
    case "cleared":
      await applyClearedHistory(transaction, change);
      return true;
    case "muted": {
      const row = await transaction.loadRow(change.conversation);
      if (!row.gone && hasNoNewerPush(row, change.pushCount)) row.muted = change.muted;
      return true;
    }
    case "cursor":
      await advanceCursor(transaction, change);
      return true;
    case "answer":
      if (isStaleAnswer(await readSyncCursor(transaction.store), change)) return true;
      await advanceCursor(transaction, change);
      for (const nested of change.changes) await applyChange(transaction, nested);
      return true;
    default:
      return applyConversationChange(transaction, change);
  }
};

/** Updates the cursor; handles of another inbox are discarded. */
const advanceCursor = async (
  transaction: ApplyTransaction,
  { move, isFullSync = false }: { move: (cursor: SyncCursor) => SyncCursor; isFullSync?: boolean },
): Promise<void> => {
  const before = await readSyncCursor(transaction.store);
  const after = move(before);
  if (before.epoch !== "" && (isFullSync || after.epoch !== before.epoch)) await clearHandles(transaction);
  await writeSyncCursor(transaction.store, after);
};

/**
 * Whether newer changes were applied while the answer was in flight. Such an answer is discarded and requested again.
 */
const isStaleAnswer = (
  cursor: SyncCursor,
  { knownCounter, epoch, counter }: Extract<ServerChange, { type: "answer" }>,
): boolean => cursor.epoch === epoch && counter >= knownCounter && counter < cursor.counter;

/** Discards all handles: in a recreated inbox a handle may stand for another conversation. */
const clearHandles = async ({ store, touchedRows }: ApplyTransaction): Promise<void> => {
  for (const row of touchedRows.values()) delete row.handle;
  await store.conversations.toCollection().modify((row) => {
    delete row.handle;
  });
};

/**
 * Applies changes in one transaction, all or none. Changes of an unknown conversation leave a gap in the cursor and are
 * fetched again.
 */
export const applyInTransaction = (
  store: LocalStore,
  me: Uuid,
  changes: readonly ServerChange[],
  now = Date.now(),
): Promise<ApplyResult> =>
  store.transaction(
    "rw",
    [
      store.people,
      store.conversations,
      store.messages,
      store.members,
      store.outbox,
      store.uploads,
      store.meta,
      store.recordings,
    ],
    async () => {
      const transaction = new ApplyTransaction(store, me, now);
      const cursorBefore = await readSyncCursor(store);
      let isComplete = true;
      for (const change of changes) isComplete = (await applyChange(transaction, change)) && isComplete;
      if (!isComplete) await writeSyncCursor(store, addGap(await readSyncCursor(store), cursorBefore.counter));
      if (transaction.needsFullResync) await writeSyncCursor(store, addGap(await readSyncCursor(store), 0));
      await transaction.flush();
      const { touchedRows, logResets, needsLogCheck, sentIds, orphanedFiles, orphanedPictureOwners, hasRequeued } =
        transaction;
      const rows = [...touchedRows.values()];
      return {
        rows,
        logResets,
        needsLogCheck,
        sentIds,
        orphanedFiles,
        orphanedPictureOwners,
        hasRequeued,
        cursor: await readSyncCursor(store),
      };
    },
  );

/**
 * Applies server changes to the local database and deletes the files and pictures they orphaned. Changes that fail here
 * can be fetched again.
 */
export const applyServerChanges = async (
  context: SyncContext,
  changes: readonly ServerChange[],
): Promise<ApplyResult> => {
  try {
    const applied = await retryOnQuotaError(context, () =>
      applyInTransaction(context.store, context.me, changes, context.platform.now()),
    );
    if (applied.orphanedFiles.length > 0)
      runInBackground(context, deleteCachedFiles(context.store, applied.orphanedFiles));
    if (applied.orphanedPictureOwners.size > 0)
      runInBackground(context, context.platform.deletePictures(applied.orphanedPictureOwners));
    return applied;
  } catch (error) {
    if (!isQuotaError(error)) context.reportStoreFailure(error);
    throw error;
  }
};
