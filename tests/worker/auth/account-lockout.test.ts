import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Ceremony, RecoveryCodes } from "#contract/auth/factors.ts";
import { createUuid } from "#contract/ids.ts";
import { type Authenticator, makeAuthenticator } from "#tests/support/browser/authenticator.ts";
import { makeCaptchaToken, testPassword } from "#tests/support/people/people.ts";
import {
  call,
  cookieSite,
  drainBucket,
  makePerson,
  site,
  toCookieHeader,
  toLimitKey,
} from "#tests/worker/support/site.ts";
import {
  advanceFrozenClock,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  resumeClock,
  signInPending,
  verifyCode,
} from "#tests/worker/support/with-second-factor.ts";
import { issueAuthCode } from "#worker/auth/providers/auth-codes.ts";
import { insertIdentity } from "#worker/auth/providers/identities.ts";
import { openDb } from "#worker/db/client.ts";

// Freeze the clock: a code is valid for a minute and a half, however slow the machine is.
beforeEach(freezeClock);
afterEach(resumeClock);

/** A stranger who guesses passwords from everywhere slows down password sign-in, but does not lock out the owner. */

type Options = Parameters<Authenticator["create"]>[0];
const pose = async (path: string, token?: string) => {
  const { status, body } = await call("POST", `/api/auth/passkeys/${path}/options`, { token });
  expect(status).toBe(200);
  const { ceremony, options } = body as Ceremony;
  return { ceremony, options: options as Options };
};

test("while password attempts are blocked, the owner can use a passkey, a recovery code, existing sessions and their renewal", async () => {
  const person = await makePerson();
  await env.DB.prepare("UPDATE sessions SET proved_at = ? WHERE user_id = ?").bind(Date.now(), person.id).run();
  const authenticator = await makeAuthenticator(site.origin);
  const added = await pose("registration", person.token);
  const body = { ceremony: added.ceremony, response: await authenticator.create(added.options) };
  expect((await call("POST", "/api/auth/passkeys", { token: person.token, body })).status).toBe(200);
  const made = await call("POST", "/api/auth/recovery-codes", { token: person.token });
  const [code = ""] = (made.body as RecoveryCodes).codes;

  // Fifty wrong passwords from ten addresses, five of them from the owner's address.
  await drainBucket("sign_in_by_account", toLimitKey(person.phone));
  await drainBucket("sign_in_by_account_and_address", `${toLimitKey(person.phone)} ${toLimitKey("local")}`);
  const paused = await call("POST", "/api/auth/token?grant_type=password", {
    body: { phone: person.phone, password: testPassword },
  });
  expect(paused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(paused.headers.get("retry-after"))).toBeGreaterThan(0);

  const asked = await pose("sign-in");
  const byPasskey = await call("POST", "/api/auth/passkeys/sign-in", {
    body: { ceremony: asked.ceremony, response: await authenticator.get(asked.options) },
  });
  expect(byPasskey).toMatchObject({ status: 200, body: { user: { id: person.id } } });

  const byCode = await call("POST", "/api/auth/recover/code", {
    body: {
      phone: person.phone,
      code,
      gotrue_meta_security: {
        captcha_token: await makeCaptchaToken(site, { action: "recover_by_code", subject: person.phone }),
      },
    },
  });
  expect(byCode).toMatchObject({ status: 200, body: { user: { id: person.id } } });

  expect((await call("GET", "/api/auth/user", { token: person.token })).status).toBe(200);
  const renewed = await call("POST", "/api/auth/token?grant_type=refresh_token", {
    body: { refresh_token: person.refreshToken },
  });
  expect(renewed.status).toBe(200);
  // The owner may also change the attacked password: the passkey was the proof.
  const change = await call("PUT", "/api/auth/user", {
    token: (byPasskey.body as Session).access_token,
    body: { password: "Nouveau2026" },
  });
  expect(change.status).toBe(200);
});

test.each(["global", "others", "local"])(
  "an attacker who has only the password can sign out (%s) only their own session",
  async (scope) => {
    const person = await makePersonWithCodeApp();
    const half = await signInPending(person);
    const isIn = async (token: string) => (await call("GET", "/api/auth/user", { token })).status === 200;
    expect((await call("POST", `/api/auth/logout?scope=${scope}`, { token: half.token })).status).toBe(204);
    expect([await isIn(person.token), await isIn(half.token)]).toEqual([true, false]);

    const browser = await call("POST", "/api/auth/token?grant_type=password", {
      headers: cookieSite,
      body: { phone: person.phone, password: testPassword },
    });
    const away = toCookieHeader(browser)
      .split("; ")
      .filter((one) => one.startsWith("__Host-lisolo-rt="))
      .join();
    const out = await call("POST", `/api/auth/logout?scope=${scope}`, { headers: { ...cookieSite, cookie: away } });
    expect(out.status).toBe(204);
    expect(await isIn(person.token)).toBe(true);
  },
);

test("failed codes for a number do not lock out its owner, even if codes are the only method left", async () => {
  const person = await makePerson();
  await env.DB.prepare("UPDATE sessions SET proved_at = ? WHERE user_id = ?").bind(Date.now(), person.id).run();
  const made = await call("POST", "/api/auth/recovery-codes", { token: person.token });
  const [code = ""] = (made.body as RecoveryCodes).codes;
  await drainBucket("sign_in_by_account", toLimitKey(person.phone));
  const show = async (typed: string, address: string) =>
    call("POST", "/api/auth/recover/code", {
      headers: { "cf-connecting-ip": address },
      body: {
        phone: person.phone,
        code: typed,
        gotrue_meta_security: {
          captcha_token: await makeCaptchaToken(site, { action: "recover_by_code", subject: person.phone }),
        },
      },
    });
  const tries = [];
  for (let n = 0; n < 11; n++) tries.push((await show("0000-0000-0000", "203.0.113.91")).status);
  expect(tries).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
  expect(await show(code, "203.0.113.92")).toMatchObject({ status: 200, body: { user: { id: person.id } } });
});

test("thirty unfinished sign-ins from one address do not affect the owner's sign-in elsewhere", async () => {
  const person = await makePersonWithCodeApp();
  const subject = createUuid();
  await insertIdentity(openDb(env), person.id, { provider: "kivu", subject, email: null, name: null });
  const code_verifier = "a-verifier-that-only-the-client-knows-0123456789";
  const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
  const beginAt = async (address: string): Promise<Session> => {
    const expires_at = Date.now() + 60_000;
    const code = { method: "oauth", provider: "kivu", subject, code_challenge, expires_at } as const;
    const body = { code_verifier, auth_code: await issueAuthCode(openDb(env), code) };
    const headers = { "cf-connecting-ip": address };
    advanceFrozenClock(0.001); // each starts after the one before
    const answer = await call("POST", "/api/auth/token?grant_type=pkce", { body, headers });
    expect(answer.body).toMatchObject({ awaits: ["totp"] });
    return answer.body as Session;
  };
  const owner = await beginAt("192.0.2.7");
  const first = await beginAt("2001:db8:0:1::1");
  for (let n = 2; n <= 30; n++) await beginAt(`2001:db8:0:1::${n}`);
  const statusOf = async ({ access_token: token }: Session) => (await call("GET", "/api/auth/user", { token })).status;
  expect([await statusOf(owner), await statusOf(first)]).toEqual([200, 401]);
  const rows = env.DB.prepare("SELECT network FROM sessions WHERE user_id = ?").bind(person.id);
  const { results } = await rows.all<{ network: string }>();
  expect(results).toHaveLength(12);
  expect(JSON.stringify(results)).not.toMatch(/192\.0|2001/);
  const shown = await verifyCode({ token: owner.access_token }, person.factor, makeCode(person.secret));
  expect(shown.status).toBe(200);
  const left = (await rows.all<{ network: string }>()).results;
  expect(left.filter(({ network }) => network === "")).toHaveLength(2);
});

test("a stolen session cannot use up an attempt that its owner needs to end it", async () => {
  const owner = await makePerson();
  const { body } = await call("POST", "/api/auth/token?grant_type=password", {
    body: { phone: owner.phone, password: testPassword },
  });
  const stolen = (body as Session).access_token;
  const idOf = (token: string) => (JSON.parse(atob(token.split(".")[1] ?? "")) as { sid: string }).sid;
  await drainBucket("security_by_session", idOf(stolen));
  expect((await call("DELETE", "/api/auth/sessions", { token: stolen })).status).toBe(429);
  expect((await call("DELETE", `/api/auth/sessions/${idOf(stolen)}`, { token: owner.token })).status).toBe(204);
  expect((await call("GET", "/api/auth/user", { token: stolen })).status).toBe(401);
});
