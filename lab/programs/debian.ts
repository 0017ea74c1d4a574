import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "#tests/support/server/state.ts";

/** Debian packages, unpacked but not installed; ignored by git, may be removed at any time. */
const cache = join(root, "node_modules", ".cache", "lab");

/** Path of a program of this machine; undefined if it is not on the PATH. */
export const findOnPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

function runApt(command: string, args: string[], cwd?: string): string {
  return execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, LC_ALL: "C" },
    maxBuffer: 2 ** 26,
  });
}

/** Packages that apt would install for it on this machine. */
const listDependencies = (name: string): string[] =>
  [...runApt("apt-get", ["install", "--simulate", "--no-install-recommends", name]).matchAll(/^Inst (\S+)/gm)].map(
    ([, needed]) => String(needed),
  );

function unpack(name: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  let needed: string[];
  try {
    needed = listDependencies(name);
    runApt("apt-get", ["download", ...needed], folder);
  } catch {
    runApt("apt-get", ["update"]);
    needed = listDependencies(name);
    runApt("apt-get", ["download", ...needed], folder);
  }
  for (const file of readdirSync(folder).filter((entry) => entry.endsWith(".deb"))) {
    runApt("dpkg-deb", ["--extract", file, "."], folder);
    rmSync(join(folder, file));
  }
}

export type Program = { path: string; env: NodeJS.ProcessEnv };

/** Finds a program on this machine, or unpacks it from Debian's package into the cache. */
export function requireProgram(name: string, from: { package: string; path: string }): Program {
  const installed = findOnPath(name);
  if (installed) return { path: installed, env: process.env };
  const folder = join(cache, from.package);
  const path = join(folder, from.path);
  if (!existsSync(path)) {
    if (!findOnPath("apt-get") || !findOnPath("dpkg-deb")) {
      throw new Error(`${name} is missing. Install it, or run this where apt-get can fetch Debian's ${from.package}.`);
    }
    console.log(`Fetching ${from.package} with apt-get, once…`);
    rmSync(folder, { recursive: true, force: true });
    try {
      unpack(from.package, folder);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`${name} is missing, and apt-get could not fetch ${from.package}: ${String(error)}`);
    }
  }
  const libraries = ["usr/lib", "lib"]
    .flatMap((below) => [join(folder, below), ...listFolders(join(folder, below))])
    .join(delimiter);
  return { path, env: { ...process.env, LD_LIBRARY_PATH: libraries } };
}

const listFolders = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(folder, entry.name))
    : [];
