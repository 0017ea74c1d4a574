// Used by vite.config.ts: React Router's `Link` and router contain parts of its framework mode, which the app does not
// use. Without them the bundle is 2 kB smaller.
const usingModule = /\/react-router\/dist\/[\w/-]+\/lib\/(dom\/lib|components)\.js$/;
const frameworkImport = /\/ssr\/components\.js$/;
const stubId = "\0react-router-framework";

/** The framework's functions as `Link` sees them outside of the framework mode. */
const stub = `
import { createContext } from "react";
export const FrameworkContext = createContext(undefined);
export const usePrefetchBehavior = () => [false, undefined, {}];
export const PrefetchPageLinks = () => null;
export const mergeRefs = (ref) => ref;
`;

/**
 * The build fails if a new version imports anything else.
 * @type {import("vite").Plugin}
 */
export const routerStub = {
  name: "lisolo:router-stub",
  apply: "build",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name === "client",
  resolveId: (source, importer) =>
    importer && usingModule.test(importer) && frameworkImport.test(source) ? stubId : null,
  load: (id) => (id === stubId ? { code: stub, map: null } : null),
};
