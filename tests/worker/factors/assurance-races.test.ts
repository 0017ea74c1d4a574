import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Ceremony, FactorChallenge, Passkey } from "#contract/auth/factors.ts";
import type { Security } from "#contract/auth/security.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { type Authenticator, makeAuthenticator } from "#tests/support/browser/authenticator.ts";
import { makeCaptchaToken, type Person, testPassword } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import {
  enrollFactor,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  makeRecoveryCodes,
  resumeClock,
  signIn,
  signInPending,
  verifyCode,
} from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { issueAuthCode } from "#worker/auth/providers/auth-codes.ts";
import { insertIdentity } from "#worker/auth/providers/identities.ts";
import { insertRecoveryToken } from "#worker/auth/recovery/mailed-tokens.ts";
import { openDb } from "#worker/db/client.ts";

// Freeze the clock: a code is valid for a minute and a half, however slow the machine is.
beforeEach(freezeClock);
afterEach(resumeClock);

/**
 * Another device removes a factor that is just being shown, or turns on the second step, immediately before the session
 * is written.
 */

const writes = {
  session: /^insert into "sessions"/i,
  proof: /^update "sessions" set "generation"/i,
  passkey: /^insert into "passkeys"/i,
  identity: /^insert into "identities"/i,
  password: /^update "users" set "password_hash"/i,
};

/** Database that runs another operation just before the result of a request is written. */
const interrupted = (write: keyof typeof writes, meanwhile: () => Promise<unknown>): D1Database => {
  let isNext = false;
  let hasHappened = false;
  return new Proxy(env.DB, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "prepare" && writes[write].test(String(args[0]))) isNext = true;
        if (name !== "batch" || !isNext || hasHappened) return Reflect.apply(value, target, args) as unknown;
        hasHappened = true;
        return meanwhile().then(() => Reflect.apply(value, target, args) as unknown);
      };
    },
  });
};

type Bearer = { token: string };
type Asking = Parameters<typeof call>;
const ask = (write: keyof typeof writes, meanwhile: () => Promise<unknown>, ...[method, path, options]: Asking) => {
  let hasHappened = false;
  const DB = interrupted(write, async () => {
    hasHappened = true;
    await meanwhile();
  });
  return callWith({ DB }, method, path, options).then((answer) => {
    expect(hasHappened, JSON.stringify(answer.body)).toBe(true);
    return answer;
  });
};

const done = (answer: { status: number; body: unknown }, status = 200) =>
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);

type Options = Parameters<Authenticator["create"]>[0];
const pose = async (path: string, by?: Bearer): Promise<{ ceremony: string; options: Options }> => {
  const { body } = await call("POST", `/api/auth/passkeys/${path}/options`, { token: by?.token });
  const { ceremony, options } = body as Ceremony;
  return { ceremony, options: options as Options };
};
const addPasskey = async (by: Bearer) => {
  const authenticator = await makeAuthenticator(site.origin);
  const { ceremony, options } = await pose("registration", by);
  const body = { ceremony, response: await authenticator.create(options) };
  const answer = await call("POST", "/api/auth/passkeys", { token: by.token, body });
  done(answer);
  return { authenticator, passkey: answer.body as Passkey };
};

const code_verifier = "a-verifier-that-only-the-client-knows-0123456789";
const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
const idOf = ({ token }: Bearer): Uuid => (JSON.parse(atob(token.split(".")[1] ?? "")) as { sid: Uuid }).sid;
const comeBack = async (subject: string, link?: Person) => ({
  code_verifier,
  auth_code: await issueAuthCode(openDb(env), {
    method: "oauth",
    user_id: link?.id ?? null,
    session_id: link ? idOf(link) : null,
    provider: "kivu",
    subject,
    code_challenge,
    expires_at: Date.now() + 60_000,
  }),
});

/** Sign-in methods, prepared up to their last request. */
const signInMethods = {
  password: ({ phone }: Person) =>
    Promise.resolve(["/api/auth/token?grant_type=password", { phone, password: testPassword }] as const),
  passkey: async (person: Person) => {
    const { authenticator } = await addPasskey(person);
    const { ceremony, options } = await pose("sign-in");
    return ["/api/auth/passkeys/sign-in", { ceremony, response: await authenticator.get(options) }] as const;
  },
  provider: async (person: Person) => {
    const subject = createUuid();
    await insertIdentity(openDb(env), person.id, { provider: "kivu", subject, email: null, name: null });
    return ["/api/auth/token?grant_type=pkce", await comeBack(subject)] as const;
  },
  mail: async (person: Person) => {
    const email = `${person.id}@races.test`;
    await env.DB.prepare("INSERT INTO account_security (user_id, email) VALUES (?, ?)").bind(person.id, email).run();
    const mailed = await insertRecoveryToken(env, openDb(env), email, null);
    return ["/api/auth/verify", { type: "recovery", token_hash: mailed?.token }] as const;
  },
  paper: async (person: Person) => {
    const [code] = await makeRecoveryCodes(person);
    const gotrue_meta_security = {
      captcha_token: await makeCaptchaToken(site, { action: "recover_by_code", subject: person.phone }),
    };
    return ["/api/auth/recover/code", { phone: person.phone, code, gotrue_meta_security }] as const;
  },
};
type Way = keyof typeof signInMethods;

const securityOf = async ({ token }: Bearer) => (await call("GET", "/api/auth/security", { token })).body as Security;

/** Changes that another signed-in device may make meanwhile. */
const turnOn = async (by: Bearer): Promise<void> => {
  const { id, totp } = await enrollFactor(by);
  done(await verifyCode(by, id, makeCode(totp.secret, -1)));
};
const changePassword = async ({ token }: Bearer) =>
  done(await call("PUT", "/api/auth/user", { token, body: { password: "Nouveau2026" } }));
const removeAll = (kind: "passkeys" | "identities", path: string, status: number) => async (by: Bearer) => {
  for (const { id } of (await securityOf(by))[kind]) done(await call("DELETE", path + id, { token: by.token }), status);
};
const removePasskey = removeAll("passkeys", "/api/auth/passkeys/", 204);
const unlink = removeAll("identities", "/api/auth/user/identities/", 200);
const removeAddress = async ({ token }: Bearer) =>
  done(await call("PUT", "/api/auth/user", { token, body: { email: "" } }));

const rowsOf = async (user: Uuid): Promise<{ id: string; awaits: number; proved_at: number }[]> =>
  (
    await env.DB.prepare("SELECT id, awaits, proved_at FROM sessions WHERE user_id = ?")
      .bind(user)
      .all<{ id: string; awaits: number; proved_at: number }>()
  ).results;

test.each<Way>(["password", "provider", "mail", "paper"])(
  "a session signed in by %s while the second factor is being enabled requires it",
  async (method) => {
    const ana = await makePerson();
    const [path, body] = await signInMethods[method](ana);
    const answer = await ask("session", () => turnOn(ana), "POST", path, { body });
    done(answer);
    expect((answer.body as Session).awaits).toContain("totp");
    const begun = (await rowsOf(ana.id)).find(({ id }) => id !== idOf(ana));
    expect(begun).toMatchObject({ awaits: 1, proved_at: 0 });
    const { access_token: token } = answer.body as Session;
    expect(await call("GET", "/api/contacts", { token })).toMatchObject({ body: { error_code: "insufficient_aal" } });
  },
);

test.each<[Way, string, (by: Bearer) => Promise<unknown>, string]>([
  ["passkey", "it is removed", removePasskey, "passkey_refused"],
  ["passkey", "the password is changed", changePassword, "passkey_refused"],
  ["provider", "the account there is unlinked", unlink, "flow_state_not_found"],
  ["provider", "the password is changed", changePassword, "flow_state_not_found"],
  ["mail", "the password is changed", changePassword, "otp_expired"],
  ["mail", "the address is removed", removeAddress, "otp_expired"],
  ["paper", "new codes are made", makeRecoveryCodes, "invalid_credentials"],
  ["paper", "the password is changed", changePassword, "invalid_credentials"],
  ["password", "it is changed", changePassword, "invalid_credentials"],
])("signing in by %s while %s fails", async (method, _, revokeFactor, error_code) => {
  const ana = await makePerson();
  const [path, body] = await signInMethods[method](ana);
  const answer = await ask("session", () => revokeFactor(ana), "POST", path, { body });
  expect(answer.body).toMatchObject({ error_code });
  expect((await rowsOf(ana.id)).map(({ id }) => id)).toEqual([idOf(ana)]);
});

/** Second-step methods, prepared up to the last request. */
const steps = {
  passkey: async (half: Bearer, { authenticator }: { authenticator: Authenticator }) => {
    const { ceremony, options } = await pose("step", half);
    return ["/api/auth/passkeys/step", { ceremony, response: await authenticator.get(options) }] as const;
  },
  totp: async (half: Bearer, { factor, secret }: { factor: Uuid; secret: string }) => {
    const { body } = await call("POST", `/api/auth/factors/${factor}/challenge`, { token: half.token });
    const { id: challenge_id } = body as FactorChallenge;
    return [`/api/auth/factors/${factor}/verify`, { challenge_id, code: makeCode(secret) }] as const;
  },
  paper: (_: Bearer, { codes: [code] }: { codes: string[] }) =>
    Promise.resolve(["/api/auth/recovery-codes/verify", { code }] as const),
};

test.each<[keyof typeof steps, (by: Bearer & { factor: Uuid }) => Promise<unknown>, string]>([
  ["passkey", removePasskey, "passkey_refused"],
  ["totp", ({ token, factor }) => call("DELETE", `/api/auth/factors/${factor}`, { token }), "mfa_verification_failed"],
  ["paper", makeRecoveryCodes, "mfa_verification_failed"],
])("a second factor by %s that is removed while being proved opens nothing", async (by, revokeFactor, error_code) => {
  const ana = await makePersonWithCodeApp();
  const means = { ...ana, ...(await addPasskey(ana)), codes: await makeRecoveryCodes(ana) };
  const half = await signInPending(ana);
  const [path, body] = await steps[by](half, means);
  const answer = await ask("session", () => revokeFactor(ana), "POST", path, { token: half.token, body });
  expect(answer.body).toMatchObject({ error_code });
  // The challenge is still there, for another attempt.
  const rows = await rowsOf(ana.id);
  expect(rows.map(({ id, awaits }) => [id, awaits]).sort()).toEqual(
    [
      [idOf(ana), 0],
      [idOf(half), 1],
    ].sort(),
  );
});

test("a password proof is invalid once another device enabled the second factor", async () => {
  const ana = await makePerson();
  const { access_token: token } = await signIn(ana);
  await env.DB.prepare("UPDATE sessions SET proved_at = 0 WHERE id = ?").bind(idOf({ token })).run();
  const body = { password: testPassword };
  const answer = await ask("proof", () => turnOn(ana), "POST", "/api/auth/proof", { token, body });
  expect(answer).toMatchObject({ status: 403, body: { error_code: "reauthentication_needed" } });
  expect((await rowsOf(ana.id)).find(({ id }) => id === idOf({ token }))).toMatchObject({ proved_at: 0 });
});

test("of two simultaneous password changes, the second fails once the first ended its session", async () => {
  const ana = await makePerson();
  const { access_token: token } = await signIn(ana);
  const body = { password: "Voleur2026" };
  const answer = await ask("password", () => changePassword(ana), "PUT", "/api/auth/user", { token, body });
  expect(answer).toMatchObject({ status: 401, body: { error_code: "session_not_found" } });
  expect((await rowsOf(ana.id)).map(({ id }) => id)).toEqual([idOf(ana)]);
  const tryWith = (password: string) =>
    call("POST", "/api/auth/token?grant_type=password", { body: { phone: ana.phone, password } });
  expect((await tryWith("Voleur2026")).status).toBe(400);
  expect((await tryWith("Nouveau2026")).status).toBe(200);
});

test.each([
  ["turns the second step on", turnOn],
  ["changes the password", changePassword],
] as const)("an enrolment begun elsewhere adds nothing when another device %s at that moment", async (_, meanwhile) => {
  for (const kind of ["passkey", "identity"] as const) {
    const ana = await makePerson();
    const { access_token: token } = await signIn(ana);
    const thief = { ...ana, token };
    const subject = createUuid();
    const { ceremony, options } = await pose("registration", thief);
    const [path, body] =
      kind === "passkey"
        ? ["/api/auth/passkeys", { ceremony, response: await (await makeAuthenticator(site.origin)).create(options) }]
        : ["/api/auth/token?grant_type=pkce", await comeBack(subject, thief)];
    const answer = await ask(kind, () => meanwhile(ana), "POST", path as string, { token, body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await securityOf(ana)).toMatchObject({ passkeys: [], identities: [] });
  }
});
