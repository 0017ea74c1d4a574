import { createUuid, type Uuid } from "#contract/ids.ts";
import { type Body, findAttachment } from "#contract/messages/body.ts";
import { changeMessage, listUnsentByFile } from "#sync/unsent/messages.ts";
import type { UploadRow } from "./database.ts";
import { toBlob } from "./stored-bytes.ts";
import type { SyncContext } from "./sync-context.ts";

const maxReuploads = 3;

export const toUploadRow = (file: Uuid, name: string, { size }: Blob, createdAt: number): UploadRow => ({
  file,
  name,
  size,
  state: "waiting",
  sent: 0,
  createdAt,
});

/**
 * Requeues an unsent file under a new id. The server deletes a file that no message references for too long and refuses
 * the same id afterwards. Returns false if the bytes are not on this device either, if the message is a forward, or
 * after `maxReuploads` attempts.
 */
export const requeueUpload = async ({ strict, platform, unsent }: SyncContext, file: Uuid): Promise<boolean> => {
  const messages = listUnsentByFile(unsent, file);
  const [first] = messages;
  const attachment = first && findAttachment(first.body);
  const newFile = createUuid(platform.now());
  if (!attachment || messages.some(({ source, attempts }) => source || attempts >= maxReuploads)) return false;
  const isStored = await strict.transaction("rw", [strict.blobs, strict.uploads], async () => {
    const stored = await strict.blobs.get(file);
    if (!stored) return false;
    await strict.blobs.put({ file: newFile, blob: stored.blob });
    await strict.uploads.put(toUploadRow(newFile, attachment.name, toBlob(stored.blob), first.createdAt));
    return true;
  });
  if (!isStored) return false;
  await unsent.changeAll(
    messages.map(({ cid }) =>
      changeMessage(cid, platform.now(), (row) => ({
        ...row,
        body: { ...row.body, file: newFile } as Body,
        state: row.state === "failed" ? "failed" : "awaiting",
        attempts: row.attempts + 1,
      })),
    ),
  );
  await strict.transaction("rw", [strict.blobs, strict.files, strict.uploads], () =>
    Promise.all([strict.blobs, strict.files, strict.uploads].map((table) => table.delete(file))),
  );
  return true;
};
