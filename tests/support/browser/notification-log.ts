import type { Page } from "@playwright/test";

declare global {
  interface Window {
    /**
     * Sounds with their times by the page's clock, the first text of every banner, and the time of the last
     * notification.
     */
    notifications: { sounds: number[]; banners: string[]; at: number };
  }
}

/** Records in the page what it notifies by itself. */
export const recordNotifications = () => {
  const notifications: Window["notifications"] = { sounds: [], banners: [], at: 0 };
  window.notifications = notifications;
  // A busy machine takes longer to wake its audio device than a sound lasts: keep it awake here.
  Object.defineProperty(BaseAudioContext.prototype, "state", { get: () => "running" });
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (this: OscillatorNode, when?: number) {
    const now = performance.now();
    if (now - (notifications.sounds.at(-1) ?? Number.NEGATIVE_INFINITY) > 200) notifications.sounds.push(now); // several notifications make one sound
    notifications.at = now;
    start.call(this, when);
  };
  let last: Element | null = null;
  new MutationObserver(() => {
    const banner = document.querySelector("[data-news]");
    if (banner && banner !== last) notifications.banners.push(banner.querySelector("a")?.textContent ?? "");
    if (banner) notifications.at = performance.now();
    last = banner;
  }).observe(document, { childList: true, subtree: true });
};

const burstMs = 3_200; // a notification within this time belongs to the last sound

/** Waits until the next notification is separate from the last. */
export const waitForQuiet = (page: Page) =>
  page.waitForFunction(
    (ms) => performance.now() - window.notifications.at > ms && !document.querySelector("[data-news]"),
    burstMs,
  );

export const countSounds = (page: Page) => page.evaluate(() => window.notifications.sounds.length);
export const listBanners = (page: Page) => page.evaluate(() => window.notifications.banners);
export const findBanner = (page: Page) => page.locator("[data-news]");
