import Dexie, { type Table } from "dexie";
import type { Platform } from "#sync/platform/platform.ts";
import type {
  BlobRow,
  MetaRow,
  OutboxRow,
  PostQueueRow,
  RecordingChunkRow,
  RecordingRow,
  UploadRow,
} from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";

/**
 * Content that exists on this device only: unsent messages and posts with their files, drafts and pending deletions (in
 * `meta`) and interrupted recordings.
 */
export type UnsentSnapshot = {
  outbox: OutboxRow[];
  uploads: UploadRow[];
  blobs: BlobRow[];
  meta: MetaRow[];
  recordings: RecordingRow[];
  chunks: RecordingChunkRow[];
  postbox: PostQueueRow[];
};

/**
 * Backup database of unsent content while the main database is rebuilt, so that a page that ends half way does not lose
 * it.
 */
class UnsentBackupDatabase extends Dexie {
  declare outbox: Table<OutboxRow, string>;
  declare uploads: Table<UploadRow, string>;
  declare blobs: Table<BlobRow, string>;
  declare meta: Table<MetaRow, string>;
  declare recordings: Table<RecordingRow, string>;
  declare chunks: Table<RecordingChunkRow, [string, number]>;
  declare postbox: Table<PostQueueRow, string>;

  constructor(platform: Platform, name: string) {
    super(`${name}-unsent`, { ...platform.indexedDb, chromeTransactionDurability: "strict", cache: "disabled" });
    this.version(1).stores({
      outbox: "cid",
      meta: "key",
      postbox: "id",
      uploads: "file",
      recordings: "conversation",
      chunks: "[conversation+n]",
      blobs: "file",
    });
  }
}

export const saveUnsentBackup = async (platform: Platform, name: string, unsent: UnsentSnapshot): Promise<void> => {
  const backup = new UnsentBackupDatabase(platform, name);
  try {
    await backup.outbox.bulkPut(unsent.outbox);
    await backup.meta.bulkPut(unsent.meta);
    await backup.postbox.bulkPut(unsent.postbox);
    await backup.uploads.bulkPut(unsent.uploads);
    await backup.recordings.bulkPut(unsent.recordings);
    await backup.chunks.bulkPut(unsent.chunks);
    for (const row of unsent.blobs) await backup.blobs.put(row);
  } catch (error) {
    if (!isQuotaError(error)) throw error; // texts are written first, then as many files as fit
  } finally {
    backup.close();
  }
};

/** Reads the backup, which an earlier page may have left. */
export const readUnsentBackup = async (platform: Platform, name: string): Promise<UnsentSnapshot> => {
  const backup = new UnsentBackupDatabase(platform, name);
  try {
    const [outbox, uploads, blobs] = await Promise.all([
      backup.outbox.toArray(),
      backup.uploads.toArray(),
      backup.blobs.toArray(),
    ]);
    const [meta, recordings, chunks, postbox] = await Promise.all([
      backup.meta.toArray(),
      backup.recordings.toArray(),
      backup.chunks.toArray(),
      backup.postbox.toArray(),
    ]);
    return { outbox, uploads, blobs, meta, recordings, chunks, postbox };
  } finally {
    backup.close();
  }
};

export const deleteUnsentBackup = async (platform: Platform, name: string): Promise<void> => {
  await new UnsentBackupDatabase(platform, name).delete();
};
