import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { makeCaptchaToken } from "#tests/support/people/people.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import worker from "#worker/index.ts";

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

test("with a configured address the product answers on no other, so that mails link only there", async () => {
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
  expect(await ask("https://elsewhere.test/dev/mail", "")).toBe(404);
  expect(await ask("http://localhost/dev/mail", "")).toBe(200);
  expect(await ask("http://127.0.0.1:8787/dev/mail", "")).toBe(200);
});

test("a deployment without a configured address mails no link, uses no passkeys and redirects to no provider", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const person = await makePerson();
  const email = "ana@nowhere.example";
  const gotrue_meta_security = { captcha_token: await makeCaptchaToken(site, { action: "recover", subject: email }) };
  const empty = (method: string, path: string, body?: object, token?: string) =>
    callWith({ PUBLIC_URL: "" }, method, path, { token, body });
  const missing = { status: 503, body: { error_code: "public_url_missing" } };
  const proof = { ceremony: createUuid(), response: {} };
  expect(await empty("POST", "/api/auth/recover", { email, gotrue_meta_security })).toMatchObject(missing);
  expect(await empty("PUT", "/api/auth/user", { email }, person.token)).toMatchObject(missing);
  expect(await empty("POST", "/api/auth/passkeys/sign-in/options", {})).toMatchObject(missing);
  expect(await empty("POST", "/api/auth/passkeys/sign-in", proof)).toMatchObject(missing);
  expect(await empty("POST", "/api/auth/passkeys/registration/options", {}, person.token)).toMatchObject(missing);
  expect(await empty("POST", "/api/auth/passkeys/step/options", {}, person.token)).toMatchObject(missing);
  const query = `provider=kivu&code_challenge=${"a".repeat(43)}&code_challenge_method=s256`;
  const link = await empty("GET", `/api/auth/user/identities/authorize?${query}`, undefined, person.token);
  expect(link).toMatchObject(missing);
  for (const path of [`/api/auth/authorize?${query}`, "/api/auth/callback?state=x&code=y"]) {
    const led = await empty("GET", path);
    expect(led.status).toBe(302);
    expect(led.headers.get("location")).toMatch(/^\/login\?.*error_code=public_url_missing$/);
  }
  expect(log.mock.calls.join()).toContain("PUBLIC_URL is empty");
  // Everything else works, and a local server needs no setting.
  expect((await empty("PUT", "/api/auth/user", { password: "Nouveau2026" }, person.token)).status).toBe(200);
  expect(await ask("http://localhost/api/auth/authorize?x", "")).toBe(400);
});
