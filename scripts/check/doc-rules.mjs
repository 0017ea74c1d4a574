// Rules for single documents, used by check-docs.mjs: the form of a decision page, and the steps of a journey.

const headings = ["Context", "Decision", "Consequences", "Reconsider when"];
const linesMax = 60;
const wordsMax = 700;

/**
 * Problems of a decision page: a title, a line `Date: YYYY-MM-DD`, the four headings in order, and at most one page of
 * text.
 * @param {string} text
 * @returns {string[]}
 */
export function findPageProblems(text) {
  const problems = [];
  const lines = text.trimEnd().split("\n");
  if (!/^# \S/.test(lines[0]) || !/^Date: \d{4}-\d\d-\d\d$/.test(lines[2] ?? "")) {
    problems.push("must begin with a title and a line `Date: YYYY-MM-DD`");
  }
  const found = lines.filter((line) => line.startsWith("## ")).map((line) => line.slice(3));
  if (found.join() !== headings.join()) problems.push(`must have the headings ${headings.join(", ")}`);
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (lines.length > linesMax || words > wordsMax) {
    problems.push(`has ${lines.length} lines and ${words} words; a page has at most ${linesMax} and ${wordsMax}`);
  }
  return problems;
}

/**
 * Table rows of the form "step | `path` | `symbol`".
 * @param {string} text
 * @returns {{ path: string, symbol: string }[]}
 */
export function listSteps(text) {
  return Array.from(text.matchAll(/^\|[^|]+\| `([^`|]+)` +\| `(\w+)` +\|$/gm), ([, path, symbol]) => ({
    path,
    symbol,
  }));
}

/** Whether a module defines a symbol at its top level. */
export function definesSymbol(/** @type {string} */ source, /** @type {string} */ symbol) {
  return new RegExp(`^(?:export )?(?:default )?(?:async )?(?:const|class|function) ${symbol}\\b`, "m").test(source);
}
