// `npm run check`: format, lint, import rules, documentation, translations, types, unused code, the client's size.
// `--update-budget` takes the size of today's build as the one to be kept.

import { generateTypes } from "../local/prepare.mjs";
import { installPackages, runOrThrow } from "../run.mjs";
import { runChecks } from "./check-steps.mjs";

installPackages();
generateTypes();
if (process.argv.includes("--update-budget"))
  console.log(runOrThrow("node", ["scripts/check/byte-budget.mjs", "--update"]));
process.exitCode = runChecks().failed === 0 ? 0 : 1;
