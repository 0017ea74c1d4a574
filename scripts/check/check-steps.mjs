// The checks that need no running product, one after another. Every step runs, so one look shows everything wrong.
import { run } from "../run.mjs";

/** @type {[title: string, command: string, args: string[]][]} */
const steps = [
  ["format", "biome", ["format", "."]],
  ["lint", "biome", ["lint", "--error-on-warnings", "."]],
  ["import rules", "node", ["scripts/check/check-imports.mjs"]],
  ["documentation", "node", ["scripts/check/check-docs.mjs"]],
  ["translations", "node", ["scripts/check/check-translations.mjs"]],
  // --force: TypeScript 7 keeps errors of an earlier build when only a tsconfig changed.
  ["types", "tsc", ["-b", "--force"]],
  ["unused code", "knip", ["--no-progress"]],
  // Builds the client where it is not built yet.
  ["budgets", "node", ["scripts/check/byte-budget.mjs"]],
];

/** Runs every step and says how many passed, and which did not. */
export function runChecks() {
  /** @type {string[]} */
  const failures = [];
  for (const [title, command, args] of steps) {
    const { ok, output } = run(command, args, { quiet: true });
    if (!ok) {
      failures.push(title);
      console.error(`${output.trimEnd()}\n`);
    }
    console.log(`${ok ? "✓" : "✗"} ${title}`);
  }
  return { passed: steps.length - failures.length, failed: failures.length, skipped: 0, failures, flaky: [] };
}
