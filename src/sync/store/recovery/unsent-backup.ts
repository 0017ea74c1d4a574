import Dexie from "dexie";
import * as v from "valibot";
import type { Platform } from "#sync/platform/platform.ts";
import { BlobRow, UploadRow } from "#sync/store/database.ts";
import { AttachmentDraftRow, isDraftKey, RecordingChunkRow, RecordingRow } from "#sync/store/pending/draft-keys.ts";
import { PostQueueRow } from "#sync/store/post-rows.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";

/** Entries of `meta` that exist on this device only. */
const UnsentMetaRow = v.object({ key: v.pipe(v.string(), v.check(isDraftKey)), value: AttachmentDraftRow });

/**
 * Tables with content that exists on this device only, with the schemas of their rows. In the order of their backup:
 * texts first, the bytes of files last.
 */
const unsentRows = {
  meta: UnsentMetaRow,
  postbox: PostQueueRow,
  uploads: UploadRow,
  recordings: RecordingRow,
  chunks: RecordingChunkRow,
  blobs: BlobRow,
};

type UnsentTable = keyof typeof unsentRows;

const unsentTables = Object.keys(unsentRows) as UnsentTable[];

export const isUnsentRow = (table: UnsentTable, row: unknown): boolean => v.is(unsentRows[table], row);

/** Files of unsent messages, unsent posts with their files, drafts with attachments (in `meta`), interrupted recordings. */
export type UnsentSnapshot = { [Table in UnsentTable]: v.InferOutput<(typeof unsentRows)[Table]>[] };

export const emptyUnsentSnapshot: UnsentSnapshot = {
  meta: [],
  postbox: [],
  uploads: [],
  recordings: [],
  chunks: [],
  blobs: [],
};

/** Snapshot of the rows that `read` returns for each table. */
export const readUnsentTables = async (read: (table: UnsentTable) => Promise<unknown[]>): Promise<UnsentSnapshot> => {
  const snapshot: Record<string, unknown[]> = {};
  for (const table of unsentTables) snapshot[table] = await read(table);
  return snapshot as UnsentSnapshot;
};

const toBackupName = (name: string): string => `${name}-backup`;

/**
 * Backup database of unsent content while the main database is rebuilt, so that a page that ends half way does not lose
 * it.
 */
class UnsentBackupDatabase extends Dexie {
  constructor(platform: Platform, name: string) {
    super(toBackupName(name), { ...platform.indexedDb, chromeTransactionDurability: "strict", cache: "disabled" });
    this.version(1).stores({
      meta: "key",
      postbox: "id",
      uploads: "file",
      recordings: "conversation",
      chunks: "[conversation+n]",
      blobs: "file",
    } satisfies Record<UnsentTable, string>);
  }
}

export const saveUnsentBackup = async (platform: Platform, name: string, unsent: UnsentSnapshot): Promise<void> => {
  const backup = new UnsentBackupDatabase(platform, name);
  try {
    for (const table of unsentTables) {
      const batches: unknown[][] = table === "blobs" ? unsent.blobs.map((row) => [row]) : [unsent[table]];
      for (const rows of batches) await backup.table(table).bulkPut(rows);
    }
  } catch (error) {
    if (!isQuotaError(error)) throw error; // texts are written first, then as many files as fit
  } finally {
    backup.close();
  }
};

/**
 * Whether there may be a backup: false only if the browser lists its databases and this one is not among them. A list
 * is quicker than to create the database, read it and delete it.
 */
export const mayHaveUnsentBackup = async ({ indexedDb }: Platform, name: string): Promise<boolean> => {
  const { indexedDB: factory } = indexedDb ?? globalThis;
  const databases = await factory.databases?.().catch(() => undefined);
  return databases?.some((database) => database.name === toBackupName(name)) ?? true;
};

/** Reads the backup, which an earlier page may have left. */
export const readUnsentBackup = async (platform: Platform, name: string): Promise<UnsentSnapshot> => {
  const backup = new UnsentBackupDatabase(platform, name);
  try {
    return await readUnsentTables((table) => backup.table(table).toArray());
  } finally {
    backup.close();
  }
};

export const deleteUnsentBackup = async (platform: Platform, name: string): Promise<void> => {
  await new UnsentBackupDatabase(platform, name).delete();
};
