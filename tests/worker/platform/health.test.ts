import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";

test("the health check answers", async () => {
  const response = await exports.default.fetch("https://lisolo.test/api/health");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});
