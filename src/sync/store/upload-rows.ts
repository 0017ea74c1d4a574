import { createUuid, type Uuid } from "#contract/ids.ts";
import { type Body, findAttachment } from "#contract/messages/body.ts";
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
export const requeueUpload = ({ strict, platform }: SyncContext, file: Uuid): Promise<boolean> =>
  strict.transaction("rw", strict.sendingTables, async () => {
    const stored = await strict.blobs.get(file);
    const messages = await strict.queryUnsentByFile(file).toArray();
    const [first] = messages;
    const attachment = first && findAttachment(first.body);
    if (!stored || !attachment || messages.some(({ source, attempts }) => source || attempts >= maxReuploads))
      return false;
    const newFile = createUuid(platform.now());
    await Promise.all([strict.blobs, strict.files, strict.uploads].map((table) => table.delete(file)));
    await strict.blobs.put({ file: newFile, blob: stored.blob });
    await strict.uploads.put(toUploadRow(newFile, attachment.name, toBlob(stored.blob), first.createdAt));
    await strict.outbox.bulkPut(
      messages.map((message) => ({
        ...message,
        body: { ...message.body, file: newFile } as Body,
        state: message.state === "failed" ? "failed" : "awaiting",
        attempts: message.attempts + 1,
      })),
    );
    return true;
  });
