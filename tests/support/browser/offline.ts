import { expect, type Page } from "@playwright/test";

/** How a browser window is opened that is to work without a network; the others of tests/e2e have no service worker. */
export const keptOffline = { serviceWorkers: "allow" } as const;

/** Waits until the service worker runs the page with everything the app needs without a network, its language included. */
export const isKeptOffline = async (page: Page): Promise<void> => {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const keptLanguage = () =>
    page.evaluate(async () => {
      const names = await caches.keys();
      const kept = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      const language = document.documentElement.lang;
      return kept.flat().some(({ url }) => new URL(url).pathname.startsWith(`/assets/${language}-`));
    });
  await expect.poll(keptLanguage).toBe(true);
};
