// For vite.config.ts: icons that only later parts show come with those parts, in a stylesheet of their own. An icon is
// a picture inside its class's rule, and together they are most of the app's styles.
import { comesFirst, opensLaterPart } from "./chunks.mjs";

const layer = "later";
const sheet = `virtual:uno:${layer}.css`;
const entry = "virtual:later-icons";
const resolvedEntry = `\0${entry}`;

/** Where each icon's name stands. @type {Map<string, Set<string>>} */
const modulesOf = new Map();

/** @param {string} selector */
const isLater = (selector) => {
  const modules = modulesOf.get(selector.slice(1));
  return modules !== undefined && ![...modules].some(comesFirst);
};

/**
 * UnoCSS's: its rules are made when the chunks are, so it is known by then what comes when. This sheet follows the
 * app's own, whose classes for size and colour shall still prevail: its selectors weigh nothing.
 * @param {import("unocss").UtilObject} util
 */
export const setLaterIconsApart = (util) => {
  if (!isLater(util.selector)) return;
  util.layer = layer;
  util.selector = `:where(${util.selector})`;
};

/** @type {import("vite").Plugin} */
export const laterIcons = {
  name: "lisolo:later-icons",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (id) => (id === entry ? resolvedEntry : null),
  load: (id) => (id === resolvedEntry ? `import "${sheet}";` : null),
  transform(code, id) {
    for (const [icon] of code.matchAll(/\bi-ph-[a-z-]+/g)) {
      const modules = modulesOf.get(icon) ?? new Set();
      modulesOf.set(icon, modules.add(id));
    }
    return opensLaterPart(id) ? { code: `${code}\nimport "${entry}";\n`, map: null } : null;
  },
};
