import type { ConversationId } from "#contract/ids.ts";
import { editWindowMs } from "#contract/limits/messages.ts";
import { getEditNumber, isEditableBody, withText } from "#contract/messages/body.ts";
import { keepMentions, withMentions } from "#contract/messages/mentions.ts";
import { cleanText } from "#contract/text.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { parseMessageBody } from "#sync/sending/enqueue.ts";
import { findEditedMessage } from "#sync/sending/pending-replies.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { commitUnsent, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";
import { changeMessage } from "#sync/unsent/messages.ts";
import { edits, type Operation } from "#sync/unsent/operations.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";

/** Shows a text in the list if the message is the newest one. */
const updatePreview = (
  { store }: SyncContext,
  { conversation, seq }: Pick<LocalMessageRow, "conversation" | "seq">,
  body: LocalMessageRow["body"],
): Promise<void> =>
  store.transaction("rw", store.conversations, async () => {
    const row = await store.conversations.get(conversation);
    if (row?.head === seq) await store.conversations.put(Object.assign(row, toPreview(body)));
  });

/** Body of a message with another text. Throws a SyncError if the text cannot be stored. */
const toEditedBody = (body: LocalMessageRow["body"], text: string, edited: number): Operation<"edit">["body"] => {
  if (!isEditableBody(body)) throw new SyncError("message_withdrawn");
  if (body.type === "text" && text === "") throw new SyncError("empty_message");
  return parseMessageBody(withMentions(withText(body, text, edited), keepMentions(body, text)));
};

type EditedItem = Pick<ChatItem, "seq" | "cid">;

/** Changes that edit an unsent message. Throws a SyncError if the text cannot be stored. */
const editUnsent = ({ unsent, platform }: SyncContext, message: OutboxRow, text: string): UnsentChange[] => {
  const { cid, conversation, state } = message;
  const body = toEditedBody(message.body, text, 0);
  const at = platform.now();
  const change = changeMessage(cid, at, (row) => ({ ...row, body, multicastId: undefined }));
  if (state === "awaiting") return [change]; // the server cannot have it
  // It may be on its way with the former text: the edit follows.
  const before = edits.find(unsent, { conversation, target: cid });
  const edit = before ? before.edit + 1 : 0;
  return [change, edits.put({ conversation, target: cid, edit, text, body }, at)];
};

/** Edit of a message of the log; undefined if it changes nothing. Throws a SyncError if that is not possible. */
const editStored = ({ store, unsent, platform }: SyncContext, message: LocalMessageRow, text: string) => {
  const { conversation, cid, seq, body: stored } = message;
  const target = cid ?? seq;
  const at = platform.now();
  if (at + store.skew - message.at > editWindowMs) throw new SyncError("edit_too_late");
  const before = edits.find(unsent, { conversation, target });
  const edit = Math.max(getEditNumber(stored), before ? before.edit + 1 : 0);
  const body = toEditedBody(stored, text, edit + 1);
  const isUnchanged = "text" in stored && (stored.text ?? "") === text;
  if (isUnchanged && !before) return undefined;
  return { body, change: edits.put({ conversation, target, edit, text, body }, at) };
};

/**
 * Edits an own message. It shows the new text at once, on this device and offline too. Resolves once the edit is on the
 * disk, or once that has failed: then it is sent from memory. Rejects with a SyncError if it is not possible, so that
 * the caller keeps the text.
 */
export const editOwnMessage = async (
  port: SyncPort,
  conversation: ConversationId,
  { seq, cid }: EditedItem,
  typed: string,
): Promise<void> => {
  const context = requireContext(port);
  const text = cleanText(typed);
  const waiting = cid === undefined ? undefined : context.unsent.find("outbox", cid);
  if (waiting) await commitUnsent(context, editUnsent(context, waiting, text));
  else {
    const message = await findEditedMessage(context.store, conversation, seq ?? cid);
    if (!message) throw new SyncError("message_not_found");
    const edited = editStored(context, message, text);
    if (edited) {
      await commitUnsent(context, [edited.change]);
      runInBackground(context, updatePreview(context, message, edited.body));
    }
  }
  void context.platform.deleteFirstViews();
  port.notifyChanged("outbox");
};

/** Discards an edit that the server refused: the message shows the text that the others have. */
export const discardEdit = async (
  port: SyncPort,
  conversation: ConversationId,
  { seq, cid }: EditedItem,
): Promise<void> => {
  const context = requireContext(port);
  const targets = [seq, cid].filter((target) => target !== undefined);
  await commitUnsent(
    context,
    targets.map((target) => edits.remove({ conversation, target })),
  );
  const message = await findEditedMessage(context.store, conversation, seq ?? cid);
  if (message) await updatePreview(context, message, message.body);
  void context.platform.deleteFirstViews();
};
