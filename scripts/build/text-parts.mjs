// Used by the Vite configurations: the texts of a language are split into files, each loaded with the code that uses
// them (docs/decisions/client-bundles.md). `fr.json?app` has the texts used by code that opens the list and a chat,
// `?idle` those of errors and of code that most chats load soon, `?entry` those of the entry pages, `?lazy` the remaining
// ones of the app. In development each is the complete file.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../run.mjs";
import { findPart, isOpeningModule, toModuleId } from "./chunks.mjs";
import { findLoadedLevels, listDynamicImports, textLevels } from "./text-loading.mjs";

const textFile = /\/src\/i18n\/([a-z]{2})\.json\?(app|idle|entry|lazy)$/;
/** Questions of the help, which name texts as `{key}`. */
const helpFile = /\/src\/features\/help\/questions\/[a-z]{2}\.json$/;
/** Parts that most chats load soon after they opened. */
const soonLoadedParts = ["tools", "group-chat", "notifier", "push", "media", "menus", "sending", "shared"];
/** Texts of computed keys that are rarely needed. Keys written in full are loaded with their code. */
const errorPrefix = "errors.";
/** Texts of an error code with its waiting time, which any code may show. */
const rateLimitPrefix = "shell.rateLimited";
/** End of the key of a plural form, in any language (Unicode CLDR). */
export const pluralForm = /_(zero|one|two|few|many|other)$/;

/**
 * String literals of each module that may be keys, and prefixes of computed keys.
 * @type {Map<string, Set<string>>}
 */
const keysByModule = new Map();

/**
 * Dynamic imports of each module.
 * @type {Map<string, import("./text-loading.mjs").DynamicImport[]>}
 */
const dynamicImports = new Map();

/** @param {string} language */
const readTexts = (language) => JSON.parse(readFileSync(join(root, "src", "i18n", `${language}.json`), "utf8"));

/** @param {object} texts */
const toTextModule = (texts) => `export default ${JSON.stringify(texts)};\n`;

/**
 * @param {Record<string, unknown>} texts
 * @param {(key: string) => boolean} isWanted
 */
const selectTexts = (texts, isWanted, path = "") => {
  /** @type {Record<string, unknown>} */
  const selected = {};
  for (const [name, value] of Object.entries(texts)) {
    const key = `${path}${name}`;
    if (typeof value === "string") {
      if (isWanted(key.replace(pluralForm, ""))) selected[name] = value;
      continue;
    }
    const inner = selectTexts(/** @type {Record<string, unknown>} */ (value), isWanted, `${key}.`);
    if (Object.keys(inner).length > 0) selected[name] = inner;
  }
  return selected;
};

/**
 * @param {Record<string, unknown>} texts
 * @returns {string[]} keys without their plural forms
 */
const listKeys = (texts, path = "") =>
  Object.entries(texts).flatMap(([name, value]) =>
    typeof value === "string"
      ? `${path}${name}`.replace(pluralForm, "")
      : listKeys(/** @type {Record<string, unknown>} */ (value), `${path}${name}.`),
  );

/**
 * Predicate: whether any of these modules uses a key.
 * @param {Iterable<string>} modules
 * @param {string[]} ignoredPrefixes prefixes of computed keys that do not count
 */
const createKeyMatcher = (modules, ignoredPrefixes = []) => {
  const names = new Set([...modules].flatMap((id) => [...(keysByModule.get(id) ?? [])]));
  const prefixes = [...names].filter((name) => name.endsWith(".") && !ignoredPrefixes.includes(name));
  return (/** @type {string} */ key) => names.has(key) || prefixes.some((start) => key.startsWith(start));
};

/** Predicates: whether a key is loaded with the app, or soon after it. */
const createAppMatchers = () => {
  const modules = [...keysByModule.keys()];
  const withApp = createKeyMatcher(modules.filter(isOpeningModule), [errorPrefix]);
  const soonLoaded = createKeyMatcher(modules.filter((id) => soonLoadedParts.includes(findPart(id) ?? "")));
  const isErrorText = (/** @type {string} */ key) => key.startsWith(errorPrefix) || key.startsWith(rateLimitPrefix);
  return { withApp, whenIdle: (/** @type {string} */ key) => soonLoaded(key) || isErrorText(key) };
};

/**
 * Keys that a module of the app may use before the part that contains their text is loaded. Errors have another text
 * until then (`src/i18n/setup.ts`).
 * @param {import("vite").Rolldown.PluginContext} graph
 */
const listUnloadedTexts = async (graph) => {
  const { withApp, whenIdle } = createAppMatchers();
  const allKeys = [...new Set(listKeys(readTexts("fr")))];
  const getLevel = (/** @type {string} */ key) =>
    withApp(key) ? textLevels.app : whenIdle(key) ? textLevels.idle : textLevels.lazy;
  const targets = new Map();
  for (const [id, imports] of dynamicImports)
    for (const { path } of imports) targets.set(`${path} ${id}`, (await graph.resolve(path, id))?.id);
  const levels = findLoadedLevels([toModuleId("src/main.ts")], (id) => [
    ...(graph.getModuleInfo(id)?.importedIds ?? []).map((imported) => ({ id: imported, level: textLevels.app })),
    ...(dynamicImports.get(id) ?? []).map(({ path, level }) => ({ id: targets.get(`${path} ${id}`), level })),
  ]);
  return [...levels].flatMap(([id, level]) => {
    const names = [...(keysByModule.get(id) ?? [])].filter((name) => name !== errorPrefix);
    const keys = allKeys.filter((key) =>
      names.some((name) => (name.endsWith(".") ? key.startsWith(name) : key === name)),
    );
    return keys.filter((key) => getLevel(key) > level).map((key) => `${relative(root, id)}: ${key}`);
  });
};

/**
 * All modules reachable by static and dynamic imports.
 * @param {import("./chunks.mjs").ModuleGraph} graph
 * @param {string} path
 */
const listReachable = (graph, path) => {
  /** @type {Set<string>} */
  const reached = new Set([toModuleId(path)]);
  for (const id of reached) {
    const module = graph.getModuleInfo(id);
    for (const other of [...(module?.importedIds ?? []), ...(module?.dynamicallyImportedIds ?? [])]) reached.add(other);
  }
  return reached;
};

/**
 * Loads each part, initially with all texts.
 * @type {import("vite").Plugin}
 */
export const wholeTexts = {
  name: "lisolo:whole-texts",
  enforce: "pre",
  load(id) {
    const [, language] = textFile.exec(id) ?? [];
    return language ? { code: toTextModule(readTexts(language)), map: null, moduleType: "js" } : null;
  },
};

/**
 * Reduces each part to its texts, after the chunks were assigned.
 * @type {import("vite").Plugin}
 */
export const textParts = {
  name: "lisolo:text-parts",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  transform(code, id) {
    if (helpFile.test(id)) {
      const named = Array.from(code.matchAll(/\{([\w.]+)\}/g), ([, key]) => key.replace(pluralForm, ""));
      keysByModule.set(id, new Set(named));
    }
    if (!/\.tsx?$/.test(id) || id.includes("node_modules")) return null;
    const keys = [...code.matchAll(/["'`](\w+(?:\.\w+)+)["'`]/g)];
    const prefixes = [...code.matchAll(/`((?:\w+\.)+)\$\{/g)];
    keysByModule.set(id, new Set([...keys, ...prefixes].map(([, name]) => name)));
    dynamicImports.set(id, listDynamicImports(id, code));
    return null;
  },
  renderChunk(_code, { facadeModuleId }) {
    const [, language, part] = textFile.exec(facadeModuleId ?? "") ?? [];
    if (!part) return null;
    const ofEntry = createKeyMatcher(listReachable(this, "src/entry.tsx"));
    const ofApp = createKeyMatcher(listReachable(this, "src/app-root.tsx"));
    const { withApp, whenIdle } = createAppMatchers();
    const isWanted = {
      app: withApp,
      entry: ofEntry,
      idle: (/** @type {string} */ key) => whenIdle(key) && !withApp(key),
      lazy: (/** @type {string} */ key) => ofApp(key) && !withApp(key) && !whenIdle(key),
    }[part];
    return { code: toTextModule(selectTexts(readTexts(language), isWanted)), map: null };
  },
  async generateBundle() {
    const problems = await listUnloadedTexts(this);
    if (problems.length > 0) this.error(`texts are used that may not be loaded:\n${problems.join("\n")}`);
  },
};
