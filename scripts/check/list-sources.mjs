import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";

const generated = new Set([
  "node_modules",
  "dist",
  ".git",
  ".data",
  ".wrangler",
  ".reports",
  "test-results",
  ".vitest",
]);

/** Every file of the project, as a path relative to its root with forward slashes, generated ones left out. */
export function listSources(folder = "") {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (generated.has(entry.name)) return [];
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    return entry.isDirectory() ? listSources(path) : [path];
  });
}
