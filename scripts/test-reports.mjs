// Parses the JSON reports of Vitest and Playwright: number of tests passed, failed and skipped, and texts of the
// failures.
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root } from "./run.mjs";

/**
 * `failures` and `flaky` are names of tests, each followed by the error; a flaky test failed and passed when repeated,
 * and counts as passed.
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[], flaky: string[] }} Counts
 */

/** Maximum lines of an error repeated at the end. */
const reasonLines = 24;

/**
 * Counts of a suite without a usable report.
 * @param {string} why
 * @returns {Counts}
 */
export const toFailedCounts = (why) => ({ passed: 0, failed: 1, skipped: 0, failures: [why], flaky: [] });

/** Name of a test with the first lines of its error, without colours and internal stack frames. */
function formatFailure(name, message = "") {
  const lines = stripVTControlCharacters(message).split("\n");
  const relevantLines = lines.filter((line) => !line.includes("node_modules") && !/^ +at new Promise/.test(line));
  return [name, ...relevantLines.slice(0, reasonLines).map((line) => `    ${line}`)].join("\n");
}

/** @returns {Counts} */
export function countVitest(report) {
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) =>
        formatFailure(`${relative(root, name)} › ${fullName}`, failureMessages[0]),
      ),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
    flaky: [],
  };
}

const listSpecs = ({ suites = [], specs = [] }) => [...specs, ...suites.flatMap(listSpecs)];

/** @returns {Counts} */
export function countPlaywright(report) {
  const { expected, unexpected, flaky, skipped } = report.stats;
  const specs = listSpecs(report);
  const nameAll = (status) =>
    specs
      .filter(({ tests }) => tests.some((test) => test.status === status))
      .map(({ file, title, tests }) => {
        const results = tests.flatMap((test) => test.results);
        return formatFailure(`tests/${file} › ${title}`, results.find(({ error }) => error)?.error.message);
      });
  return {
    passed: expected + flaky,
    failed: unexpected,
    skipped,
    failures: nameAll("unexpected"),
    flaky: nameAll("flaky"),
  };
}

/**
 * Closing text of a run: failed and flaky tests, and a last line with the numbers.
 * @param {Counts} total
 */
export function toClosingText({ passed, failed, skipped, failures, flaky }) {
  const parts = [];
  if (failures.length > 0) parts.push(["", "Failed:", ...failures.map((test) => `  ${test}`)]);
  if (flaky.length > 0) parts.push(["", ...flaky.map((test) => `flaky: ${test}`), ""]);
  parts.push([`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`]);
  return parts.flat().join("\n");
}
