// Used by vite.config.ts: styles used only by lazy parts are loaded with those parts, in a separate stylesheet.
//
// Icons are images inside CSS rules, and together more than all other styles: each stands in one of the two sheets.
// Utility classes depend on their order, so the lazy sheet repeats all of them in their order. Wherever it is loaded,
// it decides alone, and the app's sheet needs only the classes of the modules that load with the app.
import { isInitialModule, isLazyPartRoot } from "./chunks.mjs";

const lazyLayer = "lazy";
const lazyStylesheet = `virtual:uno:${lazyLayer}.css`;
const entryModule = "virtual:lazy-styles";
const resolvedEntryModule = `\0${entryModule}`;
const icon = /^i-ph-/;
/** Comment in a module of the app whose icons appear only after an action or a failure, such as those of a menu. */
const lazyIconsMark = "@lazy-icons";

/**
 * Modules that contain each class name, and other words.
 * @type {Map<string, Set<string>>}
 */
const modulesByWord = new Map();

/** @param {string} name */
const isLazy = (name) => {
  const modules = modulesByWord.get(name);
  return modules !== undefined && ![...modules].some(isInitialModule);
};

/**
 * UnoCSS variant, called after the chunks were assigned: puts each class into the sheets that need it.
 * @type {import("unocss").VariantObject}
 */
export const sheetVariant = {
  name: "sheets",
  order: -1,
  match: (name, { rawSelector }) => {
    if (name !== rawSelector || modulesByWord.size === 0) return undefined; // in development there is one sheet
    if (isLazy(name)) return [{ matcher: name, layer: lazyLayer }];
    return icon.test(name) ? undefined : [{ matcher: name }, { matcher: name, layer: lazyLayer }];
  },
};

/**
 * UnoCSS hook: the size and colour classes of an icon must win in the lazy sheet too, where they share a layer. `:where`
 * gives its selector no specificity.
 * @param {import("unocss").UtilObject} util
 */
export const weakenLazyIcon = (util) => {
  if (util.layer === lazyLayer && icon.test(util.selector.slice(1))) util.selector = `:where(${util.selector})`;
};

/**
 * Vite's helper for dynamic imports adds stylesheets to the head. The app's sheet stands at the end of the body
 * (src/prerender/app-shell.ts), and the lazy one must follow it to decide.
 * @param {string} code
 */
const appendToBody = (code) => {
  const appended = code.replace("document.head.appendChild(link)", "document.body.appendChild(link)");
  if (appended === code) throw new Error("scripts/build/lazy-styles.mjs: Vite's preload helper has changed");
  return appended;
};

/**
 * Icons of the client's modules that no stylesheet draws: of an unknown name, or named in a module that UnoCSS does not
 * scan.
 * @param {string} styles
 */
const listIconsWithoutRule = (styles) => {
  const drawn = new Set(styles.match(/i-ph-[a-z0-9-]+/g));
  return [...modulesByWord].filter(([word]) => /^i-ph-[a-z0-9-]+$/.test(word) && !drawn.has(word));
};

/** @type {import("vite").Plugin} */
export const lazyStyles = {
  name: "lisolo:lazy-styles",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (id === entryModule ? resolvedEntryModule : null),
  load: (id) => (id === resolvedEntryModule ? `import "${lazyStylesheet}";` : null),
  transform(code, id) {
    if (id.includes("vite/preload-helper")) return { code: appendToBody(code), map: null };
    if (id.includes("node_modules")) return null;
    // The words that UnoCSS looks for.
    for (const word of new Set(code.split(/[\\:]?[\s'"`;{}]+/g))) {
      const modules = modulesByWord.get(word) ?? new Set();
      modulesByWord.set(
        word,
        modules.add(icon.test(word) && code.includes(lazyIconsMark) ? `${id} ${lazyIconsMark}` : id),
      );
    }
    return isLazyPartRoot(id) ? { code: `${code}\nimport "${entryModule}";\n`, map: null } : null;
  },
  writeBundle(_options, bundle) {
    const styles = Object.values(bundle).map((file) =>
      file.type === "asset" && file.fileName.endsWith(".css") ? String(file.source) : "",
    );
    const missing = listIconsWithoutRule(styles.join("\n"));
    if (missing.length === 0) return;
    const lines = missing.map(([icon, modules]) => `${icon} in ${[...modules].join(", ")}`);
    throw new Error(`No style draws these icons:\n${lines.join("\n")}`);
  },
};
