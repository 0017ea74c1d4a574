import { fileURLToPath } from "node:url";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { makeSecrets } from "#scripts/local/secrets.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const secrets = makeSecrets();
// Wrangler reads the secrets required by wrangler.toml from the environment.
Object.assign(process.env, secrets);

// Same workerd as in tests/worker; `npm run bench -- rows` starts it and parses its output.
export default defineConfig({
  root,
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: "./wrangler.toml" },
      miniflare: {
        bindings: {
          ...secrets,
          LOCAL_LIMIT_FACTOR: process.env["BENCH_LIMIT_FACTOR"] ?? "1000",
          PUBLIC_URL: "https://lisolo.test",
          // Nothing listens there: pushes that a bench does not expect fail.
          PUSH_RELAY: "http://127.0.0.1:9",
          D1_MIGRATIONS: await readD1Migrations("./migrations"),
        },
      },
    })),
  ],
  define: { LOCAL_MAILBOX: "true" },
  test: {
    include: ["bench/rows/*.bench.test.ts"],
    setupFiles: ["./tests/worker/support/setup/apply-migrations.ts"],
    testTimeout: 300_000,
    disableConsoleIntercept: true,
  },
});
