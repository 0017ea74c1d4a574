import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import worker from "../../worker/index";

const ask = async (address: string, publicUrl: string) => {
  const context = createExecutionContext();
  const own = { ...env, PUBLIC_URL: publicUrl } as unknown as Env;
  const request = new Request(address) as Parameters<typeof worker.fetch>[0];
  const { status, headers } = await worker.fetch(request, own, context);
  await waitOnExecutionContext(context);
  if (status === 421) {
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
  return status;
};

test("with an address of its own the product answers by no other, so that no mail leads elsewhere", async () => {
  for (const path of ["/api/health", "/api/openapi.json"]) {
    expect(await ask(`https://lisolo.test${path}`, "https://lisolo.test")).toBe(200);
    for (const other of [
      "https://evil.test",
      "http://lisolo.test",
      "https://lisolo.test:8443",
      "https://lisolo.test.evil.test",
    ])
      expect(await ask(other + path, "https://lisolo.test")).toBe(421);
  }
  expect(await ask("https://elsewhere.test/api/health", "")).toBe(200);
});
