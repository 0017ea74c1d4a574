// Keeps documents and comments consistent with the repository: the links, paths and symbols that they name and the steps
// of the journeys must exist. Decision pages must have the standard form and be listed in the index.
import { readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { root } from "../run.mjs";
import {
  definesSymbol,
  findPageProblems,
  listNamedPaths,
  listPlacedSymbols,
  listSteps,
  readComments,
} from "./doc-rules.mjs";
import { listSources } from "./list-sources.mjs";

const files = listSources();
const paths = new Set(files);
for (const file of files) for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) paths.add(folder);
/** Ends of all paths, from the last name up to the whole path: texts may leave out the beginning. */
const pathEnds = new Set(
  [...paths].flatMap((path) => path.split("/").map((_, index, parts) => parts.slice(index).join("/"))),
);

const problems = [];
const read = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");

/** Text of a file in which paths are checked: of modules the comments, because the compiler checks the rest. */
const readText = (/** @type {string} */ file) =>
  /\.(tsx?|mjs)$/.test(file) ? readComments(file, read(file)) : read(file);

for (const file of files.filter((name) => /\.(md|tsx?|mjs|css|html|toml|jsonc|sql|py|yml)$/.test(name))) {
  const text = readText(file);
  for (const path of listNamedPaths(text)) if (!pathEnds.has(path)) problems.push(`${file}: there is no ${path}`);
  for (const { symbol, path } of listPlacedSymbols(text))
    if (paths.has(path) && !new RegExp(`\\b${symbol}\\b`).test(read(path)))
      problems.push(`${file}: there is no ${symbol} in ${path}`);
}

for (const file of files.filter((name) => name.endsWith(".md"))) {
  for (const [, target] of read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(target) || paths.has(normalize(join(dirname(file), target)).replace(/\/$/, ""))) continue;
    problems.push(`${file}: the link ${target} leads nowhere`);
  }
}

const journeySteps = listSteps(read("docs/ARCHITECTURE.md"));
if (journeySteps.length === 0) problems.push("docs/ARCHITECTURE.md: has no steps of a journey");
for (const { path, symbol } of journeySteps) {
  if (paths.has(path) && !definesSymbol(read(path), symbol)) {
    problems.push(`docs/ARCHITECTURE.md: ${path} does not define ${symbol}`);
  }
}

const decisions = "docs/decisions/";
const index = read(`${decisions}README.md`);
for (const file of files.filter((name) => name.startsWith(decisions) && !name.endsWith("/README.md"))) {
  for (const problem of findPageProblems(read(file))) problems.push(`${file}: ${problem}`);
  if (!index.includes(`(${basename(file)})`)) problems.push(`${file}: is not in ${decisions}README.md`);
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
