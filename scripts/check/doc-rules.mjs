// Rules for single documents and comments, used by check-docs.mjs: the form of a decision page, the steps of a journey, and
// the paths and symbols that a text names.

import { parseSync } from "oxc-parser";

const headings = ["Context", "Decision", "Consequences", "Reconsider when"];
const linesMax = 60;

/**
 * Problems of a decision page: a title, a line `Date: YYYY-MM-DD`, the four headings in order, and at most one page.
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
  if (lines.length > linesMax) problems.push(`has ${lines.length} lines; a page has at most ${linesMax}`);
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

/** Comments of a module, as one text. @param {string} file @param {string} source */
export const readComments = (file, source) =>
  parseSync(file, source)
    .comments.map(({ value }) => value.replace(/\n\s*\*?\s?/g, " "))
    .join(" ");

const topFolders = "contract|worker|src|migrations|tests|bench|lab|scripts|docs|public";
const namedPath = new RegExp(
  `(?<![\\w/.#@:*-])(?:(?:${topFolders})/[\\w./-]*[\\w-]|(?:[\\w-]+/)*[\\w-]+(?:\\.[\\w-]+)*\\.(?:tsx?|mjs|css|sql|md|toml|py|webp))(?!/?[\\w(*<{[-]|\\.\\w)`,
  "g",
);

/**
 * Paths that a text names: of a folder or file from the top, as in "src/sync", or of a file by its name or the end of its
 * path. Paths with placeholders are left out.
 * @param {string} text
 */
export const listNamedPaths = (text) => Array.from(text.matchAll(namedPath), ([path]) => path);

const placedSymbol = /`#?([A-Za-z_]\w*)(?:\(\))?` (?:\(`?([\w./-]+\.(?:tsx?|mjs))`?\)|in `([\w./-]+\.(?:tsx?|mjs))`)/g;

/**
 * Symbols that a text places in a file, as in "`sendText` (`src/sync/actions/messages.ts`)" or "`sendText` in `src/sync/actions/messages.ts`".
 * @param {string} text
 * @returns {{ symbol: string, path: string }[]}
 */
export const listPlacedSymbols = (text) =>
  Array.from(text.matchAll(placedSymbol), ([, symbol, bracketed, named]) => ({ symbol, path: bracketed ?? named }));
