import type { Uuid } from "#contract/ids.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { listDraftFiles } from "#sync/store/pending/draft-keys.ts";
import { type StoredBytes, toBlob, toStoredBytes } from "#sync/store/stored-bytes.ts";
import { emptyUnsentSnapshot, isUnsentRow, readUnsentTables, type UnsentSnapshot } from "./unsent-backup.ts";

type StrictStore = { strict: LocalStore };

/**
 * Reads unsent content from an open database, e.g. before another page deletes it: the deletion waits for this page.
 */
export const readUnsentSnapshot = async ({ store }: { store: LocalStore }): Promise<UnsentSnapshot> => {
  const unsent = await readUnsentTables(async (table) => {
    if (table === "blobs") return [];
    const rows = await store.table(table).toArray();
    return table === "meta" ? rows.filter((row) => isUnsentRow(table, row)) : rows;
  });
  return { ...unsent, blobs: await store.blobs.where("file").anyOf(listReferencedFiles(unsent)).toArray() };
};

/** Ids of the files of uploads, drafts and posts. */
export const listReferencedFiles = ({ uploads, meta, postbox }: UnsentSnapshot): Uuid[] => [
  ...uploads.map(({ file }) => file),
  ...listDraftFiles(meta),
  ...postbox.map(({ id }) => id),
];

/** Rows with bytes in the form that the database accepts: they may come from one in memory, which accepts Blobs. */
const toStoredRows = async (
  store: LocalStore,
  { blobs, chunks }: UnsentSnapshot,
): Promise<Pick<UnsentSnapshot, "blobs" | "chunks">> => {
  const toBytes = (bytes: StoredBytes) => toStoredBytes(store, toBlob(bytes));
  return {
    blobs: await Promise.all(blobs.map(async (row) => ({ ...row, blob: await toBytes(row.blob) }))),
    chunks: await Promise.all(chunks.map(async (row) => ({ ...row, chunk: await toBytes(row.chunk) }))),
  };
};

/** Stores unsent content. */
export const insertUnsentSnapshot = async ({ strict }: StrictStore, unsent: UnsentSnapshot): Promise<void> => {
  const { blobs, chunks } = await toStoredRows(strict, unsent);
  const storedFiles = new Set(blobs.map(({ file }) => file));
  await strict.transaction(
    "rw",
    [strict.meta, strict.uploads, strict.blobs, strict.recordings, strict.chunks, strict.postbox],
    async () => {
      await strict.meta.bulkPut(unsent.meta);
      await strict.recordings.bulkPut(unsent.recordings);
      await strict.chunks.bulkPut(chunks);
      await strict.postbox.bulkPut(unsent.postbox);
      await strict.blobs.bulkPut(blobs);
      await strict.uploads.bulkPut(unsent.uploads.filter(({ file }) => storedFiles.has(file)));
    },
  );
};

/** Restores unsent content into a rebuilt database. If that fails, only drafts and pending changes are restored. */
export const restoreUnsentSnapshot = async (stores: StrictStore, unsent: UnsentSnapshot): Promise<void> => {
  try {
    await insertUnsentSnapshot(stores, unsent);
  } catch {
    await insertUnsentSnapshot(stores, { ...emptyUnsentSnapshot, meta: unsent.meta });
  }
};
