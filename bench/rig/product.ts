import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { bin, toolEnv } from "#scripts/run.mjs";
import { root } from "#tests/support/server/state.ts";

export const clientFolder = join(root, "dist", "client");
/** Source maps of the browser's scripts, which are not served, under the names of these. */
export const mapsFolder = join(root, "dist", "maps");

/**
 * Builds what is not built yet, so that a figure never belongs to older sources; `--no-build` measures dist/ as it is.
 * Built for this machine: mails are kept, and the limits of what one person sends in a time are raised (tests/support/server/server.ts).
 */
export function buildProduct(): void {
  if (process.argv.includes("--no-build")) return;
  execFileSync(join(bin, "node"), ["scripts/build/build.mjs", "--mailbox"], {
    cwd: root,
    env: toolEnv(),
    stdio: ["ignore", "ignore", "inherit"],
  });
}
