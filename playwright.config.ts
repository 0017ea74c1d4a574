import { defineConfig } from "@playwright/test";
import { chromiumFlags, findQuickChromium } from "./scripts/local/chromium.mjs";

const executablePath = await findQuickChromium();

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./tests/support/server/build.ts",
  // Tests mostly wait, for example for a ring to end or a network to return.
  workers: 3,
  fullyParallel: false,
  forbidOnly: true,
  // CI retries a failed test once; scripts/test.mjs lists such tests as flaky.
  retries: process.env["CI"] === "true" ? 1 : 0,
  // Four times the duration of the longest test on two busy processors.
  timeout: 240_000,
  expect: { timeout: 15_000 },
  use: {
    // A missing element fails with its own message, long before the whole test times out.
    actionTimeout: 90_000,
    locale: "fr-FR",
    timezoneId: "Africa/Kinshasa",
    viewport: { width: 360, height: 740 },
    launchOptions: { args: chromiumFlags, ...(executablePath && { executablePath }) },
  },
  projects: [
    // First, because it contains the longest tests.
    { name: "chaos", testDir: "tests/chaos", workers: 2 },
    // A service worker would fetch every file of the app in the middle of unrelated tests: it is enabled only in tests
    // about it, about being offline, or of whole journeys.
    { name: "e2e", testDir: "tests/e2e", use: { serviceWorkers: "block" } },
  ],
});
