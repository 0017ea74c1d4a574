/** @typedef {{ version?: string, integrity?: string, link?: boolean }} LockedPackage */

/**
 * Paths of the packages without an integrity hash; the project itself and links to local folders have none.
 * @param {{ packages: Record<string, LockedPackage> }} lock
 */
export const listUnverified = ({ packages }) =>
  Object.entries(packages)
    .filter(([path, { integrity, link }]) => path.startsWith("node_modules/") && !link && integrity === undefined)
    .map(([path]) => path);

/** Name of the package installed at a path. @param {string} path */
export const toPackageName = (path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
