import { toTrustedUrl } from "./trusted-url.ts";

/**
 * Registers the service worker when the browser is idle, and sends it the URLs of the assets this page has loaded, its
 * language included, so that it caches them without another download.
 */
const workerUrl = "/sw.js";
const idleTimeoutMs = 5_000;

const registerWorker = async () => {
  try {
    const registration = await navigator.serviceWorker.register(toTrustedUrl(workerUrl));
    const loaded = performance
      .getEntriesByType("resource")
      .map(({ name }) => new URL(name))
      .filter(({ origin, pathname }) => origin === location.origin && pathname.startsWith("/assets/"))
      .map(({ pathname }) => pathname);
    await navigator.serviceWorker.ready;
    registration.active?.postMessage({ type: "keep", paths: loaded });
  } catch (error) {
    // Everything except opening offline works without it.
    console.warn("service worker", error);
  }
};

export const registerServiceWorker = (): void => {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  const whenIdle = () =>
    "requestIdleCallback" in window
      ? requestIdleCallback(() => void registerWorker(), { timeout: idleTimeoutMs })
      : setTimeout(() => void registerWorker(), idleTimeoutMs);
  if (document.readyState === "complete") whenIdle();
  else addEventListener("load", whenIdle, { once: true });
};
