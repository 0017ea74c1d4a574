// Used by text-parts.mjs: finds texts that code may use before they are loaded. A module that is imported dynamically
// gets its texts by the function that imports it (`loadWithTexts` and those built on it).
import { parseSync } from "oxc-parser";

/** Parts of a language that are loaded one after another, each with the former ones. */
export const textLevels = { app: 0, idle: 1, lazy: 2 };

/** Functions that load code together with texts, and the level that is loaded when their promise resolves. */
const loaders = {
  loadWithTexts: textLevels.lazy,
  createLazyScreen: textLevels.lazy,
  lazyOverlay: textLevels.lazy,
  loadOrShowToast: textLevels.lazy,
  loadWithIdleTexts: textLevels.idle,
  lazyIdleOverlay: textLevels.idle,
};

/** @typedef {{ path: string, level: number }} DynamicImport */

/** Level of the texts that a call loads: a loader may be given another one to load with. */
const getCallLevel = ({ callee, arguments: [, other] }) => {
  const level = loaders[callee.name] ?? textLevels.app;
  return level > textLevels.app && other ? (loaders[other.name] ?? textLevels.app) : level;
};

/**
 * Dynamic imports of a module, with the level of texts that is loaded before their code runs.
 * @param {string} id @param {string} code
 * @returns {DynamicImport[]}
 */
export const listDynamicImports = (id, code) => {
  /** Imports in the initializer of a variable get the texts that every use of the variable loads. */
  const found = [];
  const uses = new Map();
  const visit = (node, level, variable) => {
    if (Array.isArray(node)) for (const item of node) visit(item, level, variable);
    if (!node || typeof node !== "object" || Array.isArray(node)) return;
    if (node.type === "ImportExpression" && node.source.type === "Literal")
      found.push({ path: node.source.value, level, variable });
    if (node.type === "Identifier") uses.set(node.name, [...(uses.get(node.name) ?? []), level]);
    if (node.type === "VariableDeclarator" && node.id.type === "Identifier")
      return visit(node.init, level, node.init?.type.endsWith("FunctionExpression") ? node.id.name : variable);
    const inner = node.type === "CallExpression" ? Math.max(level, getCallLevel(node)) : level;
    for (const [name, value] of Object.entries(node)) if (name !== "typeAnnotation") visit(value, inner, variable);
  };
  visit(parseSync(id, code).program.body, textLevels.app, undefined);
  return found.map(({ path, level, variable }) => ({
    path,
    level: Math.max(level, Math.min(textLevels.lazy, ...(uses.get(variable) ?? [textLevels.app]))),
  }));
};

/**
 * Level of texts that is loaded whenever the code of a module runs, for all modules that the roots load.
 * @param {string[]} roots
 * @param {(id: string) => { id: string, level: number }[]} listImports
 */
export const findLoadedLevels = (roots, listImports) => {
  const levels = new Map(roots.map((id) => [id, textLevels.app]));
  const queue = [...roots];
  for (let id = queue.pop(); id !== undefined; id = queue.pop())
    for (const { id: imported, level } of listImports(id)) {
      const loaded = Math.max(level, levels.get(id) ?? textLevels.app);
      if (loaded >= (levels.get(imported) ?? Number.POSITIVE_INFINITY)) continue;
      levels.set(imported, loaded);
      queue.push(imported);
    }
  return levels;
};
