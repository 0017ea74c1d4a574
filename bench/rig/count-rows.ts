import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { MeasuredCosts } from "#bench/rows/counts.ts";
import { bin, toolEnv } from "#scripts/run.mjs";
import { root } from "#tests/support/server/state.ts";

/**
 * Runs one of bench/rows/*.bench.test.ts inside workerd and parses its output, one line of JSON per result. Limits are a
 * thousand times wider than in production unless `limitFactor` says otherwise.
 */
export async function runRowsBench(file: string, limitFactor = 1_000): Promise<unknown[]> {
  const args = ["run", "-c", join("bench", "rows", "vitest.config.ts"), `${file}.bench.test.ts`];
  const child = spawn(join(bin, "vitest"), args, {
    cwd: root,
    env: { ...toolEnv(), BENCH_LIMIT_FACTOR: String(limitFactor) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = () => void child.kill();
  process.once("exit", stop);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  process.off("exit", stop);
  if (code !== 0) throw new Error(`Counting rows failed\n${output}`);
  return [...output.matchAll(/^BENCH (\{.*\})$/gm)].map((match): unknown => JSON.parse(match[1] ?? ""));
}

export const isMeasured = (reported: unknown): reported is MeasuredCosts =>
  typeof reported === "object" && reported !== null && "counts" in reported;

/** Same for benches that only count rows and requests. */
export async function countRows(file: "rows" | "long-chat" | "groups" | "push"): Promise<MeasuredCosts[]> {
  return (await runRowsBench(file)).filter(isMeasured);
}
