import type { Uuid } from "#contract/ids.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { discardMessage } from "#sync/unsent/messages.ts";
import { toDeletion } from "#sync/unsent/operations.ts";
import { findUploadFile } from "#sync/unsent/outbox-row.ts";

/**
 * Discards an unsent message. A pending deletion covers a message that the server may have received. Resolves to false
 * if the message was already sent.
 */
export const discardUnsentMessage = async (port: SyncPort, cid: Uuid): Promise<boolean> => {
  const context = requireContext(port);
  const { unsent, platform } = context;
  const row = unsent.find("outbox", cid);
  if (!row) return false;
  const { conversation } = row;
  await commitUnsent(context, [
    ...(row.state === "awaiting" ? [] : toDeletion({ cid, conversation }, platform.now())),
    ...discardMessage(unsent, row, platform.now()),
  ]);
  const file = findUploadFile(row);
  if (file !== undefined) await deleteCachedFiles(context, [file]);
  void platform.deleteFirstViews();
  port.notifyChanged("outbox");
  return true;
};
