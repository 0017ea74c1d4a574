import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { bin, toolEnv } from "../scripts/run.mjs";
import { root } from "../tests/support/state";

export const clientFolder = join(root, "dist", "client");
/** Source maps of the browser's scripts, which are not served, under the names of these. */
export const mapsFolder = join(root, "dist", "maps");

/**
 * Builds what is not built yet, so that a figure never belongs to older sources; `--no-build` measures dist/ as it is.
 * `options` are those of the build: `--mailbox` where mails are to be read.
 */
export function buildProduct(...options: string[]): void {
  if (process.argv.includes("--no-build")) return;
  execFileSync(join(bin, "node"), ["scripts/build.mjs", ...options], {
    cwd: root,
    env: toolEnv(),
    stdio: ["ignore", "ignore", "inherit"],
  });
}
