import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { makeSecrets } from "./scripts/local/secrets.mjs";

const secrets = makeSecrets();
// Wrangler looks for the secrets that wrangler.toml requires in the environment.
Object.assign(process.env, secrets);

/** `limitFactor`: how many times as much as in production a person may do in a time, for tests in which few do much. */
const runtime = (limitFactor: number) =>
  cloudflareTest(async () => ({
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      bindings: {
        ...secrets,
        LOCAL_LIMIT_FACTOR: String(limitFactor),
        PUBLIC_URL: "https://lisolo.test",
        D1_MIGRATIONS: await readD1Migrations("./migrations"),
      },
    },
  }));

const worker = {
  setupFiles: ["./tests/worker/support/apply-migrations.ts"],
  // It ends what hangs: whatever waits has a patience of its own. A machine that does something else beside it takes ten
  // times as long for the biggest. Said here: a module that files share says it to the first of them alone.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // By the machine's clock, which goes on while others have their turn.
  expect: { poll: { timeout: 30_000 } },
  // A clock that was set, an object that was made to fail: for one test alone, also in a runtime for many files.
  restoreMocks: true,
};

/** As in every build for this machine: mails are kept. */
const define = { LOCAL_MAILBOX: "true" };

/** They count what all objects of their runtime do, or meet the limits as they are in production. */
const alone = [
  "tests/worker/messages/rows.test.ts",
  "tests/worker/calls/call-costs.test.ts",
  "tests/worker/messages/frame-limits.test.ts",
  "tests/worker/messages/send-limits.test.ts",
];

export default defineConfig({
  test: {
    // A failure that cannot be repeated is to be read from what it printed.
    chaiConfig: { truncateThreshold: 2_000 },
    projects: [
      {
        test: {
          name: "unit",
          include: ["tests/unit/**/*.test.{ts,tsx}"],
          environment: "node",
          // They end what hangs, as below.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [runtime(1_000)],
        define,
        test: {
          ...worker,
          name: "worker",
          include: ["tests/worker/**/*.test.ts"],
          exclude: alone,
          // A runtime for many files: its start costs more than most of them. Every test makes people of its own and
          // counts on nobody else's absence.
          isolate: false,
        },
      },
      {
        plugins: [runtime(1)],
        define,
        test: { ...worker, name: "worker-alone", include: alone },
      },
    ],
  },
});
