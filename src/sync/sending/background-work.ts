import { findAttachment } from "#contract/messages/body.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { type ApplyResult, applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { changeMessage, deleteMessage, listOutbox } from "#sync/unsent/messages.ts";
import { findUploadFile, type OutboxRow, type ReadRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import { createUpload, putUpload } from "#sync/unsent/uploads.ts";
import { findOwnMessage } from "./pending-replies.ts";
import { updateMessage } from "./refused-messages.ts";

/** Unsent data that the service worker (`src/sw/background-sender.ts`) or a page that ended has left for the app. */

/**
 * Settles messages of pages that ended half way: those that the log has are deleted; those whose upload is lost are
 * uploaded again, or marked as failed without their file.
 */
export const settleLeftMessages = async ({ store, unsent, platform }: SyncContext): Promise<void> => {
  const changes: UnsentChange[] = [];
  for (const row of listOutbox(unsent)) {
    const { cid, conversation, state, body, createdAt } = row;
    const file = state === "awaiting" ? findUploadFile(row) : undefined;
    if (await findOwnMessage({ store }, conversation, cid)) changes.push(deleteMessage(cid));
    else if (file !== undefined && !unsent.find("uploads", file)) {
      const bytes = await unsent.bytes.get(file);
      const name = findAttachment(body)?.name ?? "";
      if (bytes) changes.push(putUpload(createUpload(file, name, bytes, createdAt), platform.now()));
      else
        changes.push(
          changeMessage(cid, platform.now(), (now) => ({ ...now, state: "failed", error: "file_not_found" })),
        );
    }
  }
  await unsent.changeAll(changes).catch(() => undefined);
};

/**
 * Stores the messages that the service worker has sent in their places in the log. In a log that this device does not
 * have yet, a message is sent once more under its client id.
 */
export const createSentMessageKeeper = (
  context: SyncContext,
  onApplied: (result: ApplyResult) => void,
): OperationSender<OutboxRow> => ({
  async send({ cid, conversation, body, sent }) {
    if (!sent) return;
    const result = await applyServerChanges(context, [{ type: "sent", conversation, cid, body, ...sent }]);
    if (!result.sentIds.includes(cid)) updateMessage(context, cid, { sent: undefined });
    onApplied(result);
  },
  handleRefusal: async ({ cid }) => updateMessage(context, cid, { sent: undefined }),
});

/** Reports read positions, of which the server tells all devices, this one included. A final refusal ends them. */
export const createReadSender = ({ unsent, platform }: SyncContext): OperationSender<ReadRow> => {
  const remove = ({ conversation, head }: ReadRow) =>
    unsent.change("reads", conversation, (row) => (row && row.head > head ? row : undefined)).catch(() => undefined);
  return {
    async send(read) {
      const { conversation, head } = read;
      await requestByHttp(platform, { type: "mark", conversation, delivered: head, read: head });
      await remove(read);
    },
    handleRefusal: remove,
  };
};
