// `npm run deploy`: creates missing Cloudflare resources, then migrates, builds and deploys. Needs `npx wrangler login`
// or CLOUDFLARE_API_TOKEN once. `npm run deploy -- --dry-run` builds and lists what would be created, without an
// account.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { build } from "./build/build.mjs";
import { productionStun } from "./local/calls-env.mjs";
import { generateTypes } from "./local/prepare.mjs";
import { makeSecrets, secretNames } from "./local/secrets.mjs";
import { installPackages, root, run, runOrThrow } from "./run.mjs";

const databaseName = "lisolo";
const buckets = ["lisolo-avatars", "lisolo-files"];
const dryRun = process.argv.includes("--dry-run");
const configPath = join(root, "wrangler.toml");

/** Finds or creates the database and writes its id, which is public, into wrangler.toml. */
function requireDatabase() {
  const list = () => JSON.parse(runOrThrow("wrangler", ["d1", "list", "--json"]));
  const find = () => list().find((database) => database.name === databaseName);
  let database = find();
  if (!database) {
    runOrThrow("wrangler", ["d1", "create", databaseName]);
    database = find();
  }
  const config = readFileSync(configPath, "utf8");
  const updated = config.replace(/^(database_id = )"[^"]*"/m, `$1${JSON.stringify(database.uuid)}`);
  if (updated === config) return;
  writeFileSync(configPath, updated);
  console.log("wrangler.toml now contains the database id: commit it.");
}

function requireBucket(name) {
  if (run("wrangler", ["r2", "bucket", "info", name], { quiet: true }).ok) return;
  runOrThrow("wrangler", ["r2", "bucket", "create", name]);
}

/**
 * Asks for the public URL, without which mails, passkeys and external log-ins are refused. An empty answer keeps it
 * unset.
 */
async function requirePublicUrl() {
  const config = readFileSync(configPath, "utf8");
  const empty = /^(PUBLIC_URL = )""/m;
  if (!empty.test(config)) return;
  const without =
    "PUBLIC_URL in wrangler.toml is empty: mails, passkeys and other log-ins are refused until it is set.";
  if (!process.stdin.isTTY || dryRun) return console.warn(without);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = (await terminal.question("Address people use, as in https://lisolo.example (empty: later): ")).trim();
  terminal.close();
  if (answer === "") return console.warn(without);
  const { protocol, origin } = new URL(answer);
  if (protocol !== "https:") throw new Error("The address must start with https://");
  writeFileSync(configPath, config.replace(empty, `$1${JSON.stringify(origin)}`));
  console.log("wrangler.toml now contains the address: commit it.");
}

/**
 * Creates missing secrets and never shows or replaces one, because a new one would lock people out. The list of STUN
 * servers is not secret, but is stored with the secrets so that deployments keep it.
 */
function requireSecrets() {
  const listed = run("wrangler", ["secret", "list", "-c", "wrangler.toml"], { quiet: true });
  const made = { ...makeSecrets(), STUN_URLS: productionStun };
  // Before the first deployment the Worker does not exist and has no secrets; `secret put` creates it.
  for (const name of [...secretNames, "STUN_URLS"]) {
    if (listed.ok && listed.output.includes(`"${name}"`)) continue;
    runOrThrow("wrangler", ["secret", "put", name, "-c", "wrangler.toml"], { input: made[name] });
    console.log(`Secret ${name} created.`);
  }
}

try {
  installPackages();
  generateTypes();
  await requirePublicUrl();
  if (dryRun) {
    build();
    runOrThrow("wrangler", ["deploy", "--dry-run", "-c", "dist/lisolo/wrangler.json"]);
    console.log(`Would create, where missing: D1 database ${databaseName}; R2 buckets ${buckets.join(", ")};`);
    console.log(
      `secrets ${secretNames.join(", ")} and the setting STUN_URLS. Would apply migrations/*.sql and deploy the build, which is in order.`,
    );
  } else {
    requireDatabase();
    for (const name of buckets) requireBucket(name);
    requireSecrets();
    runOrThrow("wrangler", ["d1", "migrations", "apply", "DB", "--remote", "-c", "wrangler.toml"], {
      env: { CI: "1" },
    });
    build();
    run("wrangler", ["deploy", "-c", "dist/lisolo/wrangler.json"]).ok || process.exit(1);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
