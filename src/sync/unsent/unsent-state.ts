import * as v from "valibot";
import { type UnsentTable, unsentKeys } from "#lib/unsent/unsent-database.ts";
import { DraftRow, mergeDrafts } from "./draft-row.ts";

/** Rows of the tables. */
export type UnsentRows = { drafts: DraftRow };

type TableDefinition<Row> = {
  schema: v.GenericSchema<unknown, Row>;
  /** Joins the committed row and one that a page could not commit; see `mergeDrafts`. */
  merge(committed: Row | undefined, left: Row | undefined, seenAt: number | undefined): Row | undefined;
};

export const definitions: { [Table in UnsentTable]: TableDefinition<UnsentRows[Table]> } = {
  drafts: { schema: DraftRow, merge: mergeDrafts },
};
export const unsentTables = Object.keys(unsentKeys) as UnsentTable[];

export const parseRow = <Table extends UnsentTable>(table: Table, row: unknown): UnsentRows[Table] | undefined => {
  const parsed = v.safeParse(definitions[table].schema, row);
  return parsed.success ? parsed.output : undefined;
};

/** All rows of all tables by key. Immutable. */
export type UnsentState = { readonly [Table in UnsentTable]: ReadonlyMap<string, UnsentRows[Table]> };

/** Changes a row, or deletes it by returning undefined. It runs once for the image and once for each commit. */
export type RowChange<Row> = (row: Row | undefined) => Row | undefined;

/** Change of a row that is not committed. */
export type PendingChange = {
  table: UnsentTable;
  key: string;
  change: RowChange<UnsentRows[UnsentTable]>;
  /** Waits for its `after`. */
  isHeld: boolean;
  isJournaled: boolean;
};

export const noState: UnsentState = { drafts: new Map() };

export const applyChanges = (state: UnsentState, changes: readonly PendingChange[]): UnsentState => {
  if (changes.length === 0) return state;
  const drafts = new Map(state.drafts);
  for (const { key, change } of changes) {
    const row = change(drafts.get(key));
    if (row) drafts.set(key, row);
    else drafts.delete(key);
  }
  return { drafts };
};

/** The first change of each row. */
export const listChangedRows = (changes: readonly PendingChange[]): PendingChange[] => [
  ...new Map([...changes].reverse().map((one) => [`${one.table} ${one.key}`, one])).values(),
];

const isSameRow = (a: PendingChange, b: PendingChange): boolean => a.table === b.table && a.key === b.key;

/** The changes of each row up to the first one that `stops`. */
export const takeUntil = (
  changes: readonly PendingChange[],
  stops: (change: PendingChange) => boolean,
): PendingChange[] =>
  changes.filter((one, index) => !changes.slice(0, index + 1).some((other) => isSameRow(one, other) && stops(other)));
