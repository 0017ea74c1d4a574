import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolEnv } from "#scripts/run.mjs";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Empty, migrated state, created once for each set of migrations because Wrangler needs seconds for it. */
function migratedTemplate(): string {
  const folder = join(root, "migrations");
  const hash = createHash("sha256");
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .sort()) {
    hash.update(name).update(readFileSync(join(folder, name)));
  }
  const reports = join(root, ".reports");
  const template = join(reports, `state-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(template)) return template;

  mkdirSync(reports, { recursive: true });
  const draft = mkdtempSync(join(reports, "draft-"));
  const args = ["d1", "migrations", "apply", "DB", "--local", "--persist-to", draft, "-c", "wrangler.toml"];
  execFileSync("wrangler", args, { cwd: root, env: toolEnv({ CI: "1" }), stdio: "pipe" });
  try {
    renameSync(draft, template);
  } catch (error) {
    // Another Playwright worker was faster; its template is equivalent.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(template)) throw error;
  }
  return template;
}

/** Creates a folder with a fresh, migrated state of D1; R2 and the objects are empty. */
export function makeState(): string {
  const folder = mkdtempSync(join(tmpdir(), "lisolo-"));
  cpSync(migratedTemplate(), join(folder, "state"), { recursive: true });
  return folder;
}
