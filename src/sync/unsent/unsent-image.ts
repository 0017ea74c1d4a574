import type { Uuid } from "#contract/ids.ts";
import type { UnsentTable } from "#lib/unsent/unsent-database.ts";
import {
  applyChanges,
  listBytes,
  listChangedRows,
  listNamedBytes,
  mergeRows,
  noState,
  type PendingChange,
  type UnsentRow,
  type UnsentRows,
  type UnsentState,
  unsentTables,
} from "./unsent-state.ts";

export type ChangedRow = readonly [change: PendingChange, row: UnsentRow | undefined];

/** Row that these changes leave of one. */
export const changeRow = (
  row: UnsentRow | undefined,
  { table, key }: Pick<PendingChange, "table" | "key">,
  changes: readonly PendingChange[],
): UnsentRow | undefined =>
  changes.reduce((now, one) => (one.table === table && one.key === key ? one.change(now) : now), row);

/** Committed rows and the changes of this page that are not committed yet, in memory. */
export class UnsentImage {
  /** Rows as last committed or read. */
  #committed = noState;
  /** In order. */
  #pending: readonly PendingChange[] = [];

  find<Table extends UnsentTable>(table: Table, key: string): UnsentRows[Table] | undefined {
    const row = changeRow(this.#committed[table].get(key), { table, key }, this.#pending);
    return row as UnsentRows[Table] | undefined;
  }

  list(): UnsentState {
    return applyChanges(this.#committed, this.#pending);
  }

  add(change: PendingChange): void {
    this.#pending = [...this.#pending, change];
  }

  hasPending({ table, key }: Pick<PendingChange, "table" | "key">): boolean {
    return this.#pending.some((one) => one.table === table && one.key === key);
  }

  /** Changes that are not committed. */
  get pending(): readonly PendingChange[] {
    return this.#pending;
  }

  /** Rows that are not committed, as they become, and the time of the committed row that they are based on. */
  listPendingRows(): { change: PendingChange; row: UnsentRow | undefined; seenAt: number | undefined }[] {
    return listChangedRows(this.#pending).map((change) => {
      const committed = this.#committed[change.table].get(change.key);
      return { change, row: changeRow(committed, change, this.#pending), seenAt: committed?.at };
    });
  }

  /** Replaces all rows of some tables. */
  replaceTables(tables: Partial<UnsentState>): void {
    this.#committed = { ...this.#committed, ...tables };
  }

  /** The batch is committed and has left these rows. Returns the ids of bytes that no row names any more. */
  settle(batch: readonly PendingChange[], rows: readonly ChangedRow[]): Uuid[] {
    const named = rows.flatMap(([one]) => this.#listBytesOf(one, batch));
    this.#committed = applyChanges(
      this.#committed,
      rows.map(([one, row]) => ({ ...one, change: () => row })),
    );
    this.#pending = this.#pending.filter((one) => !batch.includes(one));
    const still = named.length > 0 ? listNamedBytes(this.list()) : undefined;
    return named.filter((id) => !still?.has(id));
  }

  /** Ids of the bytes that the committed row has named, or any that a batch made of it. */
  #listBytesOf({ table, key }: PendingChange, batch: readonly PendingChange[]): Uuid[] {
    const before = this.#committed[table].get(key);
    const ids = [...listBytes(table, before)];
    const collect = (row: UnsentRow | undefined, one: PendingChange) => {
      const next = changeRow(row, { table, key }, [one]);
      ids.push(...listBytes(table, next));
      return next;
    };
    batch.reduce(collect, before);
    return ids;
  }

  /** Joins the changes of each row of a batch that could not be committed to one, so that their number stays small. */
  joinBatch(batch: readonly PendingChange[]): void {
    const joined = listChangedRows(batch).map(({ table, key }): PendingChange => {
      const committed = this.#committed[table].get(key);
      const row = changeRow(committed, { table, key }, batch);
      return { table, key, change: (now) => mergeRows(table, now, row, committed?.at) };
    });
    this.#pending = [...joined, ...this.#pending.filter((one) => !batch.includes(one))];
  }

  /** The committed rows were deleted from outside: they are to be committed again. */
  restore(): void {
    const restored = unsentTables.flatMap((table) =>
      [...this.#committed[table]].map(([key, row]): PendingChange => ({ table, key, change: (now) => now ?? row })),
    );
    this.#pending = [...restored, ...this.#pending];
    this.#committed = noState;
  }
}
