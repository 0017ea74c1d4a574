import { countRows } from "#bench/rig/count-rows.ts";
import type { Section } from "#bench/rig/table.ts";
import type { MeasuredCosts } from "#bench/rows/counts.ts";

const framesPerRequest = 20; // Cloudflare charges twenty incoming frames as one request

/** Rows and requests per message and per opening. */
export async function measureRows(): Promise<Section[]> {
  const measured = await countRows("rows");
  const isOpening = ({ name }: MeasuredCosts) => /^(list|chat|search|gallery): (?!lone)/.test(name);
  const note =
    "An alarm set counts as a row written too and is in both columns. Requests are calls between Worker and objects, alarms that ran, and frames from devices, twenty of which are charged as one.";
  return [
    toCostSection(
      "Rows per message",
      measured.filter((one) => !isOpening(one)),
      [
        "Both receipts included, counted until every alarm and everything written behind has happened.",
        note,
        "Aim: at most 6 rows written and 3 object requests for a message, 0 Worker requests.",
      ],
    ),
    toCostSection("Rows per opening", measured.filter(isOpening), [note, "Aim: at most 50 rows read in the objects."]),
  ];
}

/** Table with one row per result, divided by its `per`, and a column for pushes if they are counted. */
export function toCostSection(title: string, measured: readonly MeasuredCosts[], notes: string[]): Section {
  const hasPushes = measured.some(({ pushes }) => pushes !== undefined);
  const columns = ["", "read", "written", "alarms set", "requests", "D1 read", "D1 written"];
  if (hasPushes) columns.push("pushes");
  const rows = measured.map(({ name, per, counts, pushes = 0 }) => {
    const requests = counts.objectRequests + counts.alarmsRun + counts.framesIn / framesPerRequest;
    const figures = [
      counts.objectRowsRead,
      counts.objectRowsWritten,
      counts.alarmsSet,
      requests,
      counts.d1RowsRead,
      counts.d1RowsWritten,
      ...(hasPushes ? [pushes] : []),
    ];
    return [name, ...figures.map((figure) => String(Number((figure / per).toFixed(2))))];
  });
  return { title, columns, rows, notes };
}
