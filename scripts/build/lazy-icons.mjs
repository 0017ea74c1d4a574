// Used by vite.config.ts: icons used only by lazy parts are loaded with those parts, in a separate stylesheet. An icon
// is an image inside a CSS rule, and together they are most of the app's styles.
import { isInitialModule, isLazyPartRoot } from "./chunks.mjs";

const lazyLayer = "lazy";
const iconStylesheet = `virtual:uno:${lazyLayer}.css`;
const entryModule = "virtual:lazy-icons";
const resolvedEntryModule = `\0${entryModule}`;

/**
 * Modules that use each icon.
 * @type {Map<string, Set<string>>}
 */
const modulesByIcon = new Map();

/** @param {string} selector */
const isLazyIcon = (selector) => {
  const modules = modulesByIcon.get(selector.slice(1));
  return modules !== undefined && ![...modules].some(isInitialModule);
};

/**
 * UnoCSS hook, called after the chunks were assigned. The lazy stylesheet is loaded after the app's, whose size and
 * colour classes must still win: `:where` gives its selectors no specificity.
 * @param {import("unocss").UtilObject} util
 */
export const moveLazyIconsToLayer = (util) => {
  if (!isLazyIcon(util.selector)) return;
  util.layer = lazyLayer;
  util.selector = `:where(${util.selector})`;
};

/** @type {import("vite").Plugin} */
export const lazyIcons = {
  name: "lisolo:lazy-icons",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (id === entryModule ? resolvedEntryModule : null),
  load: (id) => (id === resolvedEntryModule ? `import "${iconStylesheet}";` : null),
  transform(code, id) {
    for (const [icon] of code.matchAll(/\bi-ph-[a-z-]+/g)) {
      const modules = modulesByIcon.get(icon) ?? new Set();
      modulesByIcon.set(icon, modules.add(id));
    }
    return isLazyPartRoot(id) ? { code: `${code}\nimport "${entryModule}";\n`, map: null } : null;
  },
};
