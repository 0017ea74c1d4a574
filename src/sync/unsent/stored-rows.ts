import { toPromise, type UnsentDatabase, type UnsentTable, unsentKeys } from "#lib/unsent/unsent-database.ts";
import { type ChangedRow, changeRow } from "./unsent-image.ts";
import { listChangedRows, type PendingChange, parseRow, type UnsentRow, type UnsentState } from "./unsent-state.ts";

/** Reads all rows of some tables in one transaction. Those that this version cannot read stay in the database. */
export const readRows = async (
  database: UnsentDatabase,
  tables: readonly UnsentTable[],
): Promise<Partial<UnsentState>> => {
  const rows = await database.read(tables, (access) =>
    Promise.all(tables.map(async (table) => [table, await toPromise(access(table).getAll())] as const)),
  );
  const state: Partial<UnsentState> = {};
  for (const [table, stored] of rows) {
    const keyOf = (row: UnsentRow) => (row as Record<string, unknown>)[unsentKeys[table]];
    const readable: UnsentRow[] = stored.flatMap((row) => parseRow(table, row) ?? []);
    Object.assign(state, { [table]: new Map(readable.map((row) => [keyOf(row), row])) });
  }
  return state;
};

/** Applies changes to the committed rows, which another page may have changed since they were read. */
export const commitChanges = (database: UnsentDatabase, changes: readonly PendingChange[]): Promise<ChangedRow[]> => {
  const changed = listChangedRows(changes);
  return database.write([...new Set(changed.map(({ table }) => table))], (access) =>
    Promise.all(
      changed.map(async (one) => {
        const store = access(one.table);
        const committed = parseRow(one.table, await toPromise(store.get(one.key)));
        const row = changeRow(committed, one, changes);
        if (row) await toPromise(store.put(row));
        else if (committed) await toPromise(store.delete(one.key));
        return [one, row] as const;
      }),
    ),
  );
};
