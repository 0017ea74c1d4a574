import type { UnsentTable } from "#lib/unsent/unsent-database.ts";
import {
  applyChanges,
  definitions,
  listChangedRows,
  noState,
  type PendingChange,
  takeUntil,
  type UnsentRows,
  type UnsentState,
  unsentTables,
} from "./unsent-state.ts";

export type ChangedRow = readonly [change: PendingChange, row: UnsentRows[UnsentTable] | undefined];

/** Row that these changes leave of one. */
export const changeRow = <Table extends UnsentTable>(
  row: UnsentRows[Table] | undefined,
  { table, key }: { table: Table; key: string },
  changes: readonly PendingChange[],
): UnsentRows[Table] | undefined =>
  changes.reduce((now, one) => (one.table === table && one.key === key ? one.change(now) : now), row);

/** Committed rows and the changes of this page that are not committed yet, in memory. */
export class UnsentImage {
  /** Rows as last committed or read. */
  #committed = noState;
  /** In order. */
  #pending: readonly PendingChange[] = [];

  find<Table extends UnsentTable>(table: Table, key: string): UnsentRows[Table] | undefined {
    return changeRow(this.#committed[table].get(key), { table, key }, this.#pending);
  }

  list(): UnsentState {
    return applyChanges(this.#committed, this.#pending);
  }

  add(change: PendingChange): void {
    this.#pending = [...this.#pending, change];
  }

  withdraw(change: PendingChange): void {
    this.#pending = this.#pending.filter((one) => one !== change);
  }

  hasPending({ table, key }: Pick<PendingChange, "table" | "key">): boolean {
    return this.#pending.some((one) => one.table === table && one.key === key);
  }

  /** Changes that can be committed now: those of each row before the first one that is held. */
  takeBatch(): PendingChange[] {
    return takeUntil(this.#pending, ({ isHeld }) => isHeld);
  }

  /** Rows that the journal may hold, as they become, and the time of the committed row that they are based on. */
  listJournalRows(): { change: PendingChange; row: UnsentRows[UnsentTable] | undefined; seenAt: number | undefined }[] {
    const journaled = takeUntil(this.#pending, ({ isHeld, isJournaled }) => isHeld && !isJournaled);
    return listChangedRows(journaled).map((change) => {
      const committed = this.#committed[change.table].get(change.key);
      return { change, row: changeRow(committed, change, journaled), seenAt: committed?.at };
    });
  }

  /** Replaces all rows of some tables. */
  replaceTables(tables: Partial<UnsentState>): void {
    this.#committed = { ...this.#committed, ...tables };
  }

  /** The batch is committed and has left these rows. */
  settle(batch: readonly PendingChange[], rows: readonly ChangedRow[]): void {
    this.#committed = applyChanges(
      this.#committed,
      rows.map(([one, row]) => ({ ...one, change: () => row })),
    );
    this.#pending = this.#pending.filter((one) => !batch.includes(one));
  }

  /** Joins the changes of each row of a batch that could not be committed to one, so that their number stays small. */
  joinBatch(batch: readonly PendingChange[]): void {
    const joined = listChangedRows(batch).map(({ table, key }): PendingChange => {
      const committed = this.#committed[table].get(key);
      const row = changeRow(committed, { table, key }, batch);
      const change = (now: typeof row) => definitions[table].merge(now, row, committed?.at);
      return { table, key, change, isHeld: false, isJournaled: false };
    });
    this.#pending = [...joined, ...this.#pending.filter((one) => !batch.includes(one))];
  }

  /** The committed rows were deleted from outside: they are to be committed again. */
  restore(): void {
    const restored = unsentTables.flatMap((table) =>
      [...this.#committed[table]].map(
        ([key, row]): PendingChange => ({ table, key, change: (now) => now ?? row, isHeld: false, isJournaled: false }),
      ),
    );
    this.#pending = [...restored, ...this.#pending];
    this.#committed = noState;
  }
}
