import { root } from "../run.mjs";

// Used by vite.config.ts: assignment of the client's modules to files (docs/decisions/client-bundles.md). What opens the
// app is divided by its scripts and screens, later code by folder. Modules without a part are split by Rolldown.

/** Libraries, which stay cached over releases. `core` is what the store needs before React has arrived. */
const packageParts = {
  core: ["valibot", "@oxc-project", "rolldown"],
  vendor: ["react", "react-dom", "scheduler", "i18next", "react-i18next"],
  dexie: ["dexie"],
  router: ["react-router"],
};

/** Scripts that documents name. They have files of their own, apart from the code that they import. */
const scripts = {
  engine: "src/main.ts",
  app: "src/app-root.tsx",
  entry: "src/entry.tsx",
  forms: "src/entry-screens.tsx",
};
/** Screens that open first, each with a file of its own; what both need belongs to `app`. */
const openingScreens = {
  list: "src/features/conversations/conversations-screen.tsx",
  chat: "src/features/chat/private-chat-screen.tsx",
};
const entryScreens = "src/features/auth/screens/";
/** Code that most pages request once they are drawn, in this order: what appears on every page, the connection to the
 * server and the tools of chats. */
const idleParts = {
  hosts: /^src\/app\/page-hosts/,
  connection: /^src\/sync\/(engine|connection|presence|inbound)\//,
  "group-chat": /^src\/features\/chat\/group-chat-screen/,
  tools: /^src\/(features\/chat\/(composer|field|header|message)|components\/(overlays|people))\b/,
  notifier: /^src\/features\/notifier\//,
  push: /^src\/(features|lib)\/push\//,
};
/** Code that is loaded on demand. What several of these parts need is `shared`. */
const lazyParts = {
  media: /^src\/features\/chat\/(attachments|reply|reactions|unsent)\/(?!emoji)/,
  sending:
    /^src\/(features\/chat\/voice|lib\/media|sync\/(files|drafts|sending))\/|sync\/operations\/(edit|deletion|flag)-/,
  menus: /^src\/features\/(chat\/(edit|search)|conversations)\//,
  calls: /^src\/(calls|features\/calls)\/(?!log\/)/,
  groups: /^src\/features\/groups\//,
  screens:
    /^src\/(features\/(calls\/log|contacts|people|profile|services|settings|starred|handle)|components\/layout)\//,
  security: /^src\/(features\/security|components\/auth)\//,
  tala: /^src\/(features\/tala|sync\/feed)\//,
  share: /^src\/(features|lib\/browser)\/share\//,
};

/** @typedef {{ importedIds: readonly string[], dynamicallyImportedIds: readonly string[] }} ModuleImports */
/** @typedef {{ getModuleInfo: (id: string) => ModuleImports | null }} ModuleGraph */

const folder = `${root.replaceAll("\\", "/")}/`;
/** @param {string} path */
export const toModuleId = (path) => folder + path;
const toPath = (id) => (id.startsWith(folder) ? id.slice(folder.length) : id);
const findPackagePart = (id) =>
  Object.entries(packageParts).find(([, names]) => names.some((name) => id.includes(`/node_modules/${name}/`)))?.[0] ??
  (/^\0(vite\/preload-helper|rolldown\/runtime)/.test(id) ? "core" : undefined);

/**
 * Modules that a module reaches by static imports, itself included.
 * @param {ModuleGraph} graph
 * @param {string} path
 */
function listReached(graph, path) {
  /** @type {Set<string>} */
  const reached = new Set([toModuleId(path)]);
  for (const id of reached) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) reached.add(imported);
  return reached;
}

/**
 * Modules that are imported dynamically, in the order in which they are found.
 * @param {ModuleGraph} graph
 */
function listDynamicImports(graph) {
  /** @type {Set<string>} */
  const found = new Set();
  const reached = new Set(Object.values(scripts).map(toModuleId));
  for (const id of reached) {
    const { importedIds = [], dynamicallyImportedIds = [] } = graph.getModuleInfo(id) ?? {};
    for (const imported of [...importedIds, ...dynamicallyImportedIds]) reached.add(imported);
    for (const imported of dynamicallyImportedIds) found.add(imported);
  }
  return found;
}

/** @param {ModuleGraph} graph */
function assignParts(graph) {
  /** @type {Map<string, string>} */
  const partOf = new Map();
  /** Assigns what has no part yet; modules of several roots with different names go to `shared`. */
  const assign = (roots, shared) => {
    const found = new Map();
    for (const [path, name] of roots)
      for (const id of listReached(graph, path))
        if (!partOf.has(id) && !findPackagePart(id)) found.set(id, (found.get(id) ?? name) === name ? name : shared);
    for (const [id, name] of found) partOf.set(id, name);
  };
  const app = new Set(
    [scripts.engine, scripts.app, ...Object.values(openingScreens)].flatMap((path) => [...listReached(graph, path)]),
  );
  const engine = listReached(graph, scripts.engine);
  const later = [...listDynamicImports(graph)].map(toPath);
  // The entry pages: `core` and `base` are also the app's, `forms` is also of later code, the rest is split by Rolldown.
  const screens = later.filter((path) => path.startsWith(entryScreens));
  const usedLater = new Set(
    later.filter((path) => !screens.includes(path)).flatMap((path) => [...listReached(graph, path)]),
  );
  for (const id of [scripts.entry, ...screens].flatMap((path) => [...listReached(graph, path)])) {
    if (findPackagePart(id)) continue;
    if (app.has(id)) partOf.set(id, engine.has(id) ? "core" : "base");
    else if (usedLater.has(id)) partOf.set(id, "forms");
  }
  assign([[scripts.entry, "base"]], "base");
  assign([[scripts.engine, "engine"]], "engine");
  assign([[scripts.app, "app"]], "app");
  assign(
    Object.entries(openingScreens).map(([name, path]) => [path, name]),
    "app",
  );
  const match = (parts) =>
    Object.entries(parts).flatMap(([name, pattern]) =>
      later.filter((path) => pattern.test(path)).map((path) => [path, name]),
    );
  for (const [path, name] of match(idleParts)) assign([[path, name]], name);
  assign(match(lazyParts), "shared");
  for (const path of Object.values(scripts)) partOf.delete(toModuleId(path));
  return partOf;
}

/** @type {Map<string, string> | undefined} */
let partByModule;

/**
 * Part of a module. Valid after the chunks were assigned.
 * @param {string} id
 */
export const findPart = (id) => findPackagePart(id) ?? partByModule?.get(id);

const openingPartNames = ["core", "base", "engine", "app", "list", "chat"];
/**
 * Whether a module is loaded before the list or a private chat is usable. Valid after the chunks were assigned.
 * @param {string} id
 */
export const isOpeningModule = (id) =>
  Object.values(scripts).includes(toPath(id)) || openingPartNames.includes(findPart(id) ?? "");

const partNames = [
  ...new Set([
    ...Object.keys(packageParts),
    ...openingPartNames,
    "forms",
    ...Object.keys(idleParts),
    "shared",
    ...Object.keys(lazyParts),
  ]),
];

/**
 * Whether a built file is loaded by every page that can import others dynamically.
 * @param {string} path
 */
export const isAlwaysLoaded = (path) =>
  /^assets\/(core|vendor|dexie|router|base|engine|app|rolldown-runtime)-[\w-]{8}\.js$/.test(path);

// Rolldown puts a module's imports into the same file, unless a group of higher priority contains them.
export const chunkGroups = partNames.map((name, index) => ({
  /**
   * @param {string} id
   * @param {ModuleGraph} graph
   */
  name: (id, graph) => {
    partByModule ??= assignParts(graph);
    return findPart(id) === name ? name : null;
  },
  priority: partNames.length - index,
}));
