// Names: an exported name is declared in one file of the product.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";
import { listSources } from "./list-sources.mjs";
import { findDuplicateExports, readExportedNames } from "./name-rules.mjs";

const files = listSources().filter((file) => /^(contract|worker|src)\/.*\.tsx?$/.test(file) && !file.endsWith(".d.ts"));
const problems = findDuplicateExports(
  new Map(files.map((file) => [file, readExportedNames(file, readFileSync(join(root, file), "utf8"))])),
);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`Names exported by ${files.length} files are declared once.`);
