import { hasEnded } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { changeMessage, listUnsentByFile } from "#sync/unsent/messages.ts";

/** Queues a failed message again under the same client id. Its upload continues with the missing parts. */
export const retryFailedMessage = async (port: SyncPort, cid: Uuid): Promise<void> => {
  const { store, strict, unsent, platform } = requireContext(port);
  const before = unsent.find("outbox", cid);
  if (!before) return;
  const file = findAttachment(before.body)?.file;
  const messages = file === undefined ? [before] : listUnsentByFile(unsent, file);
  const now = platform.now() + store.skew;
  const { gone, upload } = await strict.transaction("rw", [strict.uploads, strict.conversations], async () => {
    const conversations = await strict.conversations.bulkGet(messages.map(({ conversation }) => conversation));
    const ended = new Set(conversations.flatMap((row) => (row && hasEnded(row) ? row.id : [])));
    if (ended.has(before.conversation)) throw new SyncError("conversation_not_found");
    const stored = file === undefined ? undefined : await strict.uploads.get(file);
    if (stored) await strict.uploads.update(stored.file, { state: "waiting", createdAt: now });
    return { gone: ended, upload: stored };
  });
  const retried = upload ? messages.filter(({ conversation }) => !gone.has(conversation)) : [before];
  await unsent.changeAll(
    retried.map((message) =>
      changeMessage(message.cid, platform.now(), (row) => {
        if (row.state !== "failed") return row;
        const { error: _, paused: _paused, ...rest } = row;
        return { ...rest, state: upload ? "awaiting" : "queued", attempts: 0, createdAt: now };
      }),
    ),
  );
  port.notifyChanged("outbox");
};

/** Pauses or resumes the upload of a message. The uploader reads the state from the store. */
export const setUploadPaused = async (port: SyncPort, cid: Uuid, isPaused: boolean): Promise<void> => {
  const { strict, unsent, platform } = requireContext(port);
  const message = unsent.find("outbox", cid);
  const file = message && findAttachment(message.body)?.file;
  if (file === undefined) return;
  const isChanged = await strict.transaction("rw", strict.uploads, async () => {
    const upload = await strict.uploads.get(file);
    const isActive = upload?.state === "waiting" || upload?.state === "uploading";
    if (isPaused ? !isActive : upload?.state !== "paused") return false;
    await strict.uploads.update(file, { state: isPaused ? "paused" : "waiting" });
    return true;
  });
  if (!isChanged) return;
  await unsent.changeAll(
    listUnsentByFile(unsent, file).map((one) =>
      changeMessage(one.cid, platform.now(), ({ paused: _, ...row }) => (isPaused ? { ...row, paused: true } : row)),
    ),
  );
  port.notifyChanged("outbox");
};
