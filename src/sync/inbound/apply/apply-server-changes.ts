import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import { announceDraft } from "#sync/inbound/announce-draft.ts";
import { purgeDeletedPerson } from "#sync/inbound/data-purge.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import type { LocalConversationRow, PersonRow } from "#sync/store/database.ts";
import { saveOwnRelation } from "#sync/store/own-profile-row.ts";
import { toPersonRow } from "#sync/store/row-mapping.ts";
import { insertSecurityNotice } from "#sync/store/security-notice-rows.ts";
import { storeServerSettings } from "#sync/store/settings-rows.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { addGap, type SyncCursor } from "#sync/store/sync-cursor.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import { applyConversationChange, applyRowAnswer, applySent } from "./apply-conversation-changes.ts";
import { applyInboxRow } from "./apply-inbox-row.ts";
import { applyPage } from "./apply-page.ts";
import { ApplyTransaction, UnsentChangesNeeded } from "./apply-transaction.ts";
import { releaseLog } from "./log-confirmation.ts";

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
  /** Whether this person is no member of a group any more. */
  hasLeftGroups: boolean;
  /** Whether something shown before was deleted or changed. */
  hasReplacedContent: boolean;
  /** Messages or deletions were queued again, or flags of messages have to be fetched. */
  hasPendingWork: boolean;
  unsentChanges: readonly UnsentChange[];
  cursor: SyncCursor;
};

/** Applies one change. Returns false if this device does not know its conversation. */
const applyChange = async (transaction: ApplyTransaction, change: ServerChange): Promise<boolean> => {
  switch (change.type) {
    case "row":
      await applyInboxRow(transaction, change.row);
      return true;
    case "person": {
      const { profile } = change.relation;
      if (profile.id === transaction.me) {
        await saveOwnRelation(transaction.store, change.relation);
        return true;
      }
      const stored = await transaction.store.people.get(profile.id);
      await transaction.store.people.put({ ...toPersonRow(change.relation), told: (stored?.told ?? 0) + 1 });
      transaction.hasReplacedContent ||= isRelationChanged(stored, change.relation);
      if (profile.deleted) await purgeDeletedPerson(transaction, profile.id);
      return true;
    }
    case "relation": {
      // A push since the request may be newer than the answer.
      const stored = await transaction.store.people.get(change.relation.profile.id);
      const pushCount = stored?.told ?? 0;
      if (pushCount !== change.pushCount) return true;
      await transaction.store.people.put({ ...toPersonRow(change.relation), told: pushCount });
      transaction.hasReplacedContent ||= isRelationChanged(stored, change.relation);
      return true;
    }
    case "settings":
      await storeServerSettings(transaction.store, change.kept);
      return true;
    case "notice":
      await insertSecurityNotice(transaction.store, change.notice);
      return true;
    case "draftHead":
      await announceDraft(transaction, change.head);
      return true;
    case "draft":
      await announceDraft(transaction, change.change, change);
      return true;
    case "sent":
      await applySent(transaction, change);
      return true;
    case "page":
      await applyPage(transaction, change.request, change.page);
      return true;
    case "noLog":
      await releaseLog(transaction, change.conversation);
      return true;
    case "cleared":
    case "muted":
      await applyRowAnswer(transaction, change);
      return true;
    case "cursor":
      await advanceCursor(transaction, change);
      return true;
    case "answer":
      if (isStaleAnswer(await transaction.readCursor(), change)) return true;
      await advanceCursor(transaction, change);
      for (const nested of change.changes) await applyChange(transaction, nested);
      return true;
    default:
      return applyConversationChange(transaction, change);
  }
};

/** Whether the chat with a person may be shown differently, such as after a block. */
const isRelationChanged = (before: PersonRow | undefined, { state, blocked }: Relation): boolean =>
  before !== undefined && (before.state !== state || before.blocked !== (blocked ? 1 : 0));

/** Updates the cursor. The first one of another inbox makes everything stored unconfirmed. */
const advanceCursor = async (
  transaction: ApplyTransaction,
  { move }: { move: (cursor: SyncCursor) => SyncCursor },
): Promise<void> => {
  const before = await transaction.readCursor();
  const after = move(before);
  if (before.epoch !== "" && after.epoch !== before.epoch) await leaveInbox(transaction);
  await transaction.writeCursor(after);
};

/**
 * Whether newer changes were applied while the answer was in flight. Such an answer is discarded and requested again.
 */
const isStaleAnswer = (
  cursor: SyncCursor,
  { knownCounter, epoch, counter }: Extract<ServerChange, { type: "answer" }>,
): boolean => cursor.epoch === epoch && counter >= knownCounter && counter < cursor.counter;

/** Discards all handles, which may stand for other conversations in another inbox, and makes stored logs unconfirmed. */
const leaveInbox = async (transaction: ApplyTransaction): Promise<void> => {
  for (const id of (await transaction.store.conversations.toCollection().primaryKeys()) as ConversationId[]) {
    const row = await transaction.loadRow(id);
    delete row.handle;
    if (row.storedFrom <= row.storedTo) row.unconfirmed ??= {};
  }
};

/**
 * Applies changes in one transaction, all or none. Changes of an unknown conversation leave a gap in the cursor and are
 * fetched again.
 */
export const applyInTransaction = (
  { store, unsent, me }: Pick<SyncContext, "store" | "unsent" | "me">,
  changes: readonly ServerChange[],
  now = Date.now(),
): Promise<ApplyResult> =>
  store.transaction("rw", store.inboundTables, async (tables) => {
    const transaction = new ApplyTransaction(store.bindTo(tables), unsent, me, now);
    const cursorBefore = await transaction.readCursor();
    let isComplete = true;
    for (const change of changes) isComplete = (await applyChange(transaction, change)) && isComplete;
    if (!isComplete) await transaction.writeCursor(addGap(await transaction.readCursor(), cursorBefore.counter));
    await transaction.flush();
    const { touchedRows, logResets, needsLogCheck, sentIds, hasPendingWork } = transaction;
    const { orphanedFiles, orphanedPictureOwners, hasLeftGroups, hasReplacedContent, unsentChanges } = transaction;
    const rows = [...touchedRows.values()];
    return {
      rows,
      logResets,
      needsLogCheck,
      sentIds,
      orphanedFiles,
      orphanedPictureOwners,
      hasLeftGroups,
      hasReplacedContent,
      hasPendingWork,
      unsentChanges,
      cursor: await transaction.readCursor(),
    };
  });

/**
 * Deletes the files and pictures that no message, group or person refers to any more, and the first views that may show
 * something of what was deleted or changed, or a message field in a group that was left.
 */
export const deleteOrphans = (
  context: SyncContext,
  {
    orphanedFiles,
    orphanedPictureOwners,
    hasLeftGroups,
    hasReplacedContent,
  }: Pick<ApplyResult, "orphanedFiles" | "orphanedPictureOwners" | "hasLeftGroups" | "hasReplacedContent">,
): void => {
  if (orphanedFiles.length > 0) runInBackground(context, deleteCachedFiles(context, orphanedFiles));
  const hasOrphans = orphanedPictureOwners.size > 0;
  if (hasOrphans) runInBackground(context, context.platform.deletePictures(orphanedPictureOwners));
  if (hasOrphans || hasLeftGroups || hasReplacedContent) void context.platform.deleteFirstViews();
};

/**
 * Makes the changes of unsent data that follow from what was applied. One that is lost, because the page ends before its
 * commit, is made again: the message is sent once more under its client id, and the server answers with its place.
 */
export const settleUnsent = ({ unsent }: SyncContext, { unsentChanges }: ApplyResult): void =>
  void unsent.changeAll(unsentChanges).catch(() => undefined);

/** Runs a transaction, and again after the changes of unsent data that it needs first. */
const runAfterUnsent = async <T>(context: SyncContext, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof UnsentChangesNeeded)) throw error;
    await context.unsent.changeAll(error.changes).catch(() => undefined); // the image and the journal have them
    return runAfterUnsent(context, run);
  }
};

/**
 * Applies server changes to the local database and deletes the files and pictures they orphaned. Changes that fail here
 * can be fetched again.
 */
export const applyServerChanges = async (
  context: SyncContext,
  changes: readonly ServerChange[],
): Promise<ApplyResult> => {
  try {
    const applied = await runAfterUnsent(context, () =>
      retryOnQuotaError(context, () => applyInTransaction(context, changes, context.platform.now())),
    );
    settleUnsent(context, applied);
    deleteOrphans(context, applied);
    return applied;
  } catch (error) {
    if (!isQuotaError(error)) context.reportStoreFailure(error);
    throw error;
  }
};
