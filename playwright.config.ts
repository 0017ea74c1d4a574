import { defineConfig } from "@playwright/test";
import { chromiumFlags, findQuickChromium } from "./scripts/local/chromium.mjs";

const executablePath = await findQuickChromium();

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./tests/support/server/build.ts",
  // Most of a test is waiting: for a ring to end, for a network to come back.
  workers: 3,
  fullyParallel: false,
  forbidOnly: true,
  // Once more where nobody sits who could run it again; scripts/test.mjs names what needed it.
  retries: process.env["CI"] === "true" ? 1 : 0,
  // Four times what the longest takes on two busy processors.
  timeout: 240_000,
  expect: { timeout: 15_000 },
  use: {
    // What never comes is told as what was waited for, and long before the test as a whole is given up.
    actionTimeout: 90_000,
    locale: "fr-FR",
    timezoneId: "Africa/Kinshasa",
    viewport: { width: 360, height: 740 },
    launchOptions: { args: chromiumFlags, ...(executablePath && { executablePath }) },
  },
  projects: [
    // Each window's service worker would fetch every file of the app in the middle of a test about something else: it
    // runs where a test is about it, about being offline, or is a whole journey.
    { name: "e2e", testDir: "tests/e2e", use: { serviceWorkers: "block" } },
    { name: "chaos", testDir: "tests/chaos", workers: 2 },
  ],
});
