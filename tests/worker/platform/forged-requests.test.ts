import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { call, cookieSite, makePerson, site, toCookieHeader } from "#tests/worker/support/site.ts";

/**
 * Requests that a foreign page can make a browser send, against every route. The routes come from the OpenAPI document,
 * so a new route is tested too.
 */

type Documented = { paths: Record<string, Record<string, unknown>> };

const { paths } = (await call("GET", "/api/openapi.json")).body as Documented;
const routes = Object.entries(paths).map(([path, item]) => ({ path, methods: Object.keys(item) }));
const changing = routes.flatMap(({ path, methods }) =>
  methods.filter((method) => method !== "get").map((method) => `${method.toUpperCase()} ${path}`),
);

let person: Awaited<ReturnType<typeof makePerson>>;
let cookie: string;
beforeAll(async () => {
  person = await makePerson();
  const signIn = await call("POST", "/api/auth/token?grant_type=password", {
    headers: cookieSite,
    body: { phone: person.phone, password: testPassword },
  });
  cookie = toCookieHeader(signIn);
});

/** Path with the person's own ids in its parameters, and the required query. */
const toPath = (path: string): string => {
  const filled = path.replace(/\{\w+\}/g, () => person.id);
  return path === "/api/auth/token" ? `${filled}?grant_type=refresh_token` : filled;
};

/** Bodies with as many fields as routes accept, in every encoding a browser can send. */
const makeForgedBody = () => ({
  phone: person.phone,
  password: "Change2026",
  email: "voleur@evil.test",
  username: "Volé",
  user_id: person.id,
  second_step: false,
  scope: "global",
});
const contents: [string, () => BodyInit | undefined, string | undefined][] = [
  ["text", () => JSON.stringify(makeForgedBody()), "text/plain"],
  ["a form", () => new URLSearchParams(makeForgedBody() as never).toString(), "application/x-www-form-urlencoded"],
  [
    "a form with files",
    () => `--x\r\n\r\n${JSON.stringify(makeForgedBody())}\r\n--x--`,
    "multipart/form-data; boundary=x",
  ],
  ["no content type", () => new Blob([JSON.stringify(makeForgedBody())]), undefined],
  ["JSON", () => JSON.stringify(makeForgedBody()), "application/json"],
  ["no body", () => undefined, undefined],
];

const foreignOrigins: Record<string, string>[] = [
  { origin: "https://evil.test" },
  { origin: "null" },
  { origin: `${site.origin}.evil.test` },
  { origin: site.origin.replace("//", "//evil.") },
  { origin: site.origin.replace("https:", "http:") },
  { origin: `${site.origin}:444` },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { origin: "https://evil.test", "sec-fetch-site": "same-origin" },
  { origin: "https://evil.test", "x-forwarded-host": "evil.test", "x-forwarded-proto": "https", host: "evil.test" },
  {},
];

/** All stored data of accounts and their sign-in methods. */
const readAccounts = async () => {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%`user_id`%'",
  ).all<{ name: string }>();
  const tables = results.map(({ name }) => name);
  expect(tables).toEqual(expect.arrayContaining(["sessions", "factors", "passkeys", "identities", "account_security"]));
  const ofPerson = tables.map((name) => env.DB.prepare(`SELECT * FROM ${name} WHERE user_id = ?`).bind(person.id));
  const account = ["users", "profiles"].map((name) =>
    env.DB.prepare(`SELECT * FROM ${name} WHERE id = ?`).bind(person.id),
  );
  const everybody = env.DB.prepare("SELECT count(*) FROM users");
  return (await env.DB.batch([...ofPerson, ...account, everybody])).map(({ results: rows }) => rows);
};

test.each(changing)("%s of another page, with the person's cookies, is refused and changes nothing", async (route) => {
  const [method = "", path = ""] = route.split(" ");
  const before = await readAccounts();
  for (const [what, body, type] of contents) {
    for (const from of foreignOrigins) {
      const response = await site.fetch(site.origin + toPath(path), {
        method,
        headers: { cookie, ...from, ...(type === undefined ? {} : { "content-type": type }) },
        ...(body() === undefined ? {} : { body: body() as BodyInit }),
      });
      const answer = await response.json();
      expect({ what, from, status: response.status, answer }).toMatchObject({
        status: 403,
        answer: { error_code: "forbidden_origin" },
      });
      expect(response.headers.getSetCookie()).toEqual([]);
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
  expect(await readAccounts()).toEqual(before);
});

test.each(changing.filter((route) => route.includes("/api/auth/")))(
  "%s of another page that requests cookies is refused, also without a session",
  async (route) => {
    const [method = "", path = ""] = route.split(" ");
    const response = await site.fetch(site.origin + toPath(path), {
      method,
      headers: { "x-session-transport": "cookie", origin: "https://evil.test", "content-type": "application/json" },
      body: JSON.stringify({ phone: person.phone, password: testPassword }),
    });
    expect(response.status).toBe(403);
    expect(response.headers.getSetCookie()).toEqual([]);
  },
);

test.each(routes.map(({ path }) => path))("a preflight of another origin for %s gets no permission", async (path) => {
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    const response = await site.fetch(site.origin + toPath(path), {
      method: "OPTIONS",
      headers: {
        cookie,
        origin: "https://evil.test",
        "access-control-request-method": method,
        "access-control-request-headers": "authorization, content-type, x-session-transport",
      },
    });
    await response.arrayBuffer();
    expect(response.ok).toBe(false);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

const withoutGet = routes.filter(({ methods }) => !methods.includes("get"));

test.each(withoutGet.map(({ path, methods }) => [path, methods.map((method) => method.toUpperCase()).sort()] as const))(
  "%s does nothing by GET, so that a link or a picture has no effect",
  async (path, allowed) => {
    const before = await readAccounts();
    for (const method of ["GET", "HEAD"]) {
      for (const override of [{}, { "x-http-method-override": "DELETE" }] as Record<string, string>[]) {
        const address = new URL(site.origin + toPath(path));
        address.searchParams.set("_method", "DELETE");
        const response = await site.fetch(address.href, {
          method,
          headers: { cookie, origin: site.origin, ...override },
        });
        // A missing file is only reported as missing, whatever is requested.
        const status = path.startsWith("/api/files/") ? 404 : 405;
        expect({ method, status: response.status }).toEqual({ method, status });
        if (status === 405) expect(response.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(allowed));
      }
    }
    expect(await readAccounts()).toEqual(before);
  },
);

test("the product's own page is allowed each of them", async () => {
  const refused: string[] = [];
  // Nothing exists by this id, so the request changes nothing.
  const nobody = createUuid();
  for (const route of changing.filter((one) => !/logout|account|\/sessions$|token$|factors\/reset/.test(one))) {
    const [method = "", path = ""] = route.split(" ");
    const response = await site.fetch(site.origin + path.replace(/\{\w+\}/g, nobody), {
      method,
      headers: { cookie, origin: site.origin, "content-type": "application/json" },
      body: "{}",
    });
    const { error_code } = (await response.json().catch(() => ({}))) as { error_code?: string };
    if (error_code === "forbidden_origin") refused.push(route);
  }
  expect(refused).toEqual([]);
});
