import { type Browser, test as base } from "@playwright/test";

let opened: Browser | undefined;

/**
 * Playwright's `test`, whose windows end with the test that opened them: the same browser runs the tests after it, and
 * a call that goes on in a window nobody looks at takes a part of their time.
 */
export const test = base.extend<{ tidy: undefined }, object>({
  browser: [
    async ({ browser }, use) => {
      opened = browser;
      await use(browser);
    },
    { scope: "worker" },
  ],
  tidy: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      await use(undefined);
      await Promise.all(opened?.contexts().map((context) => context.close()) ?? []);
    },
    { auto: true },
  ],
});

export { expect } from "@playwright/test";
