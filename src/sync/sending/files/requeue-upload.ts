import { createUuid, type Uuid } from "#contract/ids.ts";
import { type Body, findAttachment } from "#contract/messages/body.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import { toBlob } from "#sync/store/stored-bytes.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { changeMessage, listUnsentByFile } from "#sync/unsent/messages.ts";
import { createUpload, putUpload, removeUpload } from "#sync/unsent/uploads.ts";

const maxReuploads = 3;

/** Bytes of a file that this device has not sent, or has in its cache since a message of a lost log was sent. */
const readBytes = async ({ unsent, store }: SyncContext, file: Uuid): Promise<Blob | undefined> => {
  const bytes = await unsent.bytes.get(file);
  if (bytes) return bytes;
  const cached = await store.blobs.get(file);
  return cached && toBlob(cached.blob);
};

/**
 * Requeues an unsent file under a new id. The server deletes a file that no message references for too long and refuses
 * the same id afterwards. Returns false if the bytes are not on this device either, if the message is a forward, or
 * after `maxReuploads` attempts.
 */
export const requeueUpload = async (context: SyncContext, file: Uuid): Promise<boolean> => {
  const { platform, unsent } = context;
  const messages = listUnsentByFile(unsent, file);
  const [first] = messages;
  const attachment = first && findAttachment(first.body);
  const newFile = createUuid(platform.now());
  if (!attachment || messages.some(({ source, attempts }) => source || attempts >= maxReuploads)) return false;
  const bytes = await readBytes(context, file);
  if (!bytes) return false;
  await unsent.bytes.put(newFile, bytes);
  const at = platform.now();
  await unsent.changeAll([
    putUpload(createUpload(newFile, attachment.name, bytes, first.createdAt), at),
    removeUpload(file),
    ...messages.map(({ cid }) =>
      changeMessage(cid, at, (row) => ({
        ...row,
        body: { ...row.body, file: newFile } as Body,
        state: row.state === "failed" ? "failed" : "awaiting",
        attempts: row.attempts + 1,
      })),
    ),
  ]);
  await deleteCachedFiles(context, [file]);
  return true;
};
