/** Values of a row to write, by column name. */
export type ColumnValues<Column extends string = string> = Record<Column, string | number | null>;

/** SET clause of an UPDATE with one parameter for each column. */
export const toAssignments = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = ?`).join(", ");

/** INSERT statement with one parameter for each column. */
export const toInsert = (table: string, columns: readonly string[], verb = "INSERT"): string =>
  `${verb} INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;

/** Statement parameters in the order of the columns. */
export const toParameters = <Column extends string>(
  columns: readonly Column[],
  values: ColumnValues<Column>,
): (string | number | null)[] => columns.map((column) => values[column]);
