// Rules for names, used by check-names.mjs: an exported name is declared in one file.
import { parseSync } from "oxc-parser";

/**
 * Names exported by a module under the name of their declaration.
 * @param {string} file
 * @param {string} text
 */
export function readExportedNames(file, text) {
  const { program } = parseSync(file, text);
  /** @type {Set<string>} */
  const exported = new Set();
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const { declaration } = statement;
    if (declaration?.type === "VariableDeclaration") {
      for (const { id } of declaration.declarations) if (id.type === "Identifier") exported.add(id.name);
    } else if (declaration && "id" in declaration && declaration.id?.type === "Identifier") {
      exported.add(declaration.id.name);
    }
  }
  return exported;
}

/**
 * Exported names that several files declare, one line each.
 * @param {ReadonlyMap<string, ReadonlySet<string>>} exportedByFile
 */
export function findDuplicateExports(exportedByFile) {
  /** @type {Map<string, string[]>} */
  const files = new Map();
  for (const [file, names] of exportedByFile) {
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file]);
  }
  return [...files]
    .filter(([, declaring]) => declaring.length > 1)
    .map(([name, declaring]) => `${name} is exported by ${declaring.join(", ")}`);
}
