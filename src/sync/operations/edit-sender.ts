import type { ErrorCode } from "#contract/errors.ts";
import { getEditNumber, isEditableBody } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { findEditedMessage } from "#sync/sending/pending-replies.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { listPendingEdits, type PendingEdit, toPendingEditKey } from "#sync/store/pending/pending-edits.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { parkText } from "#sync/unsent/draft-row.ts";
import { changeDraft } from "#sync/unsent/drafts.ts";

/** Codes of a server that does not know the command yet: a newer client may talk to an older server in a deployment. */
const unsupportedCodes: readonly string[] = ["not_found", "method_not_allowed"];
/** Refusals after which there is no message to show the edit at. */
const lostCodes: readonly string[] = ["message_withdrawn", "message_not_found", "conversation_not_found"];

/** Whether this device shows no message with the text of an edit: it was deleted, or the history was cleared. */
const isMessageGone = async (store: LocalStore, { conversation, target }: PendingEdit): Promise<boolean> => {
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
export const listDueEdits = async ({ store, unsent }: SyncContext): Promise<PendingEdit[]> => {
  const edits = await listPendingEdits(store);
  const areDue = await Promise.all(
    edits.map((edit) => !unsent.find("outbox", String(edit.target)) && (!edit.error || isMessageGone(store, edit))),
  );
  return edits.filter((_, index) => areDue[index]);
};

/**
 * Sends pending edits. One that the server refuses for good stays on this device until its author decides, or until its
 * message is gone.
 */
export const createEditSender = (context: SyncContext): OperationSender<PendingEdit> => ({
  send: (edit) => (edit.error ? parkWords(context, edit) : sendEdit(context, edit)),
  async handleRefusal(edit, { code }) {
    if (lostCodes.includes(code)) return parkWords(context, edit);
    await refetchMessage(context, edit);
    const { strict } = context;
    await strict.transaction("rw", strict.meta, async () => {
      const key = toPendingEditKey(edit);
      const current = (await strict.meta.get(key))?.value as PendingEdit | undefined;
      if (current?.edit === edit.edit) await strict.meta.put({ key, value: { ...edit, error: code as ErrorCode } });
    });
  },
});

/**
 * Parks the words of an edit whose message is gone, above the message field, and removes it. Rejects with a SyncError
 * if they could not be stored; the edit stays then.
 */
const parkWords = async (context: SyncContext, pending: PendingEdit): Promise<void> => {
  const { conversation, target, edit, text } = pending;
  const words = { id: `edit-${target}-${edit}`, text, target };
  if (text !== "")
    await changeDraft(context.unsent, conversation, (draft) => parkText(draft, words)).catch(() => {
      throw new SyncError("unavailable");
    });
  await removeUnlessChanged(context, pending);
};

/** Removes an edit, unless the author has changed the text once more since. */
const removeUnlessChanged = (context: SyncContext, edit: PendingEdit): Promise<void> => {
  const { strict } = context;
  return strict.transaction("rw", strict.meta, async () => {
    const key = toPendingEditKey(edit);
    const current = (await strict.meta.get(key))?.value as PendingEdit | undefined;
    if (current?.edit !== edit.edit) return;
    await strict.meta.delete(key);
  });
};

async function sendEdit(context: SyncContext, pending: PendingEdit): Promise<void> {
  const { conversation, target, edit, text, body } = pending;
  const answer = requestByHttp(context.platform, { type: "editMessage", conversation, target, edit, text });
  const { revision, edited } = await answer.catch((error: unknown) => {
    throw unsupportedCodes.includes(asSyncError(error).code) ? new SyncError("unavailable") : error;
  });
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
  await removeUnlessChanged(context, pending);
}

/**
 * Stores the message as the server has it. The text of a message that was edited in the outbox may be another one
 * there. Rejects with a SyncError if the server cannot be reached.
 */
async function refetchMessage(context: SyncContext, { conversation, target }: PendingEdit): Promise<void> {
  const { store, platform } = context;
  const row = await store.conversations.get(conversation);
  const stored = await findEditedMessage(store, conversation, target);
  if (!row || !stored) return;
  const { seq } = stored;
  const request = { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 } as const;
  const page = await requestByHttp(platform, request).catch((error: unknown) => {
    if (isRetryableFailure(asSyncError(error))) throw error;
    return undefined; // this person left the conversation
  });
  const message = page?.messages.find((one) => one.seq === seq);
  if (!page || !message) return;
  const { epoch } = page;
  const { revised } = row;
  await applyServerChanges(context, [
    { type: "revised", target: conversation, epoch, since: revised, revision: revised, messages: [message] },
  ]);
}
