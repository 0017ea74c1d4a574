// Serves dist/ with Miniflare, as `wrangler dev` does but without the second runtime that Wrangler puts before it to
// reload sources: a test's requests, frames and restarts then cost less. A new kind of binding in wrangler.toml must be
// added here. Arguments: folder of the product, port, state. The environment variable BINDINGS holds the Worker's
// variables and secrets.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

/** Miniflare of the installed Wrangler, so that both use the same runtime. */
const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = createRequire(
  createRequire(import.meta.url).resolve("wrangler"),
)("miniflare");

const [product, port, state] = process.argv.slice(2);
const folder = join(product, "lisolo");
const config = JSON.parse(readFileSync(join(folder, "wrangler.json"), "utf8"));
const { main, compatibility_date, compatibility_flags, assets } = config;
const toEntries = (list, toValue) => Object.fromEntries(list.map((one) => [one.binding ?? one.name, toValue(one)]));

const scripts = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js") && name !== main);
const modules = [main, ...scripts].map((name) => {
  const path = join(folder, name);
  return { type: "ESModule", path, contents: readFileSync(path, "utf8") };
});

const worker = {
  name: config.name,
  rootPath: folder,
  modulesRoot: folder,
  modules,
  compatibilityDate: compatibility_date,
  compatibilityFlags: compatibility_flags,
  bindings: { ...config.vars, ...JSON.parse(process.env.BINDINGS ?? "{}") },
  d1Databases: toEntries(config.d1_databases, ({ database_id }) => ({ id: database_id })),
  r2Buckets: toEntries(config.r2_buckets, ({ bucket_name }) => ({ id: bucket_name })),
  durableObjects: toEntries(config.durable_objects.bindings, ({ class_name }) => ({
    className: class_name,
    useSQLite: true,
  })),
  images: { binding: config.images.binding },
  email: { send_email: config.send_email },
  assets: {
    directory: resolve(folder, assets.directory),
    binding: assets.binding,
    run_worker_first: assets.run_worker_first,
    routerConfig: {
      has_user_worker: true,
      static_routing: { user_worker: assets.run_worker_first, asset_worker: [] },
    },
    assetConfig: { not_found_handling: assets.not_found_handling, compatibility_date, compatibility_flags },
  },
};

const server = new Miniflare(
  convertV4MiniflareOptions({
    host: "localhost",
    port: Number(port),
    resourcePersistencePath: join(state, "v3"),
    log: new Log(LogLevel.WARN),
    logRequests: false,
    cf: false,
    telemetry: { enabled: false },
    workers: [worker],
  }),
);
await server.ready;
