import { isEditableBody, withText } from "#contract/messages/body.ts";
import { mergeReadStates } from "#contract/messages/positions.ts";
import { toPreview } from "#contract/wire/preview.ts";
import type { ConversationKey, ServerChange } from "#sync/inbound/server-changes.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { raisePeerReadState, toOwnMessage, toPeerNumber, updateMentions } from "#sync/store/row-mapping.ts";
import { isChangeStored } from "#sync/store/sync-cursor.ts";
import type { ApplyTransaction } from "./apply-transaction.ts";

/** Stores an acknowledged message in the log. */
export const applySent = async (
  transaction: ApplyTransaction,
  change: Extract<ServerChange, { type: "sent" }>,
): Promise<void> => {
  const row = await transaction.loadRow(change.conversation);
  const { seq, at, cid, epoch } = change;
  const isOfOtherLog = epoch !== undefined && row.epoch !== "" && row.epoch !== epoch;
  if (!row.gone && (row.unconfirmed || isOfOtherLog)) {
    row.unconfirmed ??= {};
    return; // the message stays in the outbox until its log is stored
  }
  const unsent = transaction.unsent.find("outbox", change.cid);
  const body = unsent?.body ?? change.body;
  transaction.settle(change.cid);
  if (row.gone) {
    if (unsent) transaction.collectOrphanedFile(unsent);
  } else if (!body) {
    // Deleted here while in flight: its log entry is fetched.
    row.head = Math.max(row.head, change.seq);
  } else await transaction.addMessages(row, [toOwnMessage(row, transaction.me, { cid, seq, at, body })]);
  await transaction.extendStoredRange(row);
};

/**
 * Applies the answer to muting a conversation, or to clearing or deleting it for oneself, unless the stored row is as
 * new as the answer. An answer of another inbox cannot be compared; the rows of that inbox contain the change.
 */
export const applyRowAnswer = async (
  transaction: ApplyTransaction,
  answer: Extract<ServerChange, { type: "cleared" | "muted" }>,
): Promise<void> => {
  const cursor = await transaction.readCursor();
  if (cursor.epoch !== answer.change.epoch || isChangeStored(cursor, answer.change.counter)) return;
  const row = await transaction.loadRow(answer.conversation);
  if (row.gone) return;
  if (answer.type === "muted") Object.assign(row, answer.mute);
  else await applyClearedHistory(transaction, row, answer);
};

const applyClearedHistory = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  { upTo, keep }: Extract<ServerChange, { type: "cleared" }>,
): Promise<void> => {
  row.kept = keep;
  if (upTo <= row.hidden) return;
  row.hidden = upTo;
  await transaction.deleteCleared(row);
  row.unread = row.head > upTo ? row.unread : 0;
  updateMentions(row);
};

const applyLiveText = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  { seq, at, text }: Extract<ServerChange, { type: "liveText" }>,
): Promise<void> => {
  if (seq <= row.storedTo) return;
  await transaction.addMessages(row, [
    { seq, at, sender: toPeerNumber(row.id, transaction.me), body: { type: "text", text } },
  ]);
  await transaction.extendStoredRange(row);
};

/** Applies an edit to the stored message and the preview. Without them the message is fetched later. */
const applyLiveEdit = async (
  transaction: ApplyTransaction,
  row: LocalConversationRow,
  { seq, revision, edited, text }: Extract<ServerChange, { type: "liveEdit" }>,
): Promise<void> => {
  const stored = await transaction.store.messages.get([row.id, seq]);
  if (stored && isEditableBody(stored.body)) {
    const message = { ...stored, body: withText(stored.body, text, edited) };
    return transaction.applyRevisions(row, { since: revision - 1, revision, messages: [message] });
  }
  row.revision = Math.max(row.revision, revision);
  transaction.hasReplacedContent = true;
  if (seq === row.head && row.preview && isEditableBody(row.preview))
    Object.assign(row, toPreview(withText(row.preview, text, edited)));
};

/**
 * Applies a change addressed by handle or id. Returns false if this device does not know the conversation, or has not
 * confirmed its log: the row is fetched again.
 */
export const applyConversationChange = async (
  transaction: ApplyTransaction,
  change: Extract<ServerChange, { target: ConversationKey }>,
): Promise<boolean> => {
  const row = await transaction.findRow(change.target);
  if (!row) return false;
  if (row.gone) return true; // after joining again, the whole row arrives first
  if (row.unconfirmed) return false;
  switch (change.type) {
    case "liveText":
      await applyLiveText(transaction, row, change);
      break;
    case "liveEdit":
      await applyLiveEdit(transaction, row, change);
      break;
    case "messages":
      await transaction.addMessages(
        row,
        change.messages.filter(({ seq, cid }) => seq > row.storedTo || cid !== undefined),
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
      updateMentions(row);
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
