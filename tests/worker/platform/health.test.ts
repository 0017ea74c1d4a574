import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";

test("the Worker answers that it is well", async () => {
  const response = await exports.default.fetch("https://lisolo.test/api/health");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});
