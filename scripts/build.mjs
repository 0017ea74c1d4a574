// `npm run build`: the Worker and the browser's files into dist/. Unchanged sources are not built again.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { generateTypes } from "./prepare.mjs";
import { install, must, root } from "./run.mjs";

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
  "wrangler.jsonc",
  ".dev.vars",
];

function filesOf(name) {
  const path = join(root, name);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function hashInputs() {
  const hash = createHash("sha256");
  for (const name of inputs) {
    const files = /\./.test(name.slice(1)) ? [join(root, name)] : filesOf(name).sort();
    for (const file of files) if (existsSync(file)) hash.update(file).update("\0").update(readFileSync(file));
  }
  return hash.digest("hex");
}

export function build() {
  const stamp = join(root, "dist", "inputs.sha256");
  const hash = hashInputs();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  rmSync(join(root, "dist"), { recursive: true, force: true });
  must("vite", ["build"]);
  rmSync(join(root, "dist", "client", ".vite"), { recursive: true, force: true });
  writeFileSync(stamp, hash);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  install();
  generateTypes();
  build();
}
