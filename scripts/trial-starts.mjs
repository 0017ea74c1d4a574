// Starts every subject of the benchmarks and every trial of the laboratory for a moment, so that a change which breaks
// one of them is noticed although nobody measures every day.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { bin, root, run, toolEnv } from "./run.mjs";

/** A subject that still runs after this time has built the product, started its servers and begun to measure. */
const runMs = 45_000;
const endMs = 15_000;

/**
 * Runs one subject or trial until it ends or its time is up.
 * @param {string} script
 * @param {string} name
 * @returns {Promise<string | undefined>} why it failed
 */
function startOne(script, name) {
  return new Promise((resolve) => {
    const child = spawn(join(bin, "node"), [script, name], {
      cwd: root,
      env: toolEnv(),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output = (output + text).slice(-4_000);
      });
    let isStopped = false;
    /** Reaches the servers and browsers of a subject too: it leads a process group. */
    const signal = (kind) => {
      try {
        process.kill(-(child.pid ?? 0), kind);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    };
    const stop = setTimeout(() => {
      isStopped = true;
      child.kill("SIGINT");
    }, runMs);
    const kill = setTimeout(() => signal("SIGKILL"), runMs + endMs);
    child.on("close", (code) => {
      for (const timer of [stop, kill]) clearTimeout(timer);
      signal("SIGKILL");
      resolve(isStopped || code === 0 ? undefined : output);
    });
  });
}

/** Starts all of them one after the other. @returns {Promise<import("./test-reports.mjs").Counts>} */
export async function startTrials() {
  /** @type {import("./test-reports.mjs").Counts} */
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [], flaky: [] };
  for (const script of ["bench/run.mjs", "lab/run.mjs"]) {
    const { ok, output } = run("node", [script, "--list"], { quiet: true });
    if (!ok) {
      console.log(`- ${script}: skipped\n${output}`);
      counts.skipped += 1;
      continue;
    }
    for (const name of output.trim().split("\n")) {
      const failure = await startOne(script, name);
      console.log(`${failure === undefined ? "✓" : "✗"} ${script} ${name}`);
      if (failure === undefined) counts.passed += 1;
      else {
        counts.failed += 1;
        counts.failures.push(`${script} ${name}\n${failure}`);
      }
    }
  }
  return counts;
}
