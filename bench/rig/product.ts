import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { bin, toolEnv } from "#scripts/run.mjs";
import { root } from "#tests/support/server/state.ts";

export const clientFolder = join(root, "dist", "client");
/** Source maps of the browser's scripts under the same names; they are not served. */
export const mapsFolder = join(root, "dist", "maps");

/**
 * Builds outdated sources, so that measurements never belong to older ones; `--no-build` measures dist/ as it is. Built
 * for this machine: mails are kept, and rate limits are raised (tests/support/server/server.ts).
 */
export function buildProduct(): void {
  if (process.argv.includes("--no-build")) return;
  execFileSync(join(bin, "node"), ["scripts/build/build.mjs", "--mailbox"], {
    cwd: root,
    env: toolEnv(),
    stdio: ["ignore", "ignore", "inherit"],
  });
}
