import { hasEnded } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { changeMessage, listUnsentByFile } from "#sync/unsent/messages.ts";
import { changeUpload, isUploadActive } from "#sync/unsent/uploads.ts";

/** Queues a failed message again under the same client id. Its upload continues with the missing parts. */
export const retryFailedMessage = async (port: SyncPort, cid: Uuid): Promise<void> => {
  const context = requireContext(port);
  const { store, unsent, platform } = context;
  const before = unsent.find("outbox", cid);
  if (!before) return;
  const file = findAttachment(before.body)?.file;
  const messages = file === undefined ? [before] : listUnsentByFile(unsent, file);
  const at = platform.now();
  const createdAt = at + store.skew;
  const conversations = await store.conversations.bulkGet(messages.map(({ conversation }) => conversation));
  const ended = new Set(conversations.flatMap((row) => (row && hasEnded(row) ? row.id : [])));
  if (ended.has(before.conversation)) throw new SyncError("conversation_not_found");
  const upload = file === undefined ? undefined : unsent.find("uploads", file);
  const retried = upload ? messages.filter(({ conversation }) => !ended.has(conversation)) : [before];
  await commitUnsent(context, [
    ...(upload ? [changeUpload(upload.file, at, (row) => ({ ...row, state: "waiting", createdAt }))] : []),
    ...retried.map((message) =>
      changeMessage(message.cid, at, (row) => {
        if (row.state !== "failed") return row;
        const { error: _, paused: _paused, ...rest } = row;
        return { ...rest, state: upload ? "awaiting" : "queued", attempts: 0, createdAt };
      }),
    ),
  ]);
  port.notifyChanged("outbox");
};

/** Pauses or resumes the upload of a message. The uploader reads the state from the image. */
export const setUploadPaused = async (port: SyncPort, cid: Uuid, isPaused: boolean): Promise<void> => {
  const context = requireContext(port);
  const { unsent, platform } = context;
  const message = unsent.find("outbox", cid);
  const file = message && findAttachment(message.body)?.file;
  const upload = file === undefined ? undefined : unsent.find("uploads", file);
  if (file === undefined || !upload || (isPaused ? !isUploadActive(upload) : upload.state !== "paused")) return;
  const at = platform.now();
  await commitUnsent(context, [
    changeUpload(file, at, (row) => ({ ...row, state: isPaused ? "paused" : "waiting" })),
    ...listUnsentByFile(unsent, file).map((one) =>
      changeMessage(one.cid, at, ({ paused: _, ...row }) => (isPaused ? { ...row, paused: true } : row)),
    ),
  ]);
  port.notifyChanged("outbox");
};
