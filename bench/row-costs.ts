import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bin, toolEnv } from "../scripts/run.mjs";
import { root } from "../tests/support/state";
import type { Counts } from "./rows/counts";
import type { Section } from "./table";

type Measured = { name: string; per: number; counts: Counts };

const framesPerRequest = 20; // Cloudflare charges twenty incoming frames as one request

/** Runs bench/rows/*.bench.test.ts inside workerd, where rows can be counted, and reads what it reports. */
export async function measureRows(): Promise<Section[]> {
  const args = ["run", "-c", join("bench", "rows", "vitest.config.ts")];
  const child = spawn(join(bin, "vitest"), args, { cwd: root, env: toolEnv(), stdio: ["ignore", "pipe", "pipe"] });
  const stop = () => void child.kill();
  process.once("exit", stop);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  process.off("exit", stop);
  const measured = [...output.matchAll(/^BENCH (\{.*\})$/gm)].map((match) => JSON.parse(match[1] ?? "") as Measured);
  if (code !== 0) throw new Error(`Counting rows failed\n${output}`);
  const isOpening = ({ name }: Measured) => /^(list|chat|search): (?!lone)/.test(name);
  const note =
    "An alarm set counts as a row written too and is in both columns. Requests are calls between Worker and objects, alarms that ran, and frames from devices, twenty of which are charged as one.";
  return [
    toSection(
      "Rows per message",
      measured.filter((one) => !isOpening(one)),
      [
        "Both receipts included, counted until every alarm and everything written behind has happened.",
        note,
        "Aim of DESIGN.md §4: at most 6 rows written and 3 object requests for a message, 0 Worker requests.",
      ],
    ),
    toSection("Rows per opening", measured.filter(isOpening), [note, "Aim: at most 50 rows read in the objects."]),
  ];
}

function toSection(title: string, measured: Measured[], notes: string[]): Section {
  const columns = ["", "read", "written", "alarms set", "requests", "D1 read", "D1 written"];
  const rows = measured.map(({ name, per, counts }) => {
    const requests = counts.objectRequests + counts.alarmsRun + counts.framesIn / framesPerRequest;
    const figures = [
      counts.objectRowsRead,
      counts.objectRowsWritten,
      counts.alarmsSet,
      requests,
      counts.d1RowsRead,
      counts.d1RowsWritten,
    ];
    return [name, ...figures.map((figure) => String(Number((figure / per).toFixed(2))))];
  });
  return { title, columns, rows, notes };
}
