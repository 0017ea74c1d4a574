import { hasLeftGroup, type InboxRow } from "#contract/conversations.ts";
import { closeLeftGroup, purgeLeftGroup, reopenGroup } from "#sync/inbound/data-purge.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { toOutdatedFlagsKey } from "#sync/store/message-flags.ts";
import { isCountCurrent, mergeInboxRow } from "#sync/store/row-mapping.ts";
import type { ApplyTransaction } from "./apply-transaction.ts";

/** Applies an inbox row. That of an unconfirmed log is kept until its newest page has arrived. */
export const applyInboxRow = async (transaction: ApplyTransaction, inbox: InboxRow): Promise<void> => {
  const { store } = transaction;
  let row = await transaction.loadRow(inbox.conversation);
  if (inbox.gone) delete row.unconfirmed;
  else if (row.unconfirmed || (row.epoch !== "" && row.epoch !== inbox.epoch && row.storedFrom <= row.storedTo)) {
    row.unconfirmed = { row: inbox };
    return;
  }
  if (row.epoch !== "" && row.epoch !== inbox.epoch) {
    row = await transaction.resetLog(row, inbox.epoch);
    transaction.logResets.push(row.id);
  }
  const { hidden: hiddenBefore, open: wasOpen, revision, sender, preview, whole, flagsRevision = 0 } = row;
  const wasFormerMember = hasLeftGroup(row);
  const isCounted = isCountCurrent(row, inbox);
  mergeInboxRow(row, inbox);
  transaction.hasReplacedContent ||= row.revision > revision || row.open !== wasOpen || row.gone;
  if (row.hidden > hiddenBefore) await transaction.deleteCleared(row);
  if (row.gone) return purgeLeftGroup(transaction, row);
  if (wasOpen && hasLeftGroup(row)) {
    transaction.hasLeftGroups = true;
    await closeLeftGroup(transaction, row);
  }
  if (wasFormerMember && row.open) reopenGroup(row);
  if (inbox.flagsRevision !== flagsRevision) {
    await store.meta.put({ key: toOutdatedFlagsKey(row.id), value: true });
    transaction.hasPendingWork = true;
  }
  if (isCounted) await transaction.applyUnreadCount(row, inbox);
  // An own preview has no client id, so it may be a message that is still in this device's outbox.
  const isOwn = inbox.preview !== null && transaction.isOwnMessage(row, inbox);
  if (isOwn && transaction.hasPendingDeletion(row.id)) {
    // It may also be a message that was deleted here. Only the log shows which one it is.
    Object.assign(row, { sender, preview, whole });
    if (row.storedTo < row.head) transaction.needsLogCheck.push(row.id);
  } else if (isNextMessage(row, inbox) && !(isOwn && transaction.listUnsent(row.id).length > 0))
    await storePreview(transaction, row, inbox);
};

/** Whether the preview is a complete message and the only missing one. Storing it saves a request. */
const isNextMessage = (
  { storedTo }: LocalConversationRow,
  inbox: InboxRow,
): inbox is InboxRow & { preview: NonNullable<InboxRow["preview"]> } =>
  inbox.whole && inbox.preview !== null && inbox.head === storedTo + 1;

const storePreview = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  { head, at, sender, preview }: InboxRow & { preview: NonNullable<InboxRow["preview"]> },
): Promise<void> => {
  if (!(await transaction.store.messages.get([row.id, head])))
    await transaction.addMessages(row, [{ seq: head, at, sender, body: preview }]);
  await transaction.extendStoredRange(row);
};
