// Checks that need no running product. All steps run, side by side, so that one run shows all problems.
import { runAsync } from "../run.mjs";

const knipProduct = [
  ...["--no-progress", "--no-config-hints", "--production", "-c", "scripts/check/knip-product.json"],
  ...["--include", "files,exports,types"],
];

/** @type {[title: string, command: string, args: string[]][]} */
const steps = [
  ["format", "biome", ["format", "."]],
  ["lint", "biome", ["lint", "--error-on-warnings", "."]],
  ["import rules", "node", ["scripts/check/check-imports.mjs"]],
  ["names", "node", ["scripts/check/check-names.mjs"]],
  ["documentation", "node", ["scripts/check/check-docs.mjs"]],
  ["translations", "node", ["scripts/check/check-translations.mjs"]],
  ["lockfile", "node", ["scripts/check/check-lockfile.mjs"]],
  // --force: TypeScript 7 keeps errors of an earlier build when only a tsconfig changed.
  ["types", "tsc", ["-b", "--force"]],
  ["unused code", "knip", ["--no-progress"]],
  ["code used only by tests", "knip", knipProduct],
  // Builds the client if it is outdated.
  ["budgets", "node", ["scripts/check/byte-budget.mjs"]],
];

/** Runs every step and returns the counts and the names of the failed ones. */
export async function runChecks() {
  const results = await Promise.all(
    steps.map(async ([title, command, args]) => ({ title, ...(await runAsync(command, args)) })),
  );
  for (const { title, ok, output } of results) {
    if (!ok) console.error(`${output.trimEnd()}\n`);
    console.log(`${ok ? "✓" : "✗"} ${title}`);
  }
  const failures = results.filter(({ ok }) => !ok).map(({ title }) => title);
  return { passed: steps.length - failures.length, failed: failures.length, skipped: 0, failures, flaky: [] };
}
