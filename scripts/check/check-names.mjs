// Names: an exported name is declared in one file of the product, and identifiers of the product and its tests use no
// retired terms (docs/GLOSSARY.md).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";
import { listSources } from "./list-sources.mjs";
import { findDuplicateExports, findRetiredTerm, readNames } from "./name-rules.mjs";

const files = listSources().filter(
  (file) => /^(contract|worker|src|tests)\/.*\.tsx?$/.test(file) && !file.endsWith(".d.ts"),
);
/** Constants used through a namespace (`serverFrame.page`), which tells them apart. */
const namespaces = /^contract\/wire\/(client|server)-frame-types\.ts$/;
const exportedByFile = new Map();
const problems = [];
for (const file of files) {
  const { exported, identifiers } = readNames(file, readFileSync(join(root, file), "utf8"));
  if (!file.startsWith("tests/") && !namespaces.test(file)) exportedByFile.set(file, exported);
  for (const name of identifiers) {
    const problem = findRetiredTerm(name);
    if (problem) problems.push(`${file}: ${problem}`);
  }
}
problems.push(...findDuplicateExports(exportedByFile));

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`Names of ${files.length} files follow the glossary.`);
