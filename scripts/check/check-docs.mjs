// Keeps documentation and comments consistent with the repository: relative links, repository paths in backticks, steps of
// the journeys, files that comments name, and symbols that either places in a file must exist. Decision pages must have
// the standard form and be listed in the index.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { root } from "../run.mjs";
import {
  definesSymbol,
  findPageProblems,
  listComments,
  listNamedFiles,
  listPlacedSymbols,
  listSteps,
} from "./doc-rules.mjs";
import { listSources } from "./list-sources.mjs";

const files = listSources();
const paths = new Set(files);
for (const file of files) for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) paths.add(folder);
const markdown = new Set(files.filter((file) => file.endsWith(".md")).map((file) => basename(file)));

const topFolders = "contract|worker|src|migrations|tests|bench|lab|scripts|docs|public";
const repositoryPath = new RegExp(`^(?:${topFolders})/[\\w./{},*<>-]*$`);
const problems = [];

/** Whether a path in a document exists; paths with placeholders or wildcards are accepted. */
const exists = (path) => /[{}*<>]/.test(path) || paths.has(path.replace(/\/$/, "")) || existsSync(join(root, path));
const read = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");
/** Ends of all paths, from the file name up to the whole path: comments may leave out the beginning. */
const pathEnds = new Set(
  files.flatMap((file) => file.split("/").map((_, index, parts) => parts.slice(index).join("/"))),
);

/** @param {string} file @param {string} text */
const findPlacedSymbolProblems = (file, text) =>
  listPlacedSymbols(text)
    .filter(({ path }) => paths.has(path))
    .filter(({ symbol, path }) => !new RegExp(`\\b${symbol}\\b`).test(read(path)))
    .map(({ symbol, path }) => `${file}: there is no ${symbol} in ${path}`);

for (const file of files.filter((name) => name.endsWith(".md") && name !== "docs/SPEC.md")) {
  const text = readFileSync(join(root, file), "utf8");
  for (const [, target] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    if (!exists(normalize(join(dirname(file), target)))) problems.push(`${file}: the link ${target} leads nowhere`);
  }
  for (const [, code] of text.matchAll(/`([^`\n]+)`/g)) {
    if (repositoryPath.test(code) && !exists(code)) problems.push(`${file}: there is no ${code}`);
  }
  problems.push(...findPlacedSymbolProblems(file, text));
}

for (const file of files.filter((name) => /\.(tsx?|mjs)$/.test(name))) {
  for (const comment of listComments(read(file))) {
    for (const name of listNamedFiles(comment))
      if (!pathEnds.has(name)) problems.push(`${file}: a comment names ${name}, which does not exist`);
    problems.push(...findPlacedSymbolProblems(file, comment));
  }
}

const journeySteps = listSteps(read("docs/ARCHITECTURE.md"));
if (journeySteps.length === 0) problems.push("docs/ARCHITECTURE.md: has no steps of a journey");
for (const { path, symbol } of journeySteps) {
  if (exists(path) && !definesSymbol(read(path), symbol)) {
    problems.push(`docs/ARCHITECTURE.md: ${path} does not define ${symbol}`);
  }
}

const decisions = "docs/decisions/";
const index = read(`${decisions}README.md`);
for (const file of files.filter((name) => name.startsWith(decisions) && !name.endsWith("/README.md"))) {
  for (const problem of findPageProblems(read(file))) problems.push(`${file}: ${problem}`);
  if (!index.includes(`(${basename(file)})`)) problems.push(`${file}: is not in ${decisions}README.md`);
}

for (const file of files.filter((name) => /\.(tsx?|mjs|toml|jsonc|sql)$/.test(name))) {
  for (const [cited] of readFileSync(join(root, file), "utf8").matchAll(/\b[\w-]+\.md\b/g)) {
    if (!markdown.has(cited)) problems.push(`${file}: cites ${cited}, which is not in the repository`);
  }
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
