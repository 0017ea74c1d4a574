import type { ErrorCode } from "#contract/errors.ts";
import { getEditNumber, isEditableBody } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { findEditedMessage } from "#sync/sending/pending-replies.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { parkText } from "#sync/unsent/draft-row.ts";
import { toDraftChange } from "#sync/unsent/drafts.ts";
import { edits, type Operation } from "#sync/unsent/operations.ts";
import { fetchMessage } from "./fetch-message.ts";

type Edit = Operation<"edit">;

/** Refusals after which there is no message to show the edit at. */
const lostCodes: readonly string[] = ["message_withdrawn", "message_not_found", "conversation_not_found"];

/** Whether this device shows no message with the text of an edit: it was deleted, or the history was cleared. */
const isMessageGone = async (store: LocalStore, { conversation, target }: Edit): Promise<boolean> => {
  const message =
    typeof target === "number"
      ? await store.messages.get([conversation, target])
      : await store
          .queryMessages(conversation, 0)
          .filter(({ cid }) => cid === target)
          .first();
  return !message || isTombstone(message.body);
};

/**
 * Edits that the server may be told now: those of messages that it has. Also refused ones whose message is gone,
 * because nothing shows their words any more.
 */
export const listDueEdits = async ({ store, unsent }: SyncContext): Promise<Edit[]> => {
  const pending = edits.list(unsent);
  const areDue = await Promise.all(
    pending.map((edit) => !unsent.find("outbox", String(edit.target)) && (!edit.error || isMessageGone(store, edit))),
  );
  return pending.filter((_, index) => areDue[index]);
};

/**
 * Sends pending edits. One that the server refuses for good stays on this device until its author decides, or until its
 * message is gone.
 */
export const createEditSender = (context: SyncContext): OperationSender<Edit> => ({
  send: (edit) => (edit.error ? parkWords(context, edit) : sendEdit(context, edit)),
  async handleRefusal(edit, { code }) {
    if (lostCodes.includes(code)) return parkWords(context, edit);
    await refetchMessage(context, edit);
    const { conversation, target, at } = edit;
    const refuse = edits.update({ conversation, target }, at, (row) =>
      row?.at === at ? { ...row, error: code as ErrorCode } : row,
    );
    await commitUnsent(context, [refuse]);
  },
});

/** Parks the words of an edit whose message is gone, above the message field, and ends it, unless it has ended already. */
const parkWords = async (context: SyncContext, pending: Edit): Promise<void> => {
  const { conversation, target, edit, text, at } = pending;
  if (edits.find(context.unsent, pending)?.at !== at) return;
  const words = { id: `edit-${target}-${edit}`, text, target };
  const park = toDraftChange(conversation, (draft) => parkText(draft, words));
  await commitUnsent(context, [...(text === "" ? [] : [park]), edits.end(pending)]);
};

async function sendEdit(context: SyncContext, pending: Edit): Promise<void> {
  const { conversation, target, edit, text, body } = pending;
  const command = { type: "editMessage", conversation, target, edit, text } as const;
  const { revision, edited } = await requestByHttp(context.platform, command);
  const { store } = context;
  const row = await store.conversations.get(conversation);
  const message = await findEditedMessage(store, conversation, target);
  if (row && message && isEditableBody(message.body)) {
    // Otherwise another device has edited the message meanwhile: its present text is fetched.
    const isKnown = edited === Math.max(getEditNumber(message.body), edit) + 1;
    const changed = { ...message, body: { ...body, edited } };
    await applyServerChanges(context, [
      isKnown
        ? { type: "revised", target: conversation, since: revision - 1, revision, messages: [changed] }
        : { type: "revised", target: conversation, since: Number.MAX_SAFE_INTEGER, revision, messages: [] },
    ]);
  }
  await commitUnsent(context, [edits.end(pending)]);
}

/**
 * Stores the message as the server has it. The text of a message that was edited in the outbox may be another one
 * there. Rejects with a SyncError if the server cannot be reached.
 */
async function refetchMessage(context: SyncContext, { conversation, target }: Edit): Promise<void> {
  const { store, platform } = context;
  const row = await store.conversations.get(conversation);
  const stored = await findEditedMessage(store, conversation, target);
  if (!row || !stored) return;
  const fetched = await fetchMessage(platform, conversation, stored.seq);
  if (!fetched) return;
  const { message, epoch } = fetched;
  const { revised } = row;
  await applyServerChanges(context, [
    { type: "revised", target: conversation, epoch, since: revised, revision: revised, messages: [message] },
  ]);
}
