import { waitForTakeover } from "./first-view.ts";
import { toTrustedUrl } from "./trusted-url.ts";
import { requestFromWorker } from "./worker-request.ts";

/**
 * Registers the service worker when the app has replaced the first view and the browser is idle, and sends it the URLs
 * of the assets this page has loaded, its language included, so that it caches them without another download.
 */
const workerUrl = "/sw.js";
const idleTimeoutMs = 5_000;
// As in src/sw/update-policy.ts.
const appCacheName = "shell";
const updateRequiredKey = "/sw-update-required";

const registerWorker = async () => {
  try {
    await navigator.serviceWorker.register(toTrustedUrl(workerUrl));
    const loaded = performance
      .getEntriesByType("resource")
      .map(({ name }) => new URL(name))
      .filter(({ origin, pathname }) => origin === location.origin && pathname.startsWith("/assets/"))
      .map(({ pathname }) => pathname);
    await navigator.serviceWorker.ready;
    await requestFromWorker({ type: "cache-files", paths: loaded });
  } catch (error) {
    // Everything except opening offline works without it.
    console.warn("service worker", error);
  }
};

/** Requires the newest version whatever the connection, because the server no longer accepts this one. */
export const requireUpdate = async (): Promise<void> => {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.getRegistration();
  if (!registration) return;
  await (await caches.open(appCacheName)).put(updateRequiredKey, new Response());
  await registration.update();
};

/** Calls `onUpdated` when a newer version has been installed while this page is open. */
export const subscribeUpdates = (onUpdated: () => void): void => {
  if (!("serviceWorker" in navigator) || !navigator.serviceWorker.controller) return;
  navigator.serviceWorker.addEventListener("controllerchange", onUpdated, { once: true });
};

export const registerServiceWorker = (): void => {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  const whenIdle = async () => {
    await waitForTakeover();
    if ("requestIdleCallback" in window) requestIdleCallback(() => void registerWorker(), { timeout: idleTimeoutMs });
    else setTimeout(() => void registerWorker(), idleTimeoutMs);
  };
  if (document.readyState === "complete") void whenIdle();
  else addEventListener("load", () => void whenIdle(), { once: true });
};
