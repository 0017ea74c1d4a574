// `npm run check`: format, lint, import rules, documentation, translations, types, unused code, names and size of the
// client. `--update-budget` accepts the size of the current build.

import { generateTypes } from "../local/prepare.mjs";
import { installPackages, runOrThrow } from "../run.mjs";
import { runChecks } from "./check-steps.mjs";

installPackages();
generateTypes();
if (process.argv.includes("--update-budget"))
  console.log(runOrThrow("node", ["scripts/check/byte-budget.mjs", "--update"]));
const { failed } = await runChecks();
process.exitCode = failed === 0 ? 0 : 1;
