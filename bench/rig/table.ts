/** Result of a subject: a table, with notes needed to judge the figures. */
export type Section = { title: string; columns: string[]; rows: string[][]; notes: string[] };

/** Prints the first column left-aligned, figures right-aligned. */
export function printSection({ title, columns, rows, notes }: Section): void {
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  console.log(`\n${title}\n${line(columns)}\n${line(widths.map((width) => "─".repeat(width)))}`);
  for (const row of rows) console.log(line(row));
  for (const note of notes) console.log(`  ${note}`);
}

export const formatMilliseconds = (value: number): string =>
  `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
export const formatKilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
export const formatRatio = (ratio: number): string => `${ratio.toFixed(2)}×`;
