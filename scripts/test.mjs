// `npm test`: every check and every test, from a bare clone. `npm test -- unit e2e` runs only those suites. `npm test --
// long` runs the simulations in full and starts every benchmark and trial, as the repository's schedule does once a day.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build/build.mjs";
import { runChecks } from "./check/check-steps.mjs";
import { requireChromium } from "./local/chromium.mjs";
import { generateTypes } from "./local/prepare.mjs";
import { installPackages, root, run } from "./run.mjs";
import { countPlaywright, countVitest, toClosingText, toFailedCounts } from "./test-reports.mjs";
import { startTrials } from "./trial-starts.mjs";

const reports = join(root, ".reports");

function readReport(name) {
  try {
    return JSON.parse(readFileSync(join(reports, `${name}.json`), "utf8"));
  } catch {
    console.error(`${name}: the runner exited without a report.`);
    return undefined;
  }
}

/**
 * Counts a failed run without a failed test (a file that does not load, an error after the last test) as one failure.
 */
function countRunnerFailure(ok, counts) {
  if (ok || counts.failed > 0) return counts;
  return { ...counts, failed: 1, failures: ["the runner itself: no test failed (see above)"] };
}

const memoryFolder = "/dev/shm";
const memoryFolderMinBytes = 4 * 2 ** 30; // a container's may be far smaller

/**
 * Makes a folder in memory for the storage of tests: syncing it to a disk takes a fifth of their processor time. Without
 * memory for it, a folder on the disk. Miniflare leaves its files there.
 */
function makeStorageFolder() {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    if (bavail * bsize >= memoryFolderMinBytes) return mkdtempSync(join(memoryFolder, "lisolo-"));
  } catch {
    // Only Linux has it.
  }
  return mkdtempSync(join(tmpdir(), "lisolo-"));
}

function runVitest(project) {
  const outputFile = join(reports, `${project}.json`);
  const args = [
    "run",
    "--project",
    `${project}*`,
    // Three times the processors of the smallest machine: tests often wait, for alarms and time-outs.
    "--maxWorkers=6",
    "--passWithNoTests",
    "--reporter=default",
    "--reporter=json",
  ];
  const storage = makeStorageFolder();
  const { ok } = run("vitest", [...args, `--outputFile.json=${outputFile}`], { env: { TMPDIR: storage } });
  rmSync(storage, { recursive: true, force: true });
  const report = readReport(project);
  return report ? countRunnerFailure(ok, countVitest(report)) : toFailedCounts("no report");
}

async function runPlaywright(projects) {
  build({ mailbox: true });
  await requireChromium();
  const name = projects.join("-");
  const args = ["test", ...projects.flatMap((project) => ["--project", project]), "--pass-with-no-tests"];
  const { ok } = run("playwright", [...args, "--reporter=list,json"], {
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: join(reports, `${name}.json`) },
  });
  const report = readReport(name);
  return report ? countRunnerFailure(ok, countPlaywright(report)) : toFailedCounts("no report");
}

const suites = {
  check: runChecks,
  unit: async () => runVitest("unit"),
  worker: async () => runVitest("worker"),
};
/** Projects of Playwright, run together: a processor that one of them leaves idle works for the other. */
const browserSuites = ["e2e", "chaos"];
/** Not part of `npm test`. Runs the suites with simulations in full, before it starts the benchmarks and trials. */
const longSuite = { name: "long", simulations: ["unit", "chaos"] };
const allSuites = [...Object.keys(suites), ...browserSuites, longSuite.name];

const requestedSuites = process.argv.slice(2);
const unknown = requestedSuites.filter((name) => !allSuites.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Choose from ${allSuites.join(", ")}.`);
  process.exit(1);
}
const isLongRun = requestedSuites.includes(longSuite.name);
if (isLongRun) {
  process.env.LONG_RUN = "true"; // tests/support/long-run.ts
  requestedSuites.push(...longSuite.simulations);
}
const isSelected = (name) => requestedSuites.length === 0 || requestedSuites.includes(name);
const browserProjects = browserSuites.filter(isSelected);
const selectedRuns = Object.entries(suites).filter(([name]) => isSelected(name));
if (browserProjects.length > 0) selectedRuns.push([browserProjects.join("-"), () => runPlaywright(browserProjects)]);
if (isLongRun) selectedRuns.push([longSuite.name, startTrials]);

/** @type {import("./test-reports.mjs").Counts} */
const total = { passed: 0, failed: 0, skipped: 0, failures: [], flaky: [] };

/** Runs one of the selected runs; an error before its report counts as one failure. */
async function runSuite(name, runTests) {
  rmSync(join(reports, `${name}.json`), { force: true });
  try {
    return await runTests();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(why);
    return toFailedCounts(why);
  }
}

try {
  installPackages();
  generateTypes();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log("0 passed, 1 failed");
  process.exit(1);
}
mkdirSync(reports, { recursive: true });
for (const [name, runTests] of selectedRuns) {
  console.log(`\n— ${name}`);
  const counts = await runSuite(name, runTests);
  for (const key of ["passed", "failed", "skipped"]) total[key] += counts[key];
  total.failures.push(...counts.failures.map((test) => `${name}: ${test}`));
  total.flaky.push(...counts.flaky);
}

const isEmpty = total.passed + total.failed === 0;
if (isEmpty) console.error("No test was executed.");
console.log(toClosingText(total));
process.exit(total.failed > 0 || isEmpty ? 1 : 0);
