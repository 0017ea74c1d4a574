// Keeps the documentation consistent with the repository: relative links, repository paths in backticks, steps of the
// journeys and Markdown files cited in source comments must exist. Decision pages must have the standard form and be
// listed in the index.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { root } from "../run.mjs";
import { definesSymbol, findPageProblems, listSteps } from "./doc-rules.mjs";
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

for (const file of files.filter((name) => name.endsWith(".md") && name !== "docs/SPEC.md")) {
  const text = readFileSync(join(root, file), "utf8");
  for (const [, target] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    if (!exists(normalize(join(dirname(file), target)))) problems.push(`${file}: the link ${target} leads nowhere`);
  }
  for (const [, code] of text.matchAll(/`([^`\n]+)`/g)) {
    if (repositoryPath.test(code) && !exists(code)) problems.push(`${file}: there is no ${code}`);
  }
}

const read = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");

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
