const idleTimeoutMs = 10_000;

/** Resolves when the browser is idle, or after `idleTimeoutMs`. */
export const waitForIdle = (): Promise<unknown> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(resolve, { timeout: idleTimeoutMs });
    else setTimeout(resolve, idleTimeoutMs / 4);
  });
