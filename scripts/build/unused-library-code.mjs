// Used by vite.config.ts and vitest.config.ts: leaves out functions of libraries that the app never runs. A bundler keeps
// all methods of a class that is used, and everything a function names. Each list below belongs to one version of its
// library; another version is left whole (docs/decisions/unused-library-code.md).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";

/**
 * - `members`: methods of classes and properties of the object in `props(Name, {…})`. They are removed: a call fails.
 * - `replaced`: source text for methods that are still called, and for top-level functions and constants.
 * - `statements`: expressions whose statements are removed.
 * - `callers`: folder whose modules must not call a removed member (of one of the `receivers`).
 *
 * @typedef {{
 *   name: string,
 *   version: string,
 *   module: string,
 *   callers?: string,
 *   receivers?: string,
 *   members: Record<string, string[]>,
 *   replaced: Record<string, string>,
 *   statements?: RegExp,
 * }} Library
 */

/** Middleware of Dexie that passes everything on. */
const emptyMiddleware = '{ stack: "dbcore", create: (core) => core }';
/** Function that is never called. */
const unused = '() => { throw new Error("left out by scripts/build/unused-library-code.mjs"); }';
/** Function that finds nothing to do. */
const nothing = "() => undefined";

/** @type {Library[]} */
const libraries = [
  {
    name: "dexie",
    version: "4.4.7",
    module: "dist/modern/dexie.mjs",
    callers: "src/sync/",
    members: {
      Table: ["defineClass", "mapToClass", "offset", "upsert", "bulkAdd"],
      Collection: [
        "desc",
        "distinct",
        "eachKey",
        "eachPrimaryKey",
        "eachUniqueKey",
        "firstKey",
        "lastKey",
        "offset",
        "or",
        "raw",
      ],
      WhereClause: [
        "aboveOrEqual",
        "anyOfIgnoreCase",
        "belowOrEqual",
        "equalsIgnoreCase",
        "notEqual",
        "startsWithAnyOfIgnoreCase",
        "startsWithIgnoreCase",
      ],
      PropModification: ["execute"],
      Dexie: [
        "async",
        "asap",
        "backendDB",
        "connections",
        "currentTransaction",
        "defineClass",
        "delByKeyPath",
        "derive",
        "dynamicallyOpened",
        "Events",
        "exists",
        "extend",
        "extendObservabilitySet",
        "getByKeyPath",
        "getDatabaseNames",
        "getObjectDiff",
        "hasBeenClosed",
        "override",
        "props",
        "setByKeyPath",
        "shallowClone",
        "spawn",
      ],
    },
    replaced: {
      // Only for databases with hooks.
      hooksMiddleware: emptyMiddleware,
      hookCreatingChain: unused,
      hookDeletingChain: unused,
      hookUpdatingChain: unused,
      pureFunctionChain: unused,
      // The cache of live queries is off (src/sync/store/database.ts).
      cacheMiddleware: emptyMiddleware,
      isCachableContext: "() => false",
      isCachableRequest: "() => false",
      signalSubscribersNow: nothing,
      // No query names only the first part of a compound index: Dexie then finds no such index.
      virtualIndexMiddleware: emptyMiddleware,
      // The app names an index, never a combination of values.
      "Table.where": "where(index) { return new this.db.WhereClause(this, index); }",
    },
  },
  {
    name: "i18next",
    version: "27.1.2",
    module: "dist/esm/i18next.js",
    callers: "src/i18n/",
    receivers: "\\b(?:i18n|instance)",
    members: {
      ResourceStore: ["addResource", "addResources", "removeNamespaces", "removeResourceBundle", "toJSON"],
      Translator: ["exists", "getUsedParamsDetails"],
      LanguageUtil: ["clearCache"],
      PluralResolver: ["clearCache", "getPluralFormsOfKey", "getSuffixes", "needsPlural"],
      Connector: ["load", "loadOne", "loaded", "prepareLoading", "queueLoad", "read", "reload", "saveMissing"],
      Formatter: ["constructor", "add", "addCached"],
      I18n: [
        "cloneInstance",
        "dir",
        "exists",
        "hydrate",
        "loadLanguages",
        "loadNamespaces",
        "setDefaultNamespace",
        "toJSON",
        "use",
      ],
    },
    replaced: {
      // All texts are passed to it; nothing is loaded by it.
      "I18n.hasLoadedNamespace": "hasLoadedNamespace() { return true; }",
      "Connector.constructor": "constructor() { super(); this.state = {}; }",
      "I18n.loadResources": "loadResources(language, callback) { callback(null); }",
      "I18n.reloadResources": "reloadResources() {}",
      // Texts contain neither formats nor other texts.
      "Formatter.init": "init() {}",
      "Formatter.format": "format(value) { return value; }",
      "Interpolator.nest": "nest(text) { return text; }",
      // Keys are strings and name no part of the texts.
      "Translator.extractFromKey": "extractFromKey(key) { return { key, namespaces: this.options.defaultNS }; }",
      keysFromSelector: unused,
    },
    // Messages for developers, which it only logs with its option `debug`.
    statements: /^[\w.]*\blogger\.(deprecate|log|once|warn)\(/,
  },
  {
    name: "react-dom",
    version: "19.3.1",
    module: "cjs/react-dom-client.production.js",
    members: {},
    replaced: {
      // Without a <ViewTransition> these look for one in what changes.
      commitAppearingPairViewTransitions: nothing,
      commitDeletedPairViewTransitions: nothing,
      commitEnterViewTransitions: nothing,
      commitExitViewTransitions: nothing,
      commitNestedViewTransitions: nothing,
      measureNestedViewTransitions: nothing,
      restoreEnterOrExitViewTransitions: nothing,
      restoreNestedViewTransitions: nothing,
      restorePairedViewTransitions: nothing,
      trackEnterViewTransitions: nothing,
      // And these are called for one.
      applyViewTransitionName: unused,
      applyViewTransitionToHostInstances: unused,
      applyViewTransitionToHostInstancesRecursive: unused,
      commitAfterMutationEffectsOnFiber: unused,
      createViewTransitionInstance: unused,
      getViewTransitionClassName: unused,
      getViewTransitionName: unused,
      measureViewTransitionHostInstancesRecursive: unused,
      restoreViewTransitionName: unused,
      restoreViewTransitionOnHostInstances: unused,
      scheduleViewTransitionEvent: unused,
      startViewTransition: unused,
      // Fragments with a ref.
      FragmentInstance: unused,
      commitNewChildToFragmentInstance: unused,
      deleteChildFromFragmentInstance: unused,
      validateDocumentPositionWithFiberTree: unused,
      // <SuspenseList>, custom elements and useActionState.
      dispatchActionState: unused,
      mountActionState: unused,
      rerenderActionState: unused,
      setPropOnCustomElement: unused,
      updateActionState: unused,
      updateSuspenseListComponent: unused,
      // <title>, <meta>, <link>, <style> and <script> in components, and requests for such files.
      acquireResource: unused,
      getResource: unused,
      preinitStyle: unused,
      preload: unused,
      preloadModule: unused,
      suspendResource: unused,
      createHoistableInstance: unused,
      getHydratableHoistableCache: unused,
      insertStylesheetIntoRoot: unused,
      preconnectAs: unused,
      preinitModuleScript: unused,
      preinitScript: unused,
      preloadResourceAndSuspendIfNeeded: unused,
      // Waiting for images, which only a <ViewTransition> asks for.
      preloadInstanceAndSuspendIfNeeded: "(fiber) => { fiber.flags &= -16777217; }",
      suspendInstance: unused,
      waitForCommitToBeReady: "() => null",
      // Forms with a function as their action.
      extractEvents$1: nothing,
      ensureFormComponentIsStateful: unused,
      scheduleReplayQueueIfNeeded: unused,
      startHostTransition: unused,
      dispatchOptimisticSetState: unused,
      startTransition: unused,
      // Hydration of a boundary: the prerendered pages contain no <Suspense> and no <Activity>.
      attemptExplicitHydrationTarget: unused,
      canHydrateHydrationBoundary: "() => null",
      clearHydrationBoundary: unused,
      createFiberFromDehydratedFragment: unused,
      hideOrUnhideDehydratedBoundary: unused,
      registerSuspenseInstanceRetry: unused,
      updateDehydratedSuspenseComponent: unused,
      // Names of components in the console's message of an error.
      getStackByFiberInDevAndProd: '() => ""',
    },
    statements:
      /^(FragmentInstance\.prototype\.|ReactDOMHydrationRoot\.prototype\.unstable_|ReactDOMSharedInternals\.findDOMNode =)/,
  },
  {
    name: "react-dom",
    version: "19.3.1",
    module: "cjs/react-dom.production.js",
    members: {},
    replaced: {},
    statements:
      /^exports\.(browser|preconnect|prefetchDNS|preinit|preinitModule|preload|preloadModule|requestFormReset|unstable_batchedUpdates|useFormState|useFormStatus) =/,
  },
  {
    name: "@tanstack/virtual-core",
    version: "3.19.11",
    module: "dist/esm/index.js",
    members: {},
    replaced: {},
    // Methods that no list calls.
    statements: /^this\.(cancelScroll|measure|scrollBy|takeSnapshot) =/,
  },
  {
    name: "react-i18next",
    version: "18.0.1",
    module: "dist/es/utils.js",
    members: {},
    replaced: {
      // All texts are passed to i18next; nothing is loaded by it.
      hasLoadedNamespace: "() => true",
      loadLanguages: unused,
      loadNamespaces: unused,
      // Messages for developers.
      warn: nothing,
      warnOnce: nothing,
    },
  },
  {
    name: "react-i18next",
    version: "18.0.1",
    module: "dist/es/useTranslation.js",
    members: {},
    replaced: {},
    statements: /^warnOnce\(/,
  },
  {
    name: "react-router",
    version: "8.5.1",
    module: "dist/production/lib/hooks.js",
    members: {},
    replaced: {
      // Only for routers with loaders.
      RenderErrorBoundary: unused,
      defaultErrorElement: "null",
      useNavigateStable: unused,
    },
  },
  {
    name: "react-router",
    version: "8.5.1",
    module: "dist/production/lib/components.js",
    members: {},
    replaced: { MemoizedDataRoutes: unused },
  },
  {
    name: "react-router",
    version: "8.5.1",
    module: "dist/production/lib/dom/lib.js",
    members: {},
    replaced: { Form: unused, NavLink: unused },
    statements: /^(Form|NavLink)\.displayName =/,
  },
];

/** @typedef {{ type: string, start: number, end: number, [key: string]: any }} Node */
/** @typedef {{ start: number, end: number, text: string }} Edit */

/** Version of an installed package. */
const readVersion = (name) =>
  JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;

/** Class of a declaration, with its name: `class Name {}`, `let x = class Name {}`. */
function* listClasses(body) {
  for (const statement of body) {
    if (statement.type === "ClassDeclaration") yield statement;
    if (statement.type !== "VariableDeclaration") continue;
    for (const { init } of statement.declarations) if (init?.type === "ClassExpression" && init.id) yield init;
  }
}

/** Named members: methods of classes, and properties of the object in `props(Name, {…})`. */
function* listMembers(body) {
  for (const node of listClasses(body))
    for (const member of node.body.body) if (member.key?.name) yield [`${node.id.name}.${member.key.name}`, member];
  for (const { expression } of body) {
    if (expression?.callee?.name !== "props") continue;
    const [target, object] = expression.arguments;
    for (const member of object?.properties ?? [])
      if (target.name && member.key?.name) yield [`${target.name}.${member.key.name}`, member];
  }
}

/** Top-level functions and constants: the node to replace, and the text before the replacement. */
function* listDeclarations(body) {
  for (const exported of body) {
    const statement = exported.declaration ?? exported;
    if (statement.type === "FunctionDeclaration") yield [statement.id.name, statement, `const ${statement.id.name} = `];
    if (statement.type !== "VariableDeclaration") continue;
    for (const { id, init } of statement.declarations) if (init && id.name) yield [id.name, init, ""];
  }
}

/** @param {Node} node @param {(node: Node) => void} visit */
function walk(node, visit) {
  visit(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (child && typeof child.type === "string") walk(child, visit);
}

/** @param {Library} library @param {string} code @param {Node} program */
function listEdits(library, code, program) {
  /** @type {Edit[]} */
  const edits = [];
  const removed = new Set(
    Object.entries(library.members).flatMap(([of, names]) => names.map((name) => `${of}.${name}`)),
  );
  const replaced = new Map(Object.entries(library.replaced));
  for (const [name, { start, end }] of listMembers(program.body)) {
    const text = replaced.get(name);
    if (removed.delete(name)) edits.push({ start, end: code[end] === "," ? end + 1 : end, text: "" });
    else if (text !== undefined) edits.push({ start, end, text });
    replaced.delete(name);
  }
  for (const [name, { start, end }, before] of listDeclarations(program.body)) {
    const text = replaced.get(name);
    if (text !== undefined) edits.push({ start, end, text: before ? `${before}${text};` : text });
    replaced.delete(name);
  }
  const missing = [...removed, ...replaced.keys()];
  if (missing.length > 0) throw new Error(`${library.name} has no ${missing.join(", ")} (unused-library-code.mjs)`);
  const isInside = (node) => edits.some(({ start, end }) => node.start >= start && node.end <= end);
  walk(program, (node) => {
    if (node.type !== "ExpressionStatement" || !library.statements?.test(code.slice(node.start, node.end))) return;
    if (!isInside(node)) edits.push({ start: node.start, end: node.end, text: ";" });
  });
  return edits.sort((a, b) => b.start - a.start);
}

/** Throws if a module of the app calls a member that is left out. */
function checkCalls(library, id, code) {
  const names = Object.values(library.members).flat();
  const call = new RegExp(`${library.receivers ?? ""}\\.(${names.join("|")})\\(`).exec(code);
  if (call) throw new Error(`${id} calls ${call[1]}, which scripts/build/unused-library-code.mjs leaves out`);
}

/**
 * Source text of a library's module without what the app does not use.
 * @param {Library} library @param {string} code @param {Node} program
 */
const removeUnused = (library, code, program) =>
  listEdits(library, code, program).reduce(
    (text, { start, end, text: replacement }) => text.slice(0, start) + replacement + text.slice(end),
    code,
  );

/** @type {Library[]} */
let known = [];

/** @type {import("vite").Plugin} */
export const unusedLibraryCode = {
  name: "lisolo:unused-library-code",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client" || name === "ssr",
  buildStart() {
    known = libraries.filter(({ name, version }) => version === readVersion(name));
    for (const { name } of libraries.filter((library) => !known.includes(library)))
      this.warn(`${name} ${readVersion(name)} is left whole, because unused-library-code.mjs names another version`);
  },
  transform(code, id) {
    for (const library of known) {
      if (library.callers && id.startsWith(join(root, library.callers))) checkCalls(library, id, code);
      if (id !== join(root, "node_modules", library.name, library.module)) continue;
      return { code: removeUnused(library, code, /** @type {any} */ (this.parse(code))), map: null };
    }
    return null;
  },
};
