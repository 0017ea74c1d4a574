import { execFileSync } from "node:child_process";

/** Playwright's global setup: the browser tests always run against the current sources. */
export default function buildProduct() {
  execFileSync("node", ["scripts/build/build.mjs", "--mailbox"], { stdio: "inherit" });
}
