import { type Browser, type BrowserContext, test as base } from "@playwright/test";

let opened: Browser | undefined;
const closeMs = 20_000;

/**
 * Closes a context, but does not wait forever if the browser does not release what its pages played and recorded. It
 * ends with its worker.
 */
export const closeWindow = async (context: BrowserContext): Promise<void> => {
  const patience = new Promise<void>((resolve) => void setTimeout(resolve, closeMs).unref());
  await Promise.race([context.close(), patience]);
};

/**
 * Playwright's `test` that closes all contexts after each test. The same browser runs the following tests, and a call
 * that continues in a forgotten window would take a part of their time.
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
      await Promise.all(opened?.contexts().map(closeWindow) ?? []);
    },
    { auto: true },
  ],
});

export { expect } from "@playwright/test";
