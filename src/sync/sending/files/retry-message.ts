import { hasEnded } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";

/** Queues a failed message again under the same client id. Its upload continues with the missing parts. */
export const retryFailedMessage = async (port: SyncPort, cid: Uuid): Promise<void> => {
  const { strict, platform } = requireContext(port);
  const { skew } = await readSyncCursor(strict);
  const now = platform.now() + skew;
  await strict.transaction("rw", [strict.outbox, strict.uploads, strict.conversations], async () => {
    const before = await strict.outbox.get(cid);
    const gone = new Set(await strict.conversations.filter(hasEnded).primaryKeys());
    if (before && gone.has(before.conversation)) throw new SyncError("conversation_not_found");
    const file = before && findAttachment(before.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (upload) await strict.uploads.update(upload.file, { state: "waiting", createdAt: now });
    const messages = upload ? strict.queryUnsentByFile(upload.file) : strict.outbox.where("cid").equals(cid);
    await messages.modify((row) => {
      if (row.state !== "failed" || gone.has(row.conversation)) return;
      row.state = upload ? "awaiting" : "queued";
      row.attempts = 0;
      row.createdAt = now;
      delete row.error;
      delete row.paused;
    });
  });
  port.notifyChanged("outbox");
};

/** Pauses or resumes the upload of a message. The uploader reads the state from the store. */
export const setUploadPaused = async (port: SyncPort, cid: Uuid, isPaused: boolean): Promise<void> => {
  const { strict } = requireContext(port);
  await strict.transaction("rw", [strict.outbox, strict.uploads], async () => {
    const message = await strict.outbox.get(cid);
    const file = message && findAttachment(message.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (!upload) return;
    const isActive = upload.state === "waiting" || upload.state === "uploading";
    if (isPaused ? !isActive : upload.state !== "paused") return;
    await strict.uploads.update(upload.file, { state: isPaused ? "paused" : "waiting" });
    await strict.queryUnsentByFile(upload.file).modify((row) => {
      if (isPaused) row.paused = true;
      else delete row.paused;
    });
  });
  port.notifyChanged("outbox");
};
