/** Values of the columns that a row is written with, by column name. */
export type ColumnValues<Column extends string = string> = Record<Column, string | number | null>;

/** The SET clause of an UPDATE of these columns, one parameter each. */
export const toAssignments = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = ?`).join(", ");

/** An INSERT of these columns, one parameter each. */
export const toInsert = (table: string, columns: readonly string[], verb = "INSERT"): string =>
  `${verb} INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;

/** The values in the order of the columns, as parameters of a statement. */
export const toParameters = <Column extends string>(
  columns: readonly Column[],
  values: ColumnValues<Column>,
): (string | number | null)[] => columns.map((column) => values[column]);
