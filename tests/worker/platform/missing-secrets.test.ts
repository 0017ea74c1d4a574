import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { makePerson } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import type { AppEnv } from "#worker/lib/http/app.ts";
import { requireClientAddress } from "#worker/lib/limits/client-address.ts";
import { requiredSecrets } from "#worker/lib/required-secrets.ts";

test.each(
  requiredSecrets.flatMap((name) => [
    [name, undefined],
    [name, ""],
    [name, " "],
  ]),
)("without %s (%j) the API answers no request, and the log says why", async (name, value) => {
  const person = await makePerson();
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  for (const [method, path] of [
    ["GET", "/api/health"],
    ["POST", "/api/auth/challenge"],
    ["GET", "/api/auth/user"],
    ["POST", "/api/auth/token?grant_type=password"],
    ["GET", "/api/socket"],
    ["GET", "/api/nothing"],
  ] as const) {
    const answer = await callWith({ [name]: value }, method, path, { token: person.token });
    expect({ path, status: answer.status, body: answer.body }).toEqual({
      path,
      status: 503,
      body: { code: 503, error_code: "unavailable", msg: "This deployment is not complete" },
    });
  }
  // Objects of other tests may log errors too.
  const lines = log.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith("Missing secret"));
  expect(lines).toHaveLength(6);
  for (const line of lines) expect(line).toMatch(new RegExp(`^Missing secret: ${name}\\.`));
  log.mockRestore();
});

test("with all of them it answers", async () => {
  expect((await callWith({}, "GET", "/api/health")).status).toBe(200);
});

test("a deployed Worker without the caller's address answers no request, and the log says why", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const answerOf = async (isLocal: boolean, headers: Record<string, string>) => {
    const app = new Hono<AppEnv>().use(requireClientAddress(isLocal)).get("/", (c) => c.json({ ok: true }));
    const answer = await app.request("https://lisolo.test/", { headers });
    return { status: answer.status, code: ((await answer.json()) as { error_code?: string }).error_code };
  };
  expect(await answerOf(false, { "x-forwarded-for": "203.0.113.5" })).toEqual({ status: 503, code: "unavailable" });
  expect(String(log.mock.calls[0]?.[0])).toContain("CF-Connecting-IP");
  expect((await answerOf(false, { "cf-connecting-ip": "203.0.113.5" })).status).toBe(200);
  expect((await answerOf(true, {})).status).toBe(200);
});
