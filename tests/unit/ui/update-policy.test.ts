import { expect, test } from "vitest";
import { shouldInstallUpdate, type UpdateSituation } from "#sw/update-policy.ts";

const day = 24 * 3_600_000;
const now = Date.UTC(2026, 10, 26);
const installed: UpdateSituation = {
  hasActiveWorker: true,
  isRequired: false,
  installedAt: now - day,
  connection: { effectiveType: "3g", type: "cellular" },
  now,
};

test.each<[string, Partial<UpdateSituation>, boolean]>([
  ["on a slow mobile link", {}, false],
  ["with the data saver on", { connection: { saveData: true, effectiveType: "4g", type: "wifi" } }, false],
  ["on a fast link", { connection: { effectiveType: "4g", type: "cellular" } }, true],
  ["on a slow but unmetered link", { connection: { effectiveType: "3g", type: "wifi" } }, true],
  ["in a browser that does not describe its link", { connection: undefined }, true],
  ["after more than seven days", { installedAt: now - 8 * day }, true],
  ["after the clock was set back", { installedAt: now + day }, true],
  ["when the server requires it", { isRequired: true }, true],
  ["at the first visit", { hasActiveWorker: false }, true],
  ["of a version that did not record its installation", { installedAt: undefined }, true],
])("an update is downloaded or postponed %s", (_, change, isInstalled) => {
  expect(shouldInstallUpdate({ ...installed, ...change })).toBe(isInstalled);
});
