// Imports point one way. These are the rules; the first one broken by an import is named in the message.
//   contract ← worker/lib, worker/db, worker/mail ← worker/objects ← worker/<feature> ← worker/api.ts, socket.ts ← worker/index.ts
//   contract ← src/lib, src/components, src/i18n ← src/sync ← src/calls ← src/features/<feature> ← src/app and the files directly in src
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "./run.mjs";

/** A feature of the Worker may use the queries.ts and access.ts of those before it. */
const workerFeatures = [
  "auth",
  "people",
  "contacts",
  "conversations",
  "groups",
  "settings",
  "calls",
  "tala",
  "files",
  "account",
];
const shared = /^worker\/([^/]+)\/(queries|access)$/;

const sources = ["contract", "worker", "src"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/")),
);
const known = new Map(sources.map((file) => [file.replace(/(\.d)?\.tsx?$/, ""), file]));

/** Every import and re-export of a file, with whether it vanishes when types are erased. */
function importsOf(file) {
  const { module, program } = parseSync(file, readFileSync(join(root, file), "utf8"));
  const found = [];
  for (const { moduleRequest, entries } of module.staticImports) {
    found.push({ to: moduleRequest.value, typeOnly: entries.length > 0 && entries.every((entry) => entry.isType) });
  }
  for (const { entries } of module.staticExports) {
    for (const entry of entries) {
      if (entry.moduleRequest) found.push({ to: entry.moduleRequest.value, typeOnly: entry.isType });
    }
  }
  for (const literal of dynamicImports(program)) found.push({ to: literal, typeOnly: false });
  return found.map(({ to, typeOnly }) => {
    const path = to.replace(/\?.*$/, "").replace(/\.tsx?$/, "");
    return {
      to: path.startsWith(".")
        ? normalize(join(dirname(file), path))
            .split(sep)
            .join("/")
        : path,
      typeOnly,
    };
  });
}

function dynamicImports(node, found = []) {
  if (Array.isArray(node)) for (const item of node) dynamicImports(item, found);
  else if (node && typeof node === "object") {
    if (node.type === "ImportExpression" && typeof node.source.value === "string") found.push(node.source.value);
    for (const value of Object.values(node)) if (value && typeof value === "object") dynamicImports(value, found);
  }
  return found;
}

/** The layer of a path within its tree: a file may import its own layer and those below. */
function layerOf(path) {
  const [tree, folder, rest] = path.split("/");
  if (tree === "worker") {
    if (folder === "lib" || folder === "db" || folder === "mail") return 1;
    if (folder === "objects") return 2;
    if (rest !== undefined) return 3;
    return folder === "index" ? 5 : 4;
  }
  if (folder === "lib" || folder === "components" || folder === "i18n") return 1;
  if (folder === "sync") return 2;
  if (folder === "calls") return 2.5;
  return folder === "features" ? 3 : 4;
}

/** Why `from` may not import `to`, or undefined. Paths have no file ending. */
function objection(from, to, typeOnly) {
  const [fromTree, fromFolder] = from.split("/");
  const [toTree, toFolder] = to.split("/");
  const isLocal = ["contract", "worker", "src", "migrations"].includes(toTree) && to.includes("/");
  if (fromTree === "contract") {
    return to === "valibot" || (isLocal && toTree === "contract") ? undefined : "contract imports valibot only";
  }
  if (to.startsWith("tests/") || to.startsWith("scripts/") || to.startsWith("bench/"))
    return "the product imports no tests or scripts";
  if (!isLocal || toTree === "contract" || toTree === "migrations") return undefined;
  if (fromTree !== toTree) {
    if (to === "worker/api" && typeOnly) return undefined;
    return "src knows the Worker only by `import type` of worker/api, the Worker knows nothing of src";
  }
  if (layerOf(to) > layerOf(from)) return "imports point one way, down the layers";
  const betweenFeatures = layerOf(from) === 3 && layerOf(to) === 3;
  if (!betweenFeatures) return undefined;
  if (fromTree === "src") {
    return from.split("/")[2] === to.split("/")[2] ? undefined : "features meet only in src/app";
  }
  if (fromFolder === toFolder) return undefined;
  if (!shared.test(to)) return "of another feature only queries.ts and access.ts may be imported";
  const ordered = workerFeatures.indexOf(toFolder) < workerFeatures.indexOf(fromFolder);
  return ordered ? undefined : `features import along one order: ${workerFeatures.join(" < ")}`;
}

const graph = new Map();
const problems = [];
for (const file of sources) {
  const from = file.replace(/(\.d)?\.tsx?$/, "");
  const imports = importsOf(file);
  graph.set(
    from,
    imports.map(({ to }) => (known.has(to) ? to : `${to}/index`)).filter((to) => known.has(to)),
  );
  for (const { to, typeOnly } of imports) {
    const reason = objection(from, to, typeOnly);
    if (reason) problems.push(`${file} → ${to}: ${reason}`);
  }
}

const state = new Map();
function visit(file, trail) {
  if (state.get(file) === "done") return;
  if (state.get(file) === "open") {
    problems.push(`cycle: ${[...trail.slice(trail.indexOf(file)), file].join(" → ")}`);
    return;
  }
  state.set(file, "open");
  for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
  state.set(file, "done");
}
for (const file of graph.keys()) visit(file, []);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${sources.length} files import along the rules, without cycles.`);
