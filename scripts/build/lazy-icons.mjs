// For vite.config.ts: icons that only later parts show come with those parts, in a stylesheet of their own. An icon is
// a picture inside its class's rule, and together they are most of the app's styles.
import { isInitialModule, isLazyPartRoot } from "./chunks.mjs";

const lazyLayer = "later";
const iconStylesheet = `virtual:uno:${lazyLayer}.css`;
const entryModule = "virtual:later-icons";
const resolvedEntryModule = `\0${entryModule}`;

/** Where each icon's name stands. @type {Map<string, Set<string>>} */
const modulesByIcon = new Map();

/** @param {string} selector */
const isLazyIcon = (selector) => {
  const modules = modulesByIcon.get(selector.slice(1));
  return modules !== undefined && ![...modules].some(isInitialModule);
};

/**
 * UnoCSS's: its rules are made when the chunks are, so it is known by then what comes when. This sheet follows the
 * app's own, whose classes for size and colour shall still prevail: its selectors weigh nothing.
 * @param {import("unocss").UtilObject} util
 */
export const moveLazyIconsToLayer = (util) => {
  if (!isLazyIcon(util.selector)) return;
  util.layer = lazyLayer;
  util.selector = `:where(${util.selector})`;
};

/** @type {import("vite").Plugin} */
export const lazyIcons = {
  name: "lisolo:later-icons",
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
