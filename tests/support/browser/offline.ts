import { expect, type Page } from "@playwright/test";

/** Context options of a window that must work offline. Other contexts of tests/e2e have no service worker. */
export const withServiceWorker = { serviceWorkers: "allow" } as const;

/**
 * Waits until the service worker controls the page and has cached everything the app needs offline, including its
 * language.
 */
export const waitForOfflineReady = async (page: Page): Promise<void> => {
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
