import * as v from "valibot";
import { type UnsentTable, unsentKeys } from "#lib/unsent/unsent-database.ts";
import { DraftRow, mergeDrafts } from "./draft-row.ts";
import { mergeOperations, OperationRow } from "./operation-row.ts";
import { mergeOutboxRows, mergeReads, OutboxRow, ReadRow } from "./outbox-row.ts";

/** Rows of the tables. */
export type UnsentRows = { drafts: DraftRow; outbox: OutboxRow; reads: ReadRow; operations: OperationRow };

type TableDefinition<Row> = {
  schema: v.GenericSchema<unknown, Row>;
  /** Joins the committed row and one that a page could not commit; see `mergeDrafts`. */
  merge(committed: Row | undefined, left: Row | undefined, seenAt: number | undefined): Row | undefined;
  /** Whether the journal keeps a committed row, because the database may be lost before the server has it. */
  isKeptInJournal: boolean;
};

export const definitions: { [Table in UnsentTable]: TableDefinition<UnsentRows[Table]> } = {
  drafts: { schema: DraftRow, merge: mergeDrafts, isKeptInJournal: false },
  outbox: { schema: OutboxRow, merge: mergeOutboxRows, isKeptInJournal: true },
  reads: { schema: ReadRow, merge: mergeReads, isKeptInJournal: false },
  operations: { schema: OperationRow, merge: mergeOperations, isKeptInJournal: false },
};
export const unsentTables = Object.keys(unsentKeys) as UnsentTable[];

export const parseRow = <Table extends UnsentTable>(table: Table, row: unknown): UnsentRows[Table] | undefined => {
  const parsed = v.safeParse(definitions[table].schema, row);
  return parsed.success ? parsed.output : undefined;
};

/** Joins the committed row of a table and one that a page could not commit. */
export const mergeRows = (
  table: UnsentTable,
  ...rows: [committed: unknown, left: unknown, seenAt: number | undefined]
): UnsentRow | undefined => (definitions[table].merge as (...rows: unknown[]) => UnsentRow | undefined)(...rows);

/** All rows of all tables by key. Immutable. */
export type UnsentState = { readonly [Table in UnsentTable]: ReadonlyMap<string, UnsentRows[Table]> };

/** Changes a row, or deletes it by returning undefined. It runs once for the image and once for each commit. */
export type RowChange<Row> = (row: Row | undefined) => Row | undefined;

/** Change of a row. */
export type UnsentChange = {
  [Table in UnsentTable]: { table: Table; key: string; change: RowChange<UnsentRows[Table]> };
}[UnsentTable];

export type UnsentRow = UnsentRows[UnsentTable];

/** Change of a row of any table, as the image holds it until it is committed. */
export type PendingChange = {
  table: UnsentTable;
  key: string;
  change(row: UnsentRow | undefined): UnsentRow | undefined;
};

export const noState: UnsentState = { drafts: new Map(), outbox: new Map(), reads: new Map(), operations: new Map() };

export const applyChanges = (state: UnsentState, changes: readonly PendingChange[]): UnsentState => {
  if (changes.length === 0) return state;
  const next: Record<UnsentTable, ReadonlyMap<string, unknown>> = { ...state };
  for (const table of new Set(changes.map((one) => one.table))) {
    const rows = new Map<string, UnsentRow>(state[table]);
    for (const { key, change } of changes.filter((one) => one.table === table)) {
      const row = change(rows.get(key));
      if (row) rows.set(key, row);
      else rows.delete(key);
    }
    next[table] = rows;
  }
  return next as UnsentState;
};

/** Whether all rows have the same content. */
export const isSameState = (a: UnsentState, b: UnsentState): boolean => {
  const isSameRow = (row: UnsentRow, other: UnsentRow | undefined) =>
    row === other || JSON.stringify(row) === JSON.stringify(other);
  return unsentTables.every(
    (table) =>
      a[table].size === b[table].size && [...a[table]].every(([key, row]) => isSameRow(row, b[table].get(key))),
  );
};

/** The first change of each row. */
export const listChangedRows = (changes: readonly PendingChange[]): PendingChange[] => [
  ...new Map([...changes].reverse().map((one) => [`${one.table} ${one.key}`, one])).values(),
];
