import { env } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { bodyMaxBytes } from "#contract/limits/sockets.ts";
import type { Person } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { api } from "#worker/api.ts";

let person: Person;
beforeAll(async () => {
  person = await makePerson();
});

/** Sends a change that any signed-in person may make, as a raw request. */
const rename = (init: RequestInit) => site.fetch(`${site.origin}/api/profile`, { method: "PATCH", ...init });
const name = JSON.stringify({ username: "Nom volé" });
const cookie = () => ({ cookie: `__Host-lisolo-at=${person.token}` });
const currentName = async () => {
  const { body } = await call("GET", `/api/users/${person.id}`, { token: person.token });
  return (body as { username: string }).username;
};

test.each([
  "application/json",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "",
])("a page of another origin changes nothing with the person's cookie, content type %j", async (type) => {
  const before = await currentName();
  for (const origin of [
    "https://evil.test",
    "null",
    "https://lisolo.test.evil.test",
    "http://lisolo.test",
    "https://lisolo.test:444",
  ]) {
    const response = await rename({ headers: { ...cookie(), origin, "content-type": type }, body: name });
    expect({ origin, status: response.status }).toEqual({ origin, status: 403 });
    expect(await response.json()).toMatchObject({ error_code: "forbidden_origin" });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  }
  expect(await currentName()).toBe(before);
});

test("a cookie alone does not prove the origin", async () => {
  const bare = await rename({ headers: { ...cookie(), "content-type": "application/json" }, body: name });
  expect(bare.status).toBe(403);
  const sites = ["cross-site", "same-site", "none"];
  for (const fetchSite of sites) {
    const response = await rename({
      headers: { ...cookie(), "sec-fetch-site": fetchSite, "content-type": "application/json" },
      body: name,
    });
    expect({ fetchSite, status: response.status }).toEqual({ fetchSite, status: 403 });
  }
});

test("a deletion without a body must come from the same origin", async () => {
  const response = await site.fetch(`${site.origin}/api/contacts/${person.id}`, {
    method: "DELETE",
    headers: cookie(),
  });
  expect(response.status).toBe(403);
});

test("the product's own pages and non-browser clients may make changes", async () => {
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ username: "Ana" });
  expect((await rename({ headers: { ...cookie(), ...json, origin: site.origin }, body })).status).toBe(200);
  expect((await rename({ headers: { ...cookie(), ...json, "sec-fetch-site": "same-origin" }, body })).status).toBe(200);
  expect((await rename({ headers: { ...json, authorization: `Bearer ${person.token}` }, body })).status).toBe(200);
});

test("forwarded headers do not prove the origin", async () => {
  const response = await rename({
    headers: {
      ...cookie(),
      origin: "https://evil.test",
      "x-forwarded-host": "evil.test",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.test",
      "content-type": "application/json",
    },
    body: name,
  });
  expect(response.status).toBe(403);
});

test("a preflight of another origin gets no permission", async () => {
  const response = await site.fetch(`${site.origin}/api/profile`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.test", "access-control-request-method": "PATCH" },
  });
  expect([...response.headers.keys()].filter((header) => header.startsWith("access-control"))).toEqual([]);
});

test.each([
  ["GET", "/api/auth/logout", "POST"],
  ["GET", "/api/auth/signup", "POST"],
  ["GET", "/api/auth/token?grant_type=password", "POST"],
  ["DELETE", "/api/auth/user", "GET, PUT"],
  ["GET", "/api/requests/01900000-0000-7000-8000-000000000000/accept", "POST"],
  ["PUT", "/api/contacts", "GET"],
  ["POST", "/api/profile", "PATCH"],
  ["GET", "/api/profile/avatar", "PUT"],
])("%s %s is not an allowed method", async (method, path, allowed) => {
  const answer = await call(method, path, { token: person.token });
  expect(answer).toMatchObject({ status: 405, body: { error_code: "method_not_allowed" } });
  expect(answer.headers.get("allow")).toBe(allowed);
});

test.each(["/api", "/api/", "/api/nothing", "/api/auth", "/api/users/a/b/c", "/api/../api/none"])(
  "%s is a 404 in JSON",
  async (path) => {
    expect(await call("GET", path)).toMatchObject({ status: 404, body: { code: 404, error_code: "not_found" } });
  },
);

test("a body over the limit is refused, whatever its stated length", async () => {
  const large = JSON.stringify({ username: "x".repeat(bodyMaxBytes) });
  const headers = { authorization: `Bearer ${person.token}`, "content-type": "application/json" };
  expect((await rename({ headers, body: large })).status).toBe(413);
  const stream = new Response(large).body;
  const streamed = await rename({ headers, body: stream });
  expect(streamed.status).toBe(413);
  expect(await streamed.json()).toMatchObject({ error_code: "too_large" });
});

test.each([
  ["nothing", ""],
  ["half a document", '{"username":'],
  ["no JSON", "username=Ana"],
  ["ten thousand lists in each other", `${"[".repeat(10_000)}${"]".repeat(10_000)}`],
  ["ten thousand objects in each other", `${'{"username":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ["a list", "[{}]"],
  ["an empty list", "[]"],
  ["null", "null"],
  ["a number for a name", '{"username":7}'],
  ["a huge number", '{"username":1e309}'],
  ["a field of somebody else's", '{"username":"Ana","phone":"+243810000099"}'],
  ["an id", '{"id":"01900000-0000-7000-8000-000000000000"}'],
  ["a date", '{"created_at":0}'],
  ["a prototype", '{"__proto__":{"username":"x"},"constructor":{"prototype":{"isAdmin":true}}}'],
])("%s is not a valid change of a profile", async (_, body) => {
  const before = await currentName();
  const response = await rename({
    headers: { authorization: `Bearer ${person.token}`, "content-type": "application/json" },
    body,
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error_code: "invalid_input" });
  expect(await currentName()).toBe(before);
  expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
});

test("JSON under another content type is refused", async () => {
  const response = await rename({
    headers: { authorization: `Bearer ${person.token}`, "content-type": "text/plain" },
    body: name,
  });
  expect(response.status).toBe(415);
});

test("a field named __proto__ in a sign-up has no effect", async () => {
  const { status } = await call("POST", "/api/auth/signup", {
    body: JSON.parse('{"phone":"+243810000980","password":"Masolo2026","__proto__":{"isAdmin":true}}'),
  });
  expect(status).toBe(400);
  expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
});

test("a thousand query parameters are harmless", async () => {
  const many = Array.from({ length: 1_000 }, (_, n) => `a${n}=${n}`).join("&");
  expect(await call("GET", `/api/sync?${many}`, { token: person.token })).toMatchObject({ status: 400 });
});

/** Answer of an API whose directory fails at every statement. */
const askWithBroken = async (failure: Error, path = "/api/auth/user", headers: Record<string, string> = {}) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const broken = {
    ...env,
    DB: {
      prepare: () => {
        throw failure;
      },
    },
  };
  const authorization = `Bearer ${person.token}`;
  const request = new Request(site.origin + path, { headers: { authorization, ...headers } });
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
  const response = await api.fetch(request, broken as unknown as Env, context as unknown as ExecutionContext);
  expect(log).toHaveBeenCalled();
  log.mockRestore();
  return response;
};

test.each(["SELECT secret FROM users at /worker/db/client.ts", "D1_ERROR: no such column: secret: SQLITE_ERROR"])(
  "an internal error reveals nothing: %s",
  async (message) => {
    const response = await askWithBroken(new Error(message));
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ code: 500, error_code: "internal", msg: "Internal error" });
  },
);

test.each<[string, Error]>([
  ["is overloaded", new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued.")],
  ["cannot be reached", new Error("Network connection lost.")],
  ["is moved", Object.assign(new Error("The object was reset"), { retryable: true })],
  ["cannot read its disk", new Error("Failed query", { cause: new Error("D1_ERROR: disk I/O error: SQLITE_IOERR") })],
])("while the directory %s every request gets the time to retry", async (_, failure) => {
  for (const [path, headers] of [
    ["/api/auth/user", {}],
    ["/api/contacts", {}],
    ["/api/socket", { upgrade: "websocket" }],
  ] as const) {
    const response = await askWithBroken(failure, path, headers);
    expect([path, response.status]).toEqual([path, 503]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error_code: "unavailable" });
  }
});

test.each([
  ["/api/health", 200],
  ["/api/openapi.json", 200],
  ["/api/docs", 200],
  ["/api/auth/user", 401],
  ["/api/nothing", 404],
  ["/api/auth/logout", 405],
])("%s has the security headers with its %i", async (path, status) => {
  const { status: actual, headers } = await call("GET", path);
  expect(actual).toBe(status);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("strict-transport-security")).toBe("max-age=31536000; includeSubDomains");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  const allowed = ["camera", "microphone", "display-capture", "autoplay"].map((feature) => `${feature}=(self)`);
  expect(headers.get("permissions-policy")?.split(", ")).toEqual(expect.arrayContaining(allowed));
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
  const isDescription = path === "/api/openapi.json" || path === "/api/docs"; // the same for everybody
  expect(headers.get("cache-control")).toBe(isDescription ? "public, max-age=300" : "no-store");
});
