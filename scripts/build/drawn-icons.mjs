// Used by vite.config.ts: the build fails if a module names an icon that no stylesheet draws, because its name is unknown or
// because UnoCSS does not scan the module.
const iconClass = /\bi-ph-[a-z0-9-]+/g;

/**
 * Modules that name each icon.
 * @type {Map<string, Set<string>>}
 */
const modulesByIcon = new Map();

/** @type {import("vite").Plugin} */
export const drawnIcons = {
  name: "lisolo:drawn-icons",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  transform(code, id) {
    if (id.includes("node_modules") || !/\.tsx?$/.test(id)) return;
    for (const icon of code.match(iconClass) ?? [])
      modulesByIcon.set(icon, (modulesByIcon.get(icon) ?? new Set()).add(id));
  },
  writeBundle(_options, bundle) {
    const styles = Object.values(bundle).map((file) =>
      file.type === "asset" && file.fileName.endsWith(".css") ? String(file.source) : "",
    );
    const drawn = new Set(styles.join("\n").match(iconClass));
    const missing = [...modulesByIcon].filter(([icon]) => !drawn.has(icon));
    if (missing.length === 0) return;
    const lines = missing.map(([icon, modules]) => `${icon} in ${[...modules].join(", ")}`);
    this.error(`No style draws these icons:\n${lines.join("\n")}`);
  },
};
