import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { makeSecrets } from "./scripts/local/secrets.mjs";

const secrets = makeSecrets();
// Wrangler reads the secrets required by wrangler.toml from the environment.
Object.assign(process.env, secrets);

/**
 * `limitFactor`: multiplies the rate limits of production that the directory and the objects count, for tests in which
 * few people do much.
 */
const runtime = (limitFactor: number) =>
  cloudflareTest(async () => ({
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      bindings: {
        ...secrets,
        LOCAL_LIMIT_FACTOR: String(limitFactor),
        PUBLIC_URL: "https://lisolo.test",
        // Nothing listens there: pushes that a test does not expect fail.
        PUSH_RELAY: "http://127.0.0.1:9",
        D1_MIGRATIONS: await readD1Migrations("./migrations"),
      },
    },
  }));

const unit = {
  test: {
    environment: "node" as const,
    // End tests that hang, as below.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
};

/** Unit tests that leave nothing behind in their process. Tests with virtual time or a model browser do. */
const sideEffectFree = ["chat", "contract", "media", "scripts", "ui"].map(
  (folder) => `tests/unit/${folder}/**/*.test.{ts,tsx}`,
);

const worker = {
  setupFiles: ["./tests/worker/support/setup/apply-migrations.ts"],
  // Ends tests that hang; waits inside tests have shorter limits of their own. On a busy machine the largest test takes
  // ten times as long. Set here, because a shared module would set it only for the first file of a runtime.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Measured by the machine's clock, which continues while other workers run.
  expect: { poll: { timeout: 30_000 } },
  // Restores changed clocks and failing objects after each test, also in a runtime shared by many files.
  restoreMocks: true,
};

/** As in every local build: mails are kept. */
const define = { LOCAL_MAILBOX: "true" };

/** Tests that count operations or timers of all objects in their runtime, or test production limits. */
const alone = [
  "tests/worker/auth/password-hashing.test.ts",
  "tests/worker/auth/user-enumeration.test.ts",
  "tests/worker/platform/request-limits.test.ts",
  "tests/worker/messages/rows.test.ts",
  "tests/worker/push/push-rows.test.ts",
  "tests/worker/calls/call-costs.test.ts",
  "tests/worker/messages/frame-limits.test.ts",
  "tests/worker/messages/send-limits.test.ts",
];

/**
 * Files that take longest. Vitest would start small files and those of `alone` last, and processors would be idle at their
 * end.
 */
const longest = [
  "tests/worker/platform/access.test.ts",
  "tests/worker/messages/rows.test.ts",
  "tests/worker/push/push-rows.test.ts",
  "tests/worker/push/reactions.test.ts",
  "tests/worker/push/messages.test.ts",
  ...alone,
];

class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const findRank = ({ moduleId }: TestSpecification) => {
      const rank = longest.findIndex((path) => moduleId.endsWith(path));
      return rank === -1 ? longest.length : rank;
    };
    return sorted.sort((x, y) => findRank(x) - findRank(y));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirstSequencer },
    // The output of a failure that cannot be reproduced must be in the log.
    chaiConfig: { truncateThreshold: 2_000 },
    projects: [
      {
        ...unit,
        test: { ...unit.test, name: "unit", include: ["tests/unit/**/*.test.{ts,tsx}"], exclude: sideEffectFree },
      },
      // One process for many files: starting one costs more than most of them.
      { ...unit, test: { ...unit.test, name: "unit-shared", include: sideEffectFree, isolate: false } },
      {
        plugins: [runtime(1_000)],
        define,
        test: {
          ...worker,
          name: "worker",
          include: ["tests/worker/**/*.test.ts"],
          exclude: alone,
          setupFiles: [...worker.setupFiles, "./tests/worker/support/setup/lift-memory-limits.ts"],
          // One runtime for many files: starting it costs more than most files. Every test creates its own people and
          // does not depend on other tests.
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
