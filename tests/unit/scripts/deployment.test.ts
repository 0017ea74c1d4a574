import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Settings of a deployment that protect people and that no other test would miss. */
const settings = readFileSync(new URL("../../../wrangler.toml", import.meta.url), "utf8");

test("a deployed Worker does not log the addresses of requests, which contain codes and picture keys", () => {
  expect(settings).toMatch(/^\[observability\.logs\]\ninvocation_logs = false$/m);
});
