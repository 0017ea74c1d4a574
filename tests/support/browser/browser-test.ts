import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";
import { test as base } from "./closing-test.ts";

/** Playwright's `test` with the built product behind `baseURL`. Every Playwright worker has its own server. */
export const test = base.extend<object, { server: Server }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      const server = await startServer({ vars: cheapWork });
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ server }, use) => use(server.origin),
});

export { expect } from "./closing-test.ts";
