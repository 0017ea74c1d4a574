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

/** All files of the project except generated ones, as paths relative to its root with forward slashes. */
export function listSources(folder = "") {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (generated.has(entry.name)) return [];
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    return entry.isDirectory() ? listSources(path) : [path];
  });
}
