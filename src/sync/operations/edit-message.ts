import type { ConversationId } from "#contract/ids.ts";
import { editWindowMs } from "#contract/limits/messages.ts";
import { getEditNumber, isEditableBody, withText } from "#contract/messages/body.ts";
import { keepMentions, withMentions } from "#contract/messages/mentions.ts";
import { cleanText } from "#contract/text.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { parseMessageBody } from "#sync/sending/enqueue.ts";
import { findEditedMessage } from "#sync/sending/pending-replies.ts";
import type { LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { type PendingEdit, toPendingEditKey } from "#sync/store/pending/pending-edits.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";
import { changeMessage } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

/** Shows a text in the list if the message is the newest one. Requires a transaction over the conversations. */
const updatePreview = async (
  store: LocalStore,
  { conversation, seq }: Pick<LocalMessageRow, "conversation" | "seq">,
  body: LocalMessageRow["body"],
): Promise<void> => {
  const row = await store.conversations.get(conversation);
  if (row?.head === seq) await store.conversations.put(Object.assign(row, toPreview(body)));
};

/** Body of a message with another text. Throws a SyncError if the text cannot be stored. */
const toEditedBody = (body: LocalMessageRow["body"], text: string, edited: number): PendingEdit["body"] => {
  if (!isEditableBody(body)) throw new SyncError("message_withdrawn");
  if (body.type === "text" && text === "") throw new SyncError("empty_message");
  return parseMessageBody(withMentions(withText(body, text, edited), keepMentions(body, text)));
};

type EditedItem = Pick<ChatItem, "seq" | "cid">;

/**
 * Stores an edit of an own message that is to be sent. Returns the body of a message that is still unsent. Requires a
 * transaction over `editTables`.
 */
const storeEdit = async (
  store: LocalStore,
  conversation: ConversationId,
  { seq, cid }: EditedItem,
  unsent: OutboxRow | undefined,
  text: string,
  now: number,
): Promise<OutboxRow["body"] | undefined> => {
  const message = unsent ? undefined : await findEditedMessage(store, conversation, seq ?? cid);
  const target = unsent?.cid ?? message?.cid ?? message?.seq;
  if (target === undefined) throw new SyncError("message_not_found");
  const key = toPendingEditKey({ conversation, target });
  const before = (await store.meta.get(key))?.value as PendingEdit | undefined;
  if (unsent) {
    const body = toEditedBody(unsent.body, text, 0);
    if (unsent.state === "awaiting") return body; // the server cannot have it
    // It may be on its way with the former text: the edit follows.
    await store.meta.put({ key, value: { conversation, target, edit: before ? before.edit + 1 : 0, text, body } });
    return body;
  }
  if (message) {
    if (now - message.at > editWindowMs) throw new SyncError("edit_too_late");
    const edit = Math.max(getEditNumber(message.body), before ? before.edit + 1 : 0);
    const body = toEditedBody(message.body, text, edit + 1);
    const isUnchanged = "text" in message.body && (message.body.text ?? "") === text;
    if (isUnchanged && !before) return undefined;
    await store.meta.put({ key, value: { conversation, target, edit, text, body } });
    await updatePreview(store, message, body);
  }
  return undefined;
};

const listEditTables = ({ messages, meta, conversations }: LocalStore) => [messages, meta, conversations];

/**
 * Edits an own message. It shows the new text at once, on this device and offline too. Resolves once the edit is
 * durable; rejects with a SyncError if it is not possible, so that the caller keeps the text.
 */
export const editOwnMessage = async (
  port: SyncPort,
  conversation: ConversationId,
  item: EditedItem,
  typed: string,
): Promise<void> => {
  const context = requireContext(port);
  const text = cleanText(typed);
  const { strict, platform, unsent } = context;
  const { skew } = await readSyncCursor(strict);
  const row = item.cid === undefined ? undefined : unsent.find("outbox", item.cid);
  const body = await retryOnQuotaError(context, () =>
    strict.transaction("rw", listEditTables(strict), () =>
      storeEdit(strict, conversation, item, row, text, platform.now() + skew),
    ),
  );
  if (row && body) {
    const edit = changeMessage(row.cid, platform.now(), (now) => ({ ...now, body, multicastId: undefined }));
    await unsent.changeAll([edit]).catch(() => {
      throw new SyncError("unavailable");
    });
  }
  void platform.deleteFirstViews();
  port.notifyChanged("outbox");
};

/** Discards an edit that the server refused: the message shows the text that the others have. */
export const discardEdit = async (
  port: SyncPort,
  conversation: ConversationId,
  { seq, cid }: EditedItem,
): Promise<void> => {
  const { strict, platform } = requireContext(port);
  await strict.transaction("rw", listEditTables(strict), async () => {
    const message = await findEditedMessage(strict, conversation, seq ?? cid);
    for (const target of [seq, cid])
      if (target !== undefined) await strict.meta.delete(toPendingEditKey({ conversation, target }));
    if (message) await updatePreview(strict, message, message.body);
  });
  void platform.deleteFirstViews();
};
