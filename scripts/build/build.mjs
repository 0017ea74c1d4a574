// `npm run build`: the Worker and the browser's files into dist/. Unchanged sources are not built again. `--mailbox` builds
// for this machine only, as `npm start` and the tests do.
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

/**
 * The file names of the browser's scripts (those of workers stand among the assets) and styles, from Vite's manifest.
 * What opens the app comes first: whoever logs in while the service worker still fetches finds that here.
 */
function listAssets(client) {
  const manifest = JSON.parse(readFileSync(join(client, ".vite", "manifest.json"), "utf8"));
  const opening = manifest["index.html"];
  const chunks = [opening, ...opening.imports.map((name) => manifest[name]), ...Object.values(manifest)];
  const files = chunks.flatMap(({ file, css = [], assets = [] }) => [
    file,
    ...css,
    ...assets.filter((asset) => asset.endsWith(".js")),
  ]);
  return [...new Set(files)].map((file) => `/${file}`);
}

const hashPath = join(root, "dist", "inputs.sha256");
const isUpToDate = (hash) => existsSync(hashPath) && readFileSync(hashPath, "utf8") === hash;

/** For who needs the client's files alone, which are the same with a mailbox and without. */
export function ensureBuilt() {
  if (!isUpToDate(hashInputs(false, false))) build({ mailbox: true });
}

/** Source maps are for whoever measures the build: they go out of the folder that is served. */
function moveSourceMaps(client, maps) {
  for (const entry of readdirSync(client, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".map")) continue;
    const path = join(entry.parentPath, entry.name);
    const aside = join(maps, relative(client, path));
    mkdirSync(dirname(aside), { recursive: true });
    renameSync(path, aside);
  }
}

/**
 * Built aside and put in place at the end, so whoever serves dist/ never meets a half of it. With a `mailbox` only for this
 * machine: mails are kept and shown under /dev/mail instead of sent. With the `demo` Services leads to an example partner.
 * @param {{ mailbox?: boolean, demo?: boolean }} [options]
 */
export function build({ mailbox = false, demo = false } = {}) {
  const dist = join(root, "dist");
  const hash = hashInputs(mailbox, demo);
  if (isUpToDate(hash)) return;

  const draft = join(root, `dist-${process.pid}.local`);
  const client = join(draft, "client");
  try {
    const env = { LISOLO_MAILBOX: mailbox ? "1" : "", LISOLO_DEMO: demo ? "1" : "" };
    runOrThrow("vite", ["build", "--logLevel", "warn", "--outDir", draft], { env });
    const assets = JSON.stringify(listAssets(client));
    if (existsSync(join(root, "src", "prerender", "main.tsx"))) {
      const pages = join(draft, "prerender");
      runOrThrow("vite", ["build", "-c", "vite.prerender.config.ts", "--outDir", pages]);
      runOrThrow("node", [join(pages, "main.js"), client]);
      rmSync(pages, { recursive: true });
    }
    if (existsSync(join(root, "src", "sw.ts"))) {
      runOrThrow("vite", ["build", "-c", "vite.sw.config.ts", "--outDir", client], { env: { LISOLO_ASSETS: assets } });
    }
    runOrThrow("node", [join(root, "scripts", "build", "compress.mjs"), join(client, "assets")]);
    // Kept beside what is served, for scripts/check/byte-budget.mjs.
    renameSync(join(client, ".vite", "manifest.json"), join(draft, "manifest.json"));
    rmSync(join(client, ".vite"), { recursive: true });
    moveSourceMaps(client, join(draft, "maps"));
    // The plugin's copy of the secrets, for servers of this machine.
    const secrets = join(draft, "lisolo", ".dev.vars");
    if (existsSync(secrets)) chmodSync(secrets, 0o600);
    writeFileSync(join(draft, "inputs.sha256"), hash);
    rmSync(dist, { recursive: true, force: true });
    renameSync(draft, dist);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  installPackages();
  generateTypes();
  build({ mailbox: process.argv.includes("--mailbox") });
}
