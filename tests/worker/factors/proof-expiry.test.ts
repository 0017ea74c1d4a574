import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Ceremony } from "#contract/auth/factors.ts";
import { createUuid } from "#contract/ids.ts";
import { type Authenticator, makeAuthenticator } from "#tests/support/browser/authenticator.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { call, drainBucket, makePerson, site, toLimitKey } from "#tests/worker/support/site.ts";
import {
  advanceFrozenClock,
  enrollFactor,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  makeWrongCode,
  resumeClock,
  signIn,
  signInPending,
  verifyCode,
} from "#tests/worker/support/with-second-factor.ts";
import { issueAuthCode } from "#worker/auth/providers/auth-codes.ts";
import { insertOauthFlow } from "#worker/auth/providers/oauth-flows.ts";
import { createFlowSecrets } from "#worker/auth/providers/provider-client.ts";
import { openDb } from "#worker/db/client.ts";

/** Operations started with a proof expire with it, and other people's wrong codes do not lock out the owner. */

beforeEach(freezeClock);
afterEach(resumeClock);

const proofNeeded = { status: 403, body: { error_code: "reauthentication_needed" } };
const tables = ["ceremonies", "oauth_flows", "auth_codes", "factors"] as const;

const prove = async (token: string): Promise<string> => {
  const { body } = await call("POST", "/api/auth/proof", { token, body: { password: testPassword } });
  return (body as Session).access_token;
};

test("the first code of a new code app needs a fresh proof; codes of a confirmed one need none", async () => {
  const ana = await makePerson();
  const { id, totp } = await enrollFactor(ana);
  advanceFrozenClock(301);
  expect(await verifyCode(ana, id, makeCode(totp.secret, -1))).toMatchObject(proofNeeded);
  expect((await signIn(ana)).awaits).toBeUndefined();
  const shown = await verifyCode({ token: await prove(ana.token) }, id, makeCode(totp.secret, -1));
  expect(shown.status).toBe(200);
  advanceFrozenClock(301);
  const { access_token: token } = shown.body as Session;
  expect((await verifyCode({ token }, id, makeCode(totp.secret))).status).toBe(200);
});

/** All operations that a session can start, started in this one, except enrolling a code app. */
const beginAll = async (user: string, token: string) => {
  const { sid } = JSON.parse(atob(token.split(".")[1] ?? "")) as { sid: string };
  const { body } = await call("POST", "/api/auth/passkeys/registration/options", { token });
  const { ceremony, options } = body as Ceremony;
  const authenticator = await makeAuthenticator(site.origin);
  const response = await authenticator.create(options as Parameters<Authenticator["create"]>[0]);
  const link = { user_id: user, session_id: sid, provider: "kivu", code_challenge: "a".repeat(43) };
  await insertOauthFlow(openDb(env), createFlowSecrets(), { ...link, redirect_to: "https://lisolo.test/login" });
  const expires_at = Date.now() + 60_000;
  await issueAuthCode(openDb(env), { ...link, method: "oauth", subject: createUuid(), expires_at });
  return () => call("POST", "/api/auth/passkeys", { token, body: { ceremony, response } });
};
const countOf = async (user: string) => {
  const counted = tables.map((name) =>
    env.DB.prepare(
      `SELECT count(*) AS n FROM ${name} WHERE user_id = ? ${name === "factors" ? "AND is_verified = 0" : ""}`,
    ).bind(user),
  );
  return (await env.DB.batch<{ n: number }>(counted)).map(({ results }) => results[0]?.n);
};

test("once a code app is confirmed, enrolments begun in other sessions are invalid, and the own ones remain", async () => {
  const ana = await makePerson();
  const thief = await signIn(ana);
  const answerThief = await beginAll(ana.id, thief.access_token);
  const answerOwn = await beginAll(ana.id, ana.token);
  const { id, totp } = await enrollFactor(ana);
  expect(await countOf(ana.id)).toEqual([2, 2, 2, 1]);
  const shown = await verifyCode(ana, id, makeCode(totp.secret));
  expect(shown.status).toBe(200);
  expect(await countOf(ana.id)).toEqual([1, 1, 1, 0]);
  expect(await answerThief()).toMatchObject({ status: 400, body: { error_code: "passkey_refused" } });
  expect((await answerOwn()).status).toBe(200);
});

test("a new password cancels what other sessions began, and every unconfirmed code app", async () => {
  const ana = await makePerson();
  const thief = await signIn(ana);
  await beginAll(ana.id, thief.access_token);
  await enrollFactor({ token: thief.access_token });
  expect(await countOf(ana.id)).toEqual([1, 1, 1, 1]);
  const body = { password: "Nouveau2026" };
  expect((await call("PUT", "/api/auth/user", { token: ana.token, body })).status).toBe(200);
  expect(await countOf(ana.id)).toEqual([0, 0, 0, 0]);
});

test("wrong codes of a person with the password do not block a signed-in owner's step-up", async () => {
  const ana = await makePersonWithCodeApp();
  const half = await signInPending(ana);
  for (let n = 0; n < 5; n++) await verifyCode(half, ana.factor, makeWrongCode(ana.secret));
  await drainBucket("totp_failure_by_user", ana.id);
  expect((await verifyCode(half, ana.factor, makeCode(ana.secret))).status).toBe(429);
  expect((await verifyCode(ana, ana.factor, makeCode(ana.secret))).status).toBe(200);
});

test("wrong codes from one address close code apps there and not elsewhere", async () => {
  const ana = await makePersonWithCodeApp();
  await drainBucket("totp_failure_by_user_and_address", `${ana.id} ${toLimitKey("192.0.2.1")}`);
  const half = await signInPending(ana);
  expect((await verifyCode(half, ana.factor, makeCode(ana.secret))).status).toBe(200);
});

test("a signed-in session has twenty wrong codes a day", async () => {
  const ana = await makePersonWithCodeApp();
  for (let n = 0; n < 20; n++) {
    expect((await verifyCode(ana, ana.factor, makeWrongCode(ana.secret))).status).toBe(422);
    advanceFrozenClock(6);
  }
  expect((await verifyCode(ana, ana.factor, makeCode(ana.secret))).status).toBe(429);
});
