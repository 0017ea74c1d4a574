import { expect, test } from "@playwright/test";
import { startServer } from "../support/server";

test("the server comes back on the same address after five sudden deaths", async () => {
  const server = await startServer();
  try {
    for (let death = 1; death <= 5; death++) {
      await server.kill();
      await expect(fetch(`${server.origin}/api/health`)).rejects.toThrow();
      const before = Date.now();
      await server.restart();
      console.info(`restart ${death}: ${Date.now() - before} ms`);
      expect((await fetch(`${server.origin}/api/health`)).status).toBe(200);
    }
  } finally {
    await server.stop();
  }
});
