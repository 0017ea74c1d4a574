// `npm start`: installs, migrates, builds and serves the product on this machine. Nothing else is needed.
import { resolve } from "node:path";
import { build } from "../build/build.mjs";
import { requireFreePort, root, run, runServer } from "../run.mjs";
import { listSettingArguments } from "./calls-env.mjs";
import { readOptions } from "./options.mjs";
import { prepare } from "./prepare.mjs";

const scheduledIntervalMs = 3_600_000;
/** Raises the limits of production: whoever tries the product does within an hour what takes people days. */
const limitFactor = Number(process.env["LOCAL_LIMIT_FACTOR"] ?? 1_000);

try {
  const { port, state, demo, build: shouldBuild } = readOptions();
  await requireFreePort(port);
  prepare({ state });
  if (shouldBuild) build({ mailbox: true, demo });

  runServer("wrangler", [
    "dev",
    "-c",
    "dist/lisolo/wrangler.json",
    "--port",
    String(port),
    "--persist-to",
    resolve(root, state),
    "--log-level",
    "warn",
    ...listSettingArguments(),
    "--var",
    `LOCAL_LIMIT_FACTOR:${limitFactor}`,
  ]);

  const address = `http://localhost:${port}`;
  while (!(await isHealthy(address))) await new Promise((resolve) => setTimeout(resolve, 100));
  if (demo && !run("node", ["scripts/demo.mjs", address]).ok) {
    console.error("The demo is incomplete: stop, and start again with --demo to continue it.");
  }
  // The local runtime has no cron: this timer replaces the one of wrangler.toml.
  setInterval(() => fetch(`${address}/cdn-cgi/local/scheduled`).catch(() => undefined), scheduledIntervalMs).unref();
  if (limitFactor > 1) {
    console.log("Daily limits of requests, groups, statuses and searches are lifted; LOCAL_LIMIT_FACTOR=1 keeps them.");
  }
  console.log(`Lisolo is ready on ${address} (stop with Ctrl+C; data stays in ${state})`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function isHealthy(address) {
  const response = await fetch(`${address}/api/health`).catch(() => undefined);
  return response?.ok === true;
}
