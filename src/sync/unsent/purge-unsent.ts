import type { Uuid } from "#contract/ids.ts";
import { deleteUnsentDatabase, toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { isEmptyDraft } from "./draft-row.ts";
import { parseRow, unsentTables } from "./unsent-state.ts";

const findIndexedDb = ({ indexedDb }: Platform): IDBFactory | undefined => indexedDb?.indexedDB ?? globalThis.indexedDB;

/** Deletes everything that a person wrote and did not send, after a sign-out. */
export const deleteUnsent = async (platform: Platform, me: Uuid): Promise<void> => {
  const indexedDB = findIndexedDb(platform);
  if (indexedDB) await deleteUnsentDatabase(me, indexedDB);
};

const countRows = async (stores: readonly IDBObjectStore[]): Promise<number> => {
  const counts = await Promise.all(stores.map((store) => toPromise(store.count())));
  return counts.reduce((sum, count) => sum + count, 0);
};

/**
 * Deletes what the drafts contain of the server, and the reads, after their person ended the session from elsewhere. What
 * the person wrote stays.
 */
export const purgeServerData = async (platform: Platform, me: Uuid): Promise<void> => {
  const indexedDB = findIndexedDb(platform);
  if (!indexedDB) return;
  const database = new UnsentDatabase(me, { indexedDB, openChannel: platform.openChannel });
  try {
    const isEmpty = await database.write(unsentTables, async (access) => {
      const drafts = access("drafts");
      await toPromise(access("reads").clear());
      const rows: unknown[] = await toPromise(drafts.getAll());
      for (const row of rows.flatMap((one) => parseRow("drafts", one) ?? [])) {
        const { shared: _, ...draft } = row;
        // An end that the other devices were not told of yet.
        if (draft.text === "") delete draft.unshared;
        await (isEmptyDraft(draft) ? toPromise(drafts.delete(row.conversation)) : toPromise(drafts.put(draft)));
      }
      return (await countRows(unsentTables.map((table) => access(table)))) === 0;
    });
    if (isEmpty) await deleteUnsentDatabase(me, indexedDB);
  } finally {
    database.close();
  }
};
