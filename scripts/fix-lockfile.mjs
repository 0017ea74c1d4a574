// Completes package-lock.json after a partial registry mirror left out optional packages of other platforms, so that
// `npm ci` accepts it everywhere. Run it after `npm install` when `npm ci` says "Missing: … from lock file". Versions
// are the exact ones pinned by the parent package; npm skips them by `os`, `cpu` and `libc` where they do not apply.
// Missing integrity hashes are read from the registry.
import { readFileSync, writeFileSync } from "node:fs";
import { listUnverified, toPackageName } from "./check/lockfile-rules.mjs";
import { runOrThrow } from "./run.mjs";

const systems = {
  android: "android",
  darwin: "darwin",
  freebsd: "freebsd",
  linux: "linux",
  openharmony: "openharmony",
  win32: "win32",
  windows: "win32",
};
const processors = {
  arm64: "arm64",
  x64: "x64",
  64: "x64",
  arm: "arm",
  ia32: "ia32",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  loong64: "loong64",
};

function toPlatform(name) {
  const words = name.split(/[/-]/);
  const os = words.map((word) => systems[word]).find(Boolean);
  const cpu = words.map((word) => processors[word]).find(Boolean);
  if (!os || !cpu) return undefined;
  const libc = name.includes("musl") ? "musl" : name.includes("gnu") ? "glibc" : undefined;
  return { cpu: [cpu], os: [os], ...(os === "linux" && libc && { libc: [libc] }) };
}

const lockPath = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(lockPath, "utf8"));
const missing = {};

/** Resolves `name` from the package at `path` like Node: beside it, then in every node_modules further up. */
function resolvePackage(path, name) {
  let folder = `${path}/`;
  while (folder.includes("node_modules/")) {
    folder = folder.slice(0, folder.lastIndexOf("node_modules/"));
    const found = lock.packages[`${folder}node_modules/${name}`];
    if (found) return found;
  }
}

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const platform = toPlatform(name);
    if (!platform || !/^\d/.test(version) || resolvePackage(path, name)?.version === version) continue;
    const folder = path.slice(0, path.lastIndexOf("node_modules/"));
    missing[`${folder}node_modules/${name}`] = {
      version,
      ...platform,
      ...(entry.dev && { dev: true }),
      optional: true,
    };
  }
}
const [root, ...others] = Object.entries({ ...lock.packages, ...missing });
lock.packages = Object.fromEntries([root, ...others.sort(([a], [b]) => a.localeCompare(b, "en"))]);
const unverified = listUnverified(lock);
for (const path of unverified) {
  const { version, ...entry } = lock.packages[path];
  const spec = `${entry.name ?? toPackageName(path)}@${version}`;
  const integrity = JSON.parse(runOrThrow("npm", ["view", spec, "dist.integrity", "--json"]));
  lock.packages[path] = { version, integrity, ...entry };
}
writeFileSync(lockPath, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${Object.keys(missing).length} platform packages and ${unverified.length} integrity hashes added.`);
