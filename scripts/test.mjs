// `npm test`: every check and every test, from a bare clone. `npm test -- unit e2e` runs only those.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { build } from "./build.mjs";
import { runChecks } from "./check-steps.mjs";
import { requireChromium } from "./chromium.mjs";
import { generateTypes } from "./prepare.mjs";
import { install, root, run } from "./run.mjs";

const reports = join(root, ".reports");
/** So much of what a failure said is repeated at the end. */
const reasonLines = 24;
/** What a suite that could not be counted counts as. */
const nothing = (why) => ({ passed: 0, failed: 1, skipped: 0, names: [why] });

function readReport(name) {
  try {
    return JSON.parse(readFileSync(join(reports, `${name}.json`), "utf8"));
  } catch {
    console.error(`${name}: the runner ended without a report.`);
    return undefined;
  }
}

/** A run that failed although no test did (a file that does not load, an error after the last test) counts as one failure. */
function withRunner(ok, counts) {
  if (ok || counts.failed > 0) return counts;
  return { ...counts, failed: 1, names: ["the runner itself: no test failed (see above)"] };
}

/** The beginning of what a failure said, without colours and the runner's own calls, under its name. */
function withReason(name, message = "") {
  const lines = stripVTControlCharacters(message).split("\n");
  const told = lines.filter((line) => !line.includes("node_modules") && !/^ +at new Promise/.test(line));
  return [name, ...told.slice(0, reasonLines).map((line) => `    ${line}`)].join("\n");
}

function failuresOfVitest(report) {
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => withReason(`${relative(root, name)} › ${fullName}`, failureMessages[0])),
  );
}

function failuresOfPlaywright({ suites = [], specs = [] }) {
  const here = specs
    .filter(({ ok }) => !ok)
    .map(({ file, title, tests }) => {
      const results = tests.flatMap((test) => test.results);
      return withReason(`tests/${file} › ${title}`, results.find(({ error }) => error)?.error.message);
    });
  return [...here, ...suites.flatMap(failuresOfPlaywright)];
}

function runVitest(project) {
  const outputFile = join(reports, `${project}.json`);
  const args = [
    "run",
    "--project",
    `${project}*`,
    "--maxWorkers=2",
    "--passWithNoTests",
    "--reporter=default",
    "--reporter=json",
  ];
  const { ok } = run("vitest", [...args, `--outputFile.json=${outputFile}`]);
  const report = readReport(project);
  if (!report) return nothing("no report");
  return withRunner(ok, {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    names: failuresOfVitest(report),
  });
}

async function runPlaywright(project) {
  build({ mailbox: true });
  await requireChromium();
  const { ok } = run("playwright", ["test", "--project", project, "--pass-with-no-tests", "--reporter=list,json"], {
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: join(reports, `${project}.json`) },
  });
  const report = readReport(project);
  if (!report) return nothing("no report");
  const { expected, unexpected, flaky, skipped } = report.stats;
  const names = failuresOfPlaywright(report);
  return withRunner(ok, { passed: expected, failed: unexpected + flaky, skipped, names });
}

const suites = {
  check: async () => runChecks(),
  unit: async () => runVitest("unit"),
  worker: async () => runVitest("worker"),
  e2e: () => runPlaywright("e2e"),
  chaos: () => runPlaywright("chaos"),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in suites));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Choose from ${Object.keys(suites).join(", ")}.`);
  process.exit(1);
}
const chosen = asked.length > 0 ? asked : Object.keys(suites);

const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

/** Runs one suite; what keeps it from running at all counts as one failure. */
async function count(name) {
  rmSync(join(reports, `${name}.json`), { force: true });
  try {
    return await suites[name]();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(why);
    return nothing(why);
  }
}

try {
  install();
  generateTypes();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log("0 passed, 1 failed");
  process.exit(1);
}
mkdirSync(reports, { recursive: true });
for (const name of chosen) {
  console.log(`\n— ${name}`);
  const counts = await count(name);
  for (const key of ["passed", "failed", "skipped"]) total[key] += counts[key];
  failures.push(...counts.names.map((test) => `${name}: ${test}`));
}

const executed = total.passed + total.failed;
// Named once more at the end, where whoever reads only that finds them.
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((line) => `  ${line}`).join("\n")}`);
if (executed === 0) console.error("No test was executed.");
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
process.exit(total.failed > 0 || executed === 0 ? 1 : 0);
