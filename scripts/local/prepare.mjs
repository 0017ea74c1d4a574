// Preparation of every local server: packages, secrets, types of the bindings, migrations.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { installPackages, root, runOrThrow } from "../run.mjs";
import { requireSecrets } from "./secrets.mjs";

/** Applies D1's migrations to the local state in `folder`. Fast if there is nothing to do. */
export function migrate(folder) {
  runOrThrow(
    "wrangler",
    ["d1", "migrations", "apply", "DB", "--local", "--persist-to", resolve(root, folder), "-c", "wrangler.toml"],
    {
      env: { CI: "1" },
    },
  );
}

/** Writes worker-configuration.d.ts (type Env) if wrangler.toml or the packages changed. */
export function generateTypes() {
  const output = join(root, "worker-configuration.d.ts");
  const inputs = ["wrangler.toml", "package-lock.json"].map((name) => statSync(join(root, name)).mtimeMs);
  if (existsSync(output) && inputs.every((time) => time <= statSync(output).mtimeMs)) return;
  runOrThrow("wrangler", ["types", "-c", "wrangler.toml", "--include-runtime=false"]);
}

export function prepare({ state }) {
  installPackages();
  requireSecrets(join(root, ".dev.vars"));
  generateTypes();
  migrate(state);
}
