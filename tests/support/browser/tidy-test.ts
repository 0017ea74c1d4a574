import { type Browser, type BrowserContext, test as base } from "@playwright/test";

let opened: Browser | undefined;
const closeMs = 20_000;

/** Without waiting for ever where the browser does not let go of what its pages played and recorded: it ends with its worker. */
export const closeWindow = async (context: BrowserContext): Promise<void> => {
  const patience = new Promise<void>((resolve) => void setTimeout(resolve, closeMs).unref());
  await Promise.race([context.close(), patience]);
};

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
      await Promise.all(opened?.contexts().map(closeWindow) ?? []);
    },
    { auto: true },
  ],
});

export { expect } from "@playwright/test";
