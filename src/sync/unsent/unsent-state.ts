import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { type UnsentTable, unsentKeys } from "#lib/unsent/unsent-database.ts";
import { AttachmentDraftRow, RecordingRow, UploadRow } from "./attachment-rows.ts";
import { DraftRow, mergeDrafts } from "./draft-row.ts";
import { OperationRow } from "./operation-row.ts";
import { findUploadFile, mergeOutboxRows, mergeReads, OutboxRow, ReadRow } from "./outbox-row.ts";
import { PostQueueRow } from "./post-queue-row.ts";

/** Rows of the tables. */
export type UnsentRows = {
  drafts: DraftRow;
  outbox: OutboxRow;
  reads: ReadRow;
  operations: OperationRow;
  attachments: AttachmentDraftRow;
  recordings: RecordingRow;
  posts: PostQueueRow;
  uploads: UploadRow;
};

type TableDefinition<Row> = {
  schema: v.GenericSchema<unknown, Row>;
  /** Joins the committed row and one that a page could not commit; see `mergeDrafts`. */
  merge(committed: Row | undefined, left: Row | undefined, seenAt: number | undefined): Row | undefined;
  /** Whether the journal keeps a committed row, because the database may be lost before the server has it. */
  isKeptInJournal: boolean;
  /** Ids of the bytes (`unsent-bytes.ts`) that a row names. */
  listBytes(row: Row): readonly Uuid[];
};

/**
 * The committed row and one that a page could not commit: the later one. One that the page had deleted stays if another
 * page changed it meanwhile.
 */
const mergeByTime = <Row extends { at: number }>(
  committed: Row | undefined,
  left: Row | undefined,
  seenAt: number | undefined,
): Row | undefined => {
  if (!left) return committed?.at === seenAt ? undefined : committed;
  return committed && committed.at > left.at ? committed : left;
};

const defineTable = <Row extends { at: number }>(schema: v.GenericSchema<unknown, Row>): TableDefinition<Row> => ({
  schema,
  merge: mergeByTime,
  isKeptInJournal: false,
  listBytes: () => [],
});

const listFileOf = (row: OutboxRow): Uuid[] => {
  const file = findUploadFile(row);
  return file === undefined ? [] : [file];
};

export const definitions: { [Table in UnsentTable]: TableDefinition<UnsentRows[Table]> } = {
  drafts: { ...defineTable(DraftRow), merge: mergeDrafts },
  outbox: { ...defineTable(OutboxRow), merge: mergeOutboxRows, isKeptInJournal: true, listBytes: listFileOf },
  reads: { ...defineTable(ReadRow), merge: mergeReads },
  operations: defineTable(OperationRow),
  attachments: { ...defineTable(AttachmentDraftRow), listBytes: ({ files }) => files.map(({ id }) => id) },
  recordings: { ...defineTable(RecordingRow), listBytes: ({ chunks }) => chunks },
  posts: {
    ...defineTable(PostQueueRow),
    listBytes: ({ id, picture, state }) => (picture && state !== "cancelled" ? [id] : []),
  },
  uploads: { ...defineTable(UploadRow), listBytes: ({ file, state }) => (state === "cancelled" ? [] : [file]) },
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

/** Row before it has a time. */
export type Untimed<Row> = Row extends unknown
  ? { [Key in keyof Row as string extends Key ? never : Key extends "at" ? never : Key]: Row[Key] }
  : never;

/**
 * Change of a row at a device time. Each version of a row has a time of its own, also after the clock was set back. A
 * change that returns the same row changes nothing.
 */
export const toTimedChange = <Table extends UnsentTable>(
  table: Table,
  key: string,
  at: number,
  change: (row: UnsentRows[Table] | undefined) => Untimed<UnsentRows[Table]> | undefined,
): UnsentChange => {
  const apply = (row: UnsentRows[Table] | undefined) => {
    const next = change(row);
    return next && next !== (row as unknown) ? { ...next, at: Math.max(at, (row?.at ?? 0) + 1) } : next;
  };
  return { table, key, change: apply } as unknown as UnsentChange;
};

/** Deletion of a row. */
export const toRemoval = (table: UnsentTable, key: string): UnsentChange =>
  ({ table, key, change: () => undefined }) as UnsentChange;

/** Change of a row of any table, as the image holds it until it is committed. */
export type PendingChange = {
  table: UnsentTable;
  key: string;
  change(row: UnsentRow | undefined): UnsentRow | undefined;
};

export const noState = Object.fromEntries(unsentTables.map((table) => [table, new Map()])) as unknown as UnsentState;

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

/** Ids of the bytes that a row of a table names. */
export const listBytes = (table: UnsentTable, row: UnsentRow | undefined): readonly Uuid[] =>
  row ? (definitions[table].listBytes as (row: UnsentRow) => readonly Uuid[])(row) : [];

/** Ids of the bytes that any row names. */
export const listNamedBytes = (state: UnsentState): Set<Uuid> =>
  new Set(unsentTables.flatMap((table) => [...state[table].values()].flatMap((row) => listBytes(table, row))));

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
