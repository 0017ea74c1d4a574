// `node scripts/check/byte-budget.mjs` compares the compressed sizes of the build with bench/budget.json, as `npm run
// check` does; `--update` writes the current sizes into that file. Sizes are those of the served files (brotli 11). The
// files of a page are read from the bundler's manifest, so no browser is needed and the result is deterministic. `npm
// run bench -- size` compares them with what Chromium loads.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { ensureBuilt } from "../build/build.mjs";
import { root } from "../run.mjs";

const client = join(root, "dist", "client");
const budgetPath = join("bench", "budget.json");
/** Growth allowed before the budget file must be updated. */
const toleranceBytes = 500;
/** Smaller chunks only point to the part with the code (docs/decisions/client-bundles.md). */
const minChunkBytes = 300;

/** Service worker, which a browser downloads with each version of the client. */
const serviceWorker = "sw.js";

/** Language with the longest texts; each person loads one. */
const texts = "src/i18n/fr.json";
const entryRoots = (screen) => ["src/entry.tsx", `src/features/auth/screens/${screen}-screen.tsx`, `${texts}?entry`];
const appRoots = (screen) => ["index.html", "src/app-root.tsx", `${texts}?app`, `src/features/${screen}-screen.tsx`];

/**
 * Pages: a document (built file) and the modules it runs or requests until it is usable, with all their imports.
 * @type {Record<string, { document: string, roots: string[] }>}
 */
export const scenes = {
  "/": { document: "entry/welcome.fr.page", roots: entryRoots("welcome") },
  "/login": { document: "entry/login.fr.page", roots: [...entryRoots("login"), "src/lib/factors/passkey-api.ts"] },
  "/register": { document: "entry/register.fr.page", roots: entryRoots("register") },
  "/recover": { document: "entry/recover.fr.page", roots: entryRoots("recover") },
  "conversation list": { document: "index.html", roots: appRoots("conversations/conversations") },
  "first text chat": { document: "index.html", roots: appRoots("chat/private-chat") },
};

function brotliSize(path) {
  const compressed = join(client, `${path}.br`);
  if (existsSync(compressed)) return readFileSync(compressed).length;
  const content = readFileSync(join(client, path));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  return brotliCompressSync(content, { params }).length;
}

/** Files of these modules' chunks and of all their imports. */
function listChunkFiles(manifest, roots) {
  const [files, visited] = [new Set(), new Set()];
  const walk = (key) => {
    if (visited.has(key)) return;
    visited.add(key);
    const chunk = manifest[key];
    if (!chunk) throw new Error(`scripts/check/byte-budget.mjs names ${key}, which is not a chunk of the client`);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const imported of chunk.imports ?? []) walk(imported);
  };
  for (const key of roots) walk(key);
  return files;
}

/**
 * Documents that show a person's content before any script (docs/decisions/first-view.md), drawn by the build with
 * made-up rows and without the embedded data.
 */
const firstViews = ["list", "chat"];

const sumBrotliSizes = (files) => [...files].reduce((total, file) => total + brotliSize(file), 0);
/** File name without its content hash. */
const toAssetName = (file) => file.replace(/^assets\//, "").replace(/-[\w-]{8}(?=\.\w+$)/, "");

/**
 * Sizes of the build in dist/ in bytes: of each page's document and everything it loads, and of each remaining script
 * and stylesheet.
 * @returns {{
 *   scenes: Record<string, { document: number, all: number, files: string[] }>,
 *   views: Record<string, number>,
 *   lazy: Record<string, number>,
 * }}
 */
export function measureBuild() {
  const manifest = JSON.parse(readFileSync(join(root, "dist", "manifest.json"), "utf8"));
  const measured = Object.entries(scenes).map(([name, { document, roots }]) => {
    const files = listChunkFiles(manifest, roots);
    const size = brotliSize(document);
    return [name, { document: size, all: size + sumBrotliSizes(files), files: [...files].map((file) => `/${file}`) }];
  });
  const first = listChunkFiles(
    manifest,
    Object.values(scenes).flatMap(({ roots }) => roots),
  );
  /** @type {Record<string, number>} */
  const lazy = {};
  for (const name of readdirSync(join(client, "assets")).sort()) {
    const file = `assets/${name}`;
    if (!/\.(js|css)$/.test(name) || first.has(file)) continue;
    const size = brotliSize(file);
    const title = toAssetName(file);
    if (size >= minChunkBytes) lazy[title] = (lazy[title] ?? 0) + size;
  }
  lazy[serviceWorker] = brotliSize(serviceWorker);
  const views = firstViews.map((name) => [name, brotliSize(join("..", "first-views", `${name}.html`))]);
  return { scenes: Object.fromEntries(measured), views: Object.fromEntries(views), lazy };
}

/** Sizes as entries of bench/budget.json. */
function toBudget({ scenes, views, lazy }) {
  const entries = Object.entries(scenes).flatMap(([name, { document, all }]) =>
    name.startsWith("/")
      ? [
          [`document: ${name}`, document],
          [`all: ${name}`, all],
        ]
      : [[`all: ${name}`, all]],
  );
  const documents = Object.entries(views).map(([name, size]) => [`document: first view, ${name}`, size]);
  return Object.fromEntries([
    ...entries,
    ...documents,
    ...Object.entries(lazy).map(([name, size]) => [`lazy: ${name}`, size]),
  ]);
}

const kilobytes = (bytes) => `${(bytes / 1_000).toFixed(1)} kB`;

/** Entries that exceed the budget, one line each. */
function compareBudget(budget, built) {
  return Object.entries(built).flatMap(([name, size]) => {
    const allowed = budget[name] ?? 0;
    return size > allowed + toleranceBytes
      ? [`${name}: ${kilobytes(size)} instead of ${kilobytes(allowed)}, ${kilobytes(size - allowed)} more`]
      : [];
  });
}

function main() {
  ensureBuilt();
  const built = toBudget(measureBuild());
  const path = join(root, budgetPath);
  if (process.argv.includes("--update")) {
    writeFileSync(path, `${JSON.stringify(built, null, 2)}\n`);
    for (const [name, size] of Object.entries(built)) console.log(`${kilobytes(size).padStart(9)}  ${name}`);
    return;
  }
  const grown = compareBudget(JSON.parse(readFileSync(path, "utf8")), built);
  if (grown.length === 0) return;
  console.error(`The client has grown beyond ${budgetPath}:\n${grown.map((line) => `  ${line}`).join("\n")}`);
  console.error("Reduce it, or update the budget in the same commit: npm run check -- --update-budget");
  process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main();
