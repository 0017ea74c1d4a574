// `npm run check`: format, lint, import rules, documentation, translations, types, unused code.
import { runChecks } from "./check-steps.mjs";
import { generateTypes } from "./prepare.mjs";
import { install } from "./run.mjs";

install();
generateTypes();
process.exitCode = runChecks().failed === 0 ? 0 : 1;
