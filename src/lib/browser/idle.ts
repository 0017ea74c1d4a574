import { waitForTakeover } from "./first-view.ts";

const idleTimeoutMs = 10_000;

const waitForIdleCallback = (): Promise<unknown> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(resolve, { timeout: idleTimeoutMs });
    else setTimeout(resolve, idleTimeoutMs / 4);
  });

/** Resolves when the app has replaced the first view and the browser is idle, or `idleTimeoutMs` after the former. */
export const waitForIdle = async (): Promise<void> => {
  await waitForTakeover();
  await waitForIdleCallback();
};
