// Every package in package-lock.json has an integrity hash, so that `npm ci` verifies what it downloads.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";
import { listUnverified } from "./lockfile-rules.mjs";

const unverified = listUnverified(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
for (const path of unverified) console.error(`package-lock.json: ${path} has no integrity hash`);
if (unverified.length > 0) {
  console.error("Run node scripts/fix-lockfile.mjs");
  process.exit(1);
}
