// `npm run build`: builds the Worker and the client into dist/. Unchanged sources are not built again. `--mailbox`
// builds for this machine only, as `npm start` and the tests do.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { generateTypes } from "../local/prepare.mjs";
import { installPackages, root, runOrThrow } from "../run.mjs";

const inputs = [
  "contract",
  "worker",
  "src",
  "public",
  "migrations",
  "scripts",
  "index.html",
  "package-lock.json",
  "uno.config.ts",
  "vite.config.ts",
  "vite.prerender.config.ts",
  "vite.sw.config.ts",
  "wrangler.toml",
  ".dev.vars",
];

function listInputFiles(name) {
  const path = join(root, name);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function hashInputs(mailbox, demo) {
  const hash = createHash("sha256").update(`mailbox ${mailbox} demo ${demo}\0`);
  for (const name of inputs) {
    const files = /\./.test(name.slice(1)) ? [join(root, name)] : listInputFiles(name).sort();
    for (const file of files) if (existsSync(file)) hash.update(file).update("\0").update(readFileSync(file));
  }
  return hash.digest("hex");
}

const openingPages = [
  "src/features/conversations/conversations-screen.tsx",
  "src/features/chat/private-chat-screen.tsx",
];

/**
 * File names of the client's scripts (those of workers are among the assets) and styles, from Vite's manifest. The
 * files that open the app come first, so that the service worker caches them first.
 */
function listAssets(client) {
  const manifest = JSON.parse(readFileSync(join(client, ".vite", "manifest.json"), "utf8"));
  const opening = manifest["index.html"];
  const pages = openingPages.map((name) => manifest[name]);
  const imports = [opening, ...pages].flatMap((chunk) => chunk.imports.map((name) => manifest[name]));
  const chunks = [opening, ...pages, ...imports, ...Object.values(manifest)];
  const files = chunks.flatMap(({ file, css = [], assets = [] }) => [
    file,
    ...css,
    ...assets.filter((asset) => asset.endsWith(".js")),
  ]);
  return [...new Set(files)].map((file) => `/${file}`);
}

const hashPath = join(root, "dist", "inputs.sha256");
const isUpToDate = (hash) => existsSync(hashPath) && readFileSync(hashPath, "utf8") === hash;

/**
 * Builds unless dist/ is current, for callers that only need the client's files, which do not depend on the mailbox.
 */
export function ensureBuilt() {
  if (!isUpToDate(hashInputs(false, false))) build({ mailbox: true });
}

/** Moves source maps out of the served folder; they are used for measuring the build. */
function moveSourceMaps(client, maps) {
  for (const entry of readdirSync(client, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".map")) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(maps, relative(client, path));
    mkdirSync(dirname(target), { recursive: true });
    renameSync(path, target);
  }
}

/**
 * Builds into a temporary folder that replaces dist/ at the end, so that a running server never sees a partial build.
 * `mailbox` is for this machine only: mails are kept and shown under /dev/mail instead of being sent. `demo` makes
 * Services link to an example partner.
 * @param {{ mailbox?: boolean, demo?: boolean }} [options]
 */
export function build({ mailbox = false, demo = false } = {}) {
  const dist = join(root, "dist");
  const hash = hashInputs(mailbox, demo);
  if (isUpToDate(hash)) return;

  const outputFolder = join(root, `dist-${process.pid}.local`);
  const client = join(outputFolder, "client");
  try {
    const env = { LISOLO_MAILBOX: mailbox ? "1" : "", LISOLO_DEMO: demo ? "1" : "" };
    runOrThrow("vite", ["build", "--logLevel", "warn", "--outDir", outputFolder], { env });
    const assets = JSON.stringify(listAssets(client));
    if (existsSync(join(root, "src", "prerender", "main.tsx"))) {
      const pages = join(outputFolder, "prerender");
      runOrThrow("vite", ["build", "-c", "vite.prerender.config.ts", "--outDir", pages]);
      runOrThrow("node", [join(pages, "main.js"), client]);
      rmSync(pages, { recursive: true });
    }
    if (existsSync(join(root, "src", "sw.ts"))) {
      runOrThrow("vite", ["build", "-c", "vite.sw.config.ts", "--outDir", client], { env: { LISOLO_ASSETS: assets } });
    }
    runOrThrow("node", [join(root, "scripts", "build", "compress.mjs"), join(client, "assets")]);
    // Kept outside the served folder, for scripts/check/byte-budget.mjs.
    renameSync(join(client, ".vite", "manifest.json"), join(outputFolder, "manifest.json"));
    rmSync(join(client, ".vite"), { recursive: true });
    moveSourceMaps(client, join(outputFolder, "maps"));
    // The plugin's copy of the secrets, for local servers.
    const secrets = join(outputFolder, "lisolo", ".dev.vars");
    if (existsSync(secrets)) chmodSync(secrets, 0o600);
    writeFileSync(join(outputFolder, "inputs.sha256"), hash);
    rmSync(dist, { recursive: true, force: true });
    renameSync(outputFolder, dist);
  } finally {
    rmSync(outputFolder, { recursive: true, force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  installPackages();
  generateTypes();
  build({ mailbox: process.argv.includes("--mailbox") });
}
