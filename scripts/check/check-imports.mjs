// Checks the import rules (import-rules.mjs), that imports form no cycles, and how they are written: an import names its
// file with the extension, relatively within its own folder and below, otherwise by an alias of package.json. Paths in
// `new URL(path, import.meta.url)` lead to a file.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "../run.mjs";
import { findUrlViolation, findViolation } from "./import-rules.mjs";
import { listSources } from "./list-sources.mjs";

const all = listSources();
const sources = all.filter((file) => /^(contract|worker|src)\/.*\.tsx?$/.test(file));
const known = new Set(all);
const { imports: aliasEntries } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** "#sync/" → "src/sync/" */
const aliases = Object.entries(aliasEntries).map(([alias, target]) => [alias.slice(0, -1), target.slice(2, -1)]);

/** Repository file of a specifier, or the specifier itself for a package. */
function resolve(from, specifier) {
  const path = specifier.replace(/\?.*$/, "");
  if (path.startsWith(".")) return posix.normalize(posix.join(dirname(from), path));
  const alias = aliases.find(([prefix]) => path.startsWith(prefix));
  return alias ? alias[1] + path.slice(alias[0].length) : path;
}

/** All imports and re-exports of a file, with whether they are type-only. */
function listImports(file) {
  const { module, program } = parseSync(file, readFileSync(join(root, file), "utf8"));
  const found = [];
  for (const { moduleRequest, entries } of module.staticImports) {
    const typeOnly = entries.length > 0 && entries.every((entry) => entry.isType);
    found.push({ specifier: moduleRequest.value, typeOnly });
  }
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, isType } of entries) {
      if (moduleRequest) found.push({ specifier: moduleRequest.value, typeOnly: isType });
    }
  }
  for (const specifier of listDynamicImports(program)) found.push({ specifier, typeOnly: false });
  return found.map(({ specifier, typeOnly }) => ({ specifier, typeOnly, to: resolve(file, specifier) }));
}

/** Calls `visit` with every node of a syntax tree. */
function walk(node, visit) {
  if (!Array.isArray(node)) visit(node);
  for (const value of Object.values(node)) if (value && typeof value === "object") walk(value, visit);
}

function listDynamicImports(program) {
  const found = [];
  walk(program, ({ type, source }) => {
    if (type === "ImportExpression" && typeof source.value === "string") found.push(source.value);
  });
  return found;
}

/** Paths of a file that are written as `new URL("path", import.meta.url)`. */
function listUrlPaths(file) {
  const text = readFileSync(join(root, file), "utf8");
  if (!text.includes("import.meta.url")) return [];
  const found = [];
  walk(parseSync(file, text).program, ({ type, callee, arguments: [path, base] = [] }) => {
    if (type !== "NewExpression" || callee.name !== "URL" || typeof path?.value !== "string") return;
    if (base?.object?.type === "MetaProperty") found.push(path.value);
  });
  return found;
}

/** Reason why a specifier is written incorrectly, or undefined. */
function findSpellingViolation(from, specifier, to) {
  if (!/^[.#]/.test(specifier)) return undefined;
  if (!known.has(to)) return "there is no such file (an import names it with the ending)";
  if (!aliases.some(([, folder]) => to.startsWith(folder))) return undefined;
  const isBelow = to.startsWith(`${dirname(from)}/`);
  if (isBelow && !specifier.startsWith("./")) return "what is in the same folder or below is imported relatively";
  if (!isBelow && !specifier.startsWith("#"))
    return "what is in another folder is imported by its alias (package.json)";
  return undefined;
}

const graph = new Map();
const problems = [];
for (const file of sources) {
  const imports = listImports(file);
  graph.set(
    file,
    imports.map(({ to }) => to).filter((to) => /\.tsx?$/.test(to) && known.has(to)),
  );
  for (const { specifier, to, typeOnly } of imports) {
    const spelling = findSpellingViolation(file, specifier, to);
    if (spelling) problems.push(`${file} imports ${specifier}: ${spelling}`);
    const reason = findViolation(file, to, typeOnly);
    if (reason) problems.push(`${file} → ${to}: ${reason}`);
  }
}

for (const file of all.filter((name) => /\.(tsx?|mjs)$/.test(name))) {
  for (const path of listUrlPaths(file)) {
    const reason = findUrlViolation(path, existsSync(join(root, dirname(file), path)));
    if (reason) problems.push(`${file} names ${path}: ${reason}`);
  }
}

const state = new Map();
function visitForCycles(file, trail) {
  if (state.get(file) === "done") return;
  if (state.get(file) === "open") {
    problems.push(`cycle: ${[...trail.slice(trail.indexOf(file)), file].join(" → ")}`);
    return;
  }
  state.set(file, "open");
  for (const next of graph.get(file) ?? []) visitForCycles(next, [...trail, file]);
  state.set(file, "done");
}
for (const file of graph.keys()) visitForCycles(file, []);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${sources.length} files follow the import rules, without cycles.`);
