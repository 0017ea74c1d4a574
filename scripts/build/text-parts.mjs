// For the Vite configurations: the texts of a language come in three files, each loaded with the code that shows them
// (docs/decisions/client-bundles.md). `fr.json?app` becomes the texts named by what comes with the app, `?entry` those
// of the entry pages, `?later` the others of the app. In development each is the whole file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";
import { isInitialModule, isInPart } from "./chunks.mjs";

const textFile = /\/src\/i18n\/(fr|en|pt)\.json\?(app|entry|later)$/;
/** Later parts that a chat shows as it opens, and what these need. */
const shownInChat = ["media", "shared"];
const pluralForm = /_(one|other)$/;

/** Strings of each module that may be keys, and the beginnings of keys that are put together. @type {Map<string, Set<string>>} */
const keysByModule = new Map();

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

/** Whether any of these modules names a key. @param {Iterable<string>} modules */
const createKeyMatcher = (modules) => {
  const names = new Set([...modules].flatMap((id) => [...(keysByModule.get(id) ?? [])]));
  const starts = [...names].filter((name) => name.endsWith("."));
  return (/** @type {string} */ key) => names.has(key) || starts.some((start) => key.startsWith(start));
};

/**
 * Every module that one may load, at once or later.
 * @param {import("./chunks.mjs").ModuleGraph} graph
 * @param {string} path
 */
const listReachable = (graph, path) => {
  /** @type {Set<string>} */
  const reached = new Set([join(root, path).replaceAll("\\", "/")]);
  for (const id of reached) {
    const module = graph.getModuleInfo(id);
    for (const other of [...(module?.importedIds ?? []), ...(module?.dynamicallyImportedIds ?? [])]) reached.add(other);
  }
  return reached;
};

/** Makes a module of each part, at first of all texts. @type {import("vite").Plugin} */
export const wholeTexts = {
  name: "lisolo:whole-texts",
  enforce: "pre",
  load(id) {
    const [, language] = textFile.exec(id) ?? [];
    return language ? { code: toTextModule(readTexts(language)), map: null, moduleType: "js" } : null;
  },
};

/** Leaves in each part what it shall have, once the chunks are made. @type {import("vite").Plugin} */
export const textParts = {
  name: "lisolo:text-parts",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  transform(code, id) {
    if (!/\.tsx?$/.test(id) || id.includes("node_modules")) return null;
    const whole = [...code.matchAll(/["'`](\w+(?:\.\w+)+)["'`]/g)];
    const starts = [...code.matchAll(/`((?:\w+\.)+)\$\{/g)];
    keysByModule.set(id, new Set([...whole, ...starts].map(([, name]) => name)));
    return null;
  },
  renderChunk(_code, { facadeModuleId }) {
    const [, language, part] = textFile.exec(facadeModuleId ?? "") ?? [];
    if (!part) return null;
    const ofEntry = createKeyMatcher(listReachable(this, "src/entry.tsx"));
    const first = [...keysByModule.keys()].filter(
      (id) => isInitialModule(id) || shownInChat.some((name) => isInPart(id, name)),
    );
    const withApp = createKeyMatcher(first);
    const ofApp = createKeyMatcher(listReachable(this, "src/main.tsx"));
    const isWanted = {
      app: withApp,
      entry: ofEntry,
      later: (/** @type {string} */ key) => ofApp(key) && !withApp(key),
    }[part];
    return { code: toTextModule(selectTexts(readTexts(language), isWanted)), map: null };
  },
};
