import { env } from "cloudflare:workers";
import { inspect } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import {
  type Answer,
  type Call,
  makeCaptchaToken,
  type Person,
  phoneOf,
  testPassword,
} from "#tests/support/people/people.ts";
import { parseMail, readMails } from "#tests/worker/support/mailbox.ts";
import { call, cookieSite, makePerson, site, toCookieHeader } from "#tests/worker/support/site.ts";
import {
  challengeFactor,
  enrollFactor,
  makeCode,
  makeRecoveryCodes,
  makeWrongCode,
} from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { requiredSecrets } from "#worker/lib/required-secrets.ts";

/** Secrets that must not appear in a log, an address or a refusal: personal data and credentials. */

const levels = ["debug", "log", "info", "warn", "error", "trace"] as const;
let written: string[];
let refusals: string[];
let addresses: string[];
const hidden = new Map<string, string>();
const hide = (what: string, value: string | undefined) => {
  if (value !== undefined && value.length >= 4) hidden.set(value, what);
};
const hidePhone = (phone: string) => hide("a number", phone.slice(1));

beforeEach(() => {
  [written, refusals, addresses] = [[], [], []];
  hidden.clear();
  for (const level of levels) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => {
      written.push(parts.map((one) => (typeof one === "string" ? one : inspect(one, { depth: 10 }))).join(" "));
    });
  }
  for (const name of [...requiredSecrets, "VAPID_PRIVATE_JWK"] as const) hide(name, env[name]);
  hide("the signing key", (JSON.parse(env.JWT_PRIVATE_JWK) as { d: string }).d);
  hide("the push key", (JSON.parse(env.VAPID_PRIVATE_JWK) as { d: string }).d);
});
afterEach(() => vi.restoreAllMocks());

type Bindings = Parameters<typeof callWith>[0];

/** Sends one request and keeps its answer for the final check. */
const ask = async (method: string, path: string, options: Call = {}, changed: Bindings = {}): Promise<Answer> => {
  const answer = await callWith(changed, method, path, options);
  if (answer.status >= 400) refusals.push(JSON.stringify([answer.body, ...answer.headers]));
  addresses.push(path, answer.headers.get("location") ?? "");
  for (const cookie of answer.headers.getSetCookie()) hide("a cookie", /=([^;]+)/.exec(cookie)?.[1]);
  const session = answer.body as Partial<Session> | undefined;
  hide("an access token", session?.access_token);
  hide("a refresh token", session?.refresh_token);
  return answer;
};

const expectNothingHiddenIn = (texts: readonly string[]) => {
  const all = texts.join("\n");
  const found = [...hidden].filter(([value]) => all.includes(value)).map(([, what]) => what);
  expect({ found, all: found.length > 0 ? all : "" }).toEqual({ found: [], all: "" });
};
const look = () => {
  expectNothingHiddenIn(written);
  expect(written.join()).not.toContain("$scrypt$");
  expectNothingHiddenIn(refusals);
  expectNothingHiddenIn(addresses);
  for (const refusal of refusals) {
    expect(refusal).not.toMatch(
      /\bat \S+ \(|\.ts\b|\/worker\/|SELECT|INSERT|UPDATE|SQLITE|D1_ERROR|params|scrypt|stack/,
    );
  }
};

/**
 * Database whose query number `n` of a request fails as D1's do. The error that drizzle makes contains the bound
 * values.
 */
const failingAt = (n: number) => {
  let left = n;
  const run = <T>(query: () => Promise<T>): Promise<T> =>
    left-- === 0 ? Promise.reject(new Error("D1_ERROR: database is locked: SQLITE_BUSY")) : query();
  const bare = new WeakMap<object, D1PreparedStatement>();
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          const go = () => Reflect.apply(value, target, given);
          return key === "bind" ? wrap(go()) : run(go);
        };
      },
    });
    bare.set(wrapped, statement);
    return wrapped;
  };
  const DB = {
    prepare: (query: string) => wrap(env.DB.prepare(query)),
    batch: (list: D1PreparedStatement[]) => run(() => env.DB.batch(list.map((one) => bare.get(one) ?? one))),
  };
  return { DB, wasReached: () => left < 0 };
};

const password = "Motdepasse9Secret";

test("signing up, in and out, successfully or not, logs no personal data", async () => {
  hide("a password", password);
  hide("a wrong password", "Faux9MotDePasse");
  const phone = phoneOf(2600);
  hidePhone(phone);
  const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
  hide("a proof", captcha_token);
  const meta = { gotrue_meta_security: { captcha_token } };
  const signUp = await ask("POST", "/api/auth/signup", {
    body: { phone, password, data: { username: "Ana Mbo" }, ...meta },
  });
  expect(signUp.status).toBe(200);
  const session = signUp.body as Session;
  await ask("POST", "/api/auth/signup", { body: { phone, password, ...meta } });
  await ask("POST", "/api/auth/signup", { body: { phone, password: "faible9secret", ...meta } });
  await ask("POST", "/api/auth/signup", { body: { phone: `${phone}99999999`, password, ...meta } });

  const signIn = (body: object, headers = {}) => ask("POST", "/api/auth/token?grant_type=password", { body, headers });
  for (let n = 0; n < 7; n++) {
    const proof = await makeCaptchaToken(site, { action: "sign_in", subject: phone });
    hide("a proof", proof);
    const gotrue_meta_security = { captcha_token: proof };
    await signIn({ phone, password: "Faux9MotDePasse", gotrue_meta_security });
  }
  await signIn({ phone, password }, { "cf-connecting-ip": "203.0.113.26" });
  await signIn({ phone, password: [password] });
  const browser = await signIn({ phone, password }, { ...cookieSite, "cf-connecting-ip": "203.0.113.26" });
  expect(browser.status).toBe(200);

  const refresh = (refresh_token: string) =>
    ask("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });
  const child = (await refresh(session.refresh_token)).body as Session;
  await refresh(child.refresh_token);
  expect((await refresh(session.refresh_token)).status).toBe(400); // used twice: logged
  await refresh(`${child.refresh_token}x`);
  await ask("GET", "/api/auth/user", { token: child.access_token });
  await ask("GET", "/api/auth/user", { token: `${child.access_token}x` });
  await ask("POST", "/api/auth/logout", { headers: { ...cookieSite, cookie: toCookieHeader(browser) } });
  expect(written.join()).toContain("a refresh token was reused");
  look();
});

test.each([
  ["signing up", "POST", "/api/auth/signup"],
  ["signing in", "POST", "/api/auth/token?grant_type=password"],
  ["refreshing", "POST", "/api/auth/token?grant_type=refresh_token"],
  ["asking who one is", "GET", "/api/auth/user"],
  ["signing out", "POST", "/api/auth/logout"],
  ["changing the name", "PATCH", "/api/profile"],
  ["looking for somebody", "POST", "/api/people/search"],
] as const)("%s logs and answers no personal data, whichever query fails", async (what, method, path) => {
  hide("a password", testPassword);
  hide("a name", "Ana Nomsecret");
  let failures = 0;
  for (let n = 0; n < 40; n++) {
    const person = await makePerson();
    hidePhone(person.phone);
    hide("an access token", person.token);
    hide("a refresh token", person.refreshToken);
    const { DB, wasReached } = failingAt(n);
    const phone = what === "signing up" ? phoneOf(2610 + n) : person.phone;
    const purpose = { action: "sign_up", subject: phone } as const;
    const captcha_token = what === "signing up" ? await makeCaptchaToken(site, purpose) : undefined;
    hidePhone(phone);
    const username = "Ana Nomsecret";
    const isGet = method === "GET";
    const body = { phone, password: testPassword, data: { username }, gotrue_meta_security: { captcha_token } };
    const bodies: Record<string, object> = {
      "/api/profile": { username },
      "/api/auth/token?grant_type=refresh_token": { refresh_token: person.refreshToken },
    };
    const answer = await ask(
      method,
      path,
      {
        ...(what === "signing up" || path.includes("token?") ? {} : { token: person.token }),
        ...(isGet ? {} : { body: bodies[path] ?? body }),
        // An own address for each: attempts whose query failed count as failures of their address.
        headers: { "cf-connecting-ip": `203.0.114.${n}` },
      },
      { DB },
    );
    if (!wasReached()) break;
    failures++;
    if (answer.status !== 200 && answer.status !== 204) expect(answer.status).toBeGreaterThanOrEqual(500);
  }
  expect(failures).toBeGreaterThan(0);
  expect(written.length).toBeGreaterThan(0);
  expect(written.join()).toContain("SQLITE_BUSY");
  look();
});

type LoggedRequest = { method: string; path: string; body?: object; token?: string };

/** Person with a confirmed recovery address, and a mail sent to it. */
const withMail = async (person: Person, n: number): Promise<{ email: string; token: string; code: string }> => {
  const email = `secret-${n}-${person.phone.slice(-4)}@logs.example`;
  hide("an address", email);
  await env.DB.prepare("INSERT INTO account_security (user_id, email) VALUES (?, ?)").bind(person.id, email).run();
  const body = {
    email,
    gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, { action: "recover", subject: email }) },
  };
  expect((await call("POST", "/api/auth/recover", { body })).status).toBe(200);
  await expect.poll(async () => (await readMails(email)).length).toBe(1);
  const [mail] = await readMails(email);
  if (!mail) throw new Error("no mail");
  const { token, code } = parseMail(mail);
  hide("a mailed token", token);
  hide("a mailed code", code);
  return { email, token, code };
};

const withApp = async (person: Person) => {
  const { id, totp } = await enrollFactor(person);
  hide("a secret", totp.secret);
  hide("a code", makeCode(totp.secret));
  return { id, secret: totp.secret, challenge_id: await challengeFactor(person, id) };
};

test.each<[string, (person: Person, n: number) => Promise<LoggedRequest>]>([
  [
    "adding a code app",
    async ({ token }) => ({ method: "POST", path: "/api/auth/factors", body: { factor_type: "totp" }, token }),
  ],
  [
    "showing a right code",
    async (person) => {
      const { id, secret, challenge_id } = await withApp(person);
      const body = { challenge_id, code: makeCode(secret) };
      return { method: "POST", path: `/api/auth/factors/${id}/verify`, body, token: person.token };
    },
  ],
  [
    "showing a wrong code",
    async (person) => {
      const { id, secret, challenge_id } = await withApp(person);
      const body = { challenge_id, code: makeWrongCode(secret) };
      return { method: "POST", path: `/api/auth/factors/${id}/verify`, body, token: person.token };
    },
  ],
  [
    "showing a recovery code",
    async (person) => {
      const [code = ""] = await makeRecoveryCodes(person);
      hide("a recovery code", code);
      return { method: "POST", path: "/api/auth/recovery-codes/verify", body: { code }, token: person.token };
    },
  ],
  [
    "asking for a recovery mail",
    async (person, n) => {
      const { email } = await withMail(person, n);
      const body = {
        email,
        gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, { action: "recover", subject: email }) },
      };
      return { method: "POST", path: "/api/auth/recover", body };
    },
  ],
  [
    "showing what a mail brought",
    async (person, n) => {
      const { token: token_hash } = await withMail(person, n);
      return { method: "POST", path: "/api/auth/verify", body: { type: "recovery", token_hash } };
    },
  ],
  [
    "typing the code a mail brought",
    async (person, n) => {
      const { email, code: token } = await withMail(person, n);
      return { method: "POST", path: "/api/auth/verify", body: { type: "recovery", email, token } };
    },
  ],
  [
    "naming a recovery address",
    async ({ token }, n) => {
      const email = `nouvelle-${n}@logs.example`;
      hide("an address", email);
      return { method: "PUT", path: "/api/auth/user", body: { email }, token };
    },
  ],
])("%s logs no secret, code or address, whichever query fails", async (_, prepare) => {
  let failures = 0;
  for (let n = 0; n < 40; n++) {
    const person = await makePerson();
    await env.DB.prepare("UPDATE sessions SET proved_at = ? WHERE user_id = ?").bind(Date.now(), person.id).run();
    await env.DB.prepare("DELETE FROM rate_limits").run(); // all requests come from one address
    hidePhone(person.phone);
    hide("an access token", person.token);
    const { method, path, body, token } = await prepare(person, n);
    const { DB, wasReached } = failingAt(n);
    await ask(method, path, { token, ...(body ? { body } : {}) }, { DB });
    if (!wasReached()) break;
    failures++;
  }
  expect(failures).toBeGreaterThan(0);
  expect(written.join()).toContain("SQLITE_BUSY");
  look();
});
