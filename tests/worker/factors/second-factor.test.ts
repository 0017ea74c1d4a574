import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuthUser, Session } from "#contract/auth/auth.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import {
  advanceFrozenClock,
  challengeFactor,
  enrollFactor,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  makeRecoveryCodes,
  mayChangeCredentials,
  resumeClock,
  signIn,
  signInPending,
  verifyCode,
  verifyFactor,
  verifyRecoveryCode,
} from "#tests/worker/support/with-second-factor.ts";
import { api } from "#worker/api.ts";
import { insertIdentity } from "#worker/auth/providers/identities.ts";
import { type AuthMethod, findMissingSteps, toAssurance } from "#worker/auth/second-factor/assurance.ts";
import { openDb } from "#worker/db/client.ts";

/** Sessions with a pending second factor, and the assurance level after it. */

beforeEach(freezeClock);
afterEach(resumeClock);

const refresh = (refresh_token: string) =>
  call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });

const [totp, all] = [
  { isRequired: true, available: ["totp"] as const },
  { isRequired: true, available: ["totp", "passkey", "recovery_code"] as const },
].map(({ isRequired, available }) => ({ isRequired, available: [...available] }));

test.each<[string, typeof all, string[] | undefined]>([
  ["password", { isRequired: false, available: ["passkey", "recovery_code"] }, undefined],
  ["password", totp, ["totp"]],
  ["password", all, ["totp", "passkey", "recovery_code"]],
  ["recovery", all, ["totp", "passkey", "recovery_code"]],
  ["oauth", all, ["totp", "passkey", "recovery_code"]],
  ["recovery_code", all, ["totp", "passkey"]],
  ["recovery_code totp", all, undefined],
  ["password recovery_code", all, undefined],
  ["passkey", all, undefined],
])("after %s, of %o, %o is still required", (methods, means, owed) => {
  expect(findMissingSteps(methods, means ?? { isRequired: false, available: [] })).toEqual(owed);
});

test.each<[string, "aal1" | "aal2", AuthMethod[]]>([
  ["password", "aal1", ["password"]],
  ["recovery", "aal1", ["recovery"]],
  ["oauth password", "aal1", ["password", "oauth"]],
  ["recovery_code", "aal1", ["recovery_code"]],
  ["recovery_code password", "aal1", ["password", "recovery_code"]],
  ["recovery_code totp", "aal2", ["totp", "recovery_code"]],
  ["password totp", "aal2", ["totp", "password"]],
  ["password recovery_code", "aal2", ["recovery_code", "password"]],
  ["passkey", "aal2", ["passkey"]],
])("a session of %s has the assurance %s", (methods, aal, amr) => {
  const said = toAssurance({ methods, proved_at: 0, created_at: 5_000 });
  expect(said).toEqual({ aal, amr: amr.map((method) => ({ method, timestamp: 5 })) });
});

test("the token states the assurance level in the claims that GoTrue clients read", async () => {
  const ana = await makePerson();
  const alone = await signIn(ana);
  expect(decodeJwt(alone.access_token)).toMatchObject({ aal: "aal1", amr: [{ method: "password" }] });
  const { id, totp: app } = await enrollFactor({ token: alone.access_token });
  const first = await verifyCode({ token: alone.access_token }, id, makeCode(app.secret, -1));
  const stepped = decodeJwt((first.body as Session).access_token);
  expect(stepped).toMatchObject({ aal: "aal2", amr: [{ method: "totp" }, { method: "password" }] });
  // It is the same session, and it keeps its level when it is renewed.
  expect(stepped["session_id"]).toBe(decodeJwt(alone.access_token)["session_id"]);
  const renewed = (await refresh((first.body as Session).refresh_token)).body as Session;
  expect(decodeJwt(renewed.access_token)).toMatchObject({
    aal: "aal2",
    amr: [{ method: "totp" }, { method: "password" }],
  });

  const half = await signInPending(ana);
  expect(decodeJwt(half.token)).toMatchObject({ aal: "aal1", amr: [{ method: "password" }] });
  const whole = (await verifyCode(half, id, makeCode(app.secret))).body as Session;
  expect(decodeJwt(whole.access_token)).toMatchObject({ aal: "aal2" });
});

test("proving the factor replaces the pending session by one with a new id", async () => {
  const ana = await makePersonWithCodeApp();
  const half = await signInPending(ana);
  const whole = (await verifyCode(half, ana.factor, makeCode(ana.secret))).body as Session;
  expect(whole.awaits).toBeUndefined();
  expect(decodeJwt(whole.access_token)["session_id"]).not.toBe(decodeJwt(half.token)["session_id"]);
  expect(await call("GET", "/api/auth/user", { token: half.token })).toMatchObject({
    status: 401,
    body: { error_code: "session_not_found" },
  });
  expect(await refresh(half.refresh_token)).toMatchObject({ body: { error_code: "refresh_token_not_found" } });
  expect((await call("GET", "/api/contacts", { token: whole.access_token })).status).toBe(200);
  expect((await refresh(whole.refresh_token)).status).toBe(200);
});

/** Requests allowed while the second factor is pending: read the own user, sign out, and show the factor in any way. */
const halfwayRoutes = [
  "GET /api/auth/user",
  "POST /api/auth/logout",
  "POST /api/auth/factors/:id/challenge",
  "POST /api/auth/factors/:id/verify",
  "POST /api/auth/factors/reset",
  "POST /api/auth/passkeys/step",
  "POST /api/auth/passkeys/step/options",
  "POST /api/auth/recovery-codes/verify",
];

test("a pending session is refused on every route except those for its second factor", async () => {
  const ana = await makePersonWithCodeApp();
  const half = await signInPending(ana);
  const asked = new Set(
    api.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`),
  );
  const open = new Set<string>();
  const refused = new Set<string>();
  for (const route of asked) {
    const [method = "", path = ""] = route.split(" ");
    if (route === "POST /api/auth/logout") continue; // would end the session
    advanceFrozenClock(1); // the routes are more requests than a session may send at once
    const url = path.replace(/:\w+/g, ana.factor);
    const bare = await call(method, url, ["GET", "DELETE"].includes(method) ? {} : { body: {} });
    const answer = await call(method, url, {
      token: half.token,
      ...(["GET", "DELETE"].includes(method) ? {} : { body: {} }),
    });
    const isRefused = (answer.body as { error_code?: string }).error_code === "insufficient_aal";
    if (isRefused) refused.add(route);
    else if (bare.status === 401) open.add(route);
  }
  expect([...open].sort()).toEqual(halfwayRoutes.filter((route) => !route.endsWith("logout")).sort());
  expect(refused.size).toBeGreaterThan(50);
  const socket = await site.fetch(`${site.origin}/api/socket`, {
    headers: { upgrade: "websocket", authorization: `Bearer ${half.token}` },
  });
  expect(socket.status).toBe(401);
  expect(await socket.json()).toMatchObject({ error_code: "insufficient_aal" });
  expect((await call("POST", "/api/auth/logout?scope=local", { token: half.token })).status).toBe(204);
  expect((await call("GET", "/api/auth/user", { token: half.token })).status).toBe(401);
  expect((await call("GET", "/api/auth/user", { token: ana.token })).status).toBe(200);
});

test("a pending session sees the factors of its account, and nothing about other recovery methods", async () => {
  const ana = await makePersonWithCodeApp();
  const secrets = { email: "ana@halfway.test", app: "Téléphone de Papa", name: "Ana Chez Kivu", provider: "kivu" };
  await env.DB.batch([
    env.DB.prepare("INSERT INTO account_security (user_id, email) VALUES (?1, ?2)").bind(ana.id, secrets.email),
    env.DB.prepare("UPDATE factors SET friendly_name = ? WHERE user_id = ?").bind(secrets.app, ana.id),
  ]);
  const known = { provider: secrets.provider, subject: ana.id, email: secrets.email, name: secrets.name };
  await insertIdentity(openDb(env), ana.id, known);
  const half = await signInPending(ana);
  const renewed = (await refresh(half.refresh_token)).body as Session;
  const asked = await call("GET", "/api/auth/user", { token: renewed.access_token });
  expect(asked.status).toBe(200);
  const user = asked.body as AuthUser;
  expect(user.factors).toMatchObject([{ id: ana.factor, factor_type: "totp", friendly_name: "TOTP 1" }]);
  expect(renewed.user).toEqual(user);
  const responseText = JSON.stringify([half, renewed, user]);
  for (const secret of [...Object.values(secrets), ana.phone, ana.username]) expect(responseText).not.toContain(secret);
  // After the second factor all data is available again.
  const whole = (await verifyCode({ token: renewed.access_token }, ana.factor, makeCode(ana.secret))).body as Session;
  expect(whole.user).toMatchObject({ email: secrets.email, phone: ana.phone });
});

test("a pending session can neither add nor confirm a code app", async () => {
  const ana = await makePersonWithCodeApp();
  const pending = await enrollFactor(ana);
  const half = await signInPending(ana);
  const add = await call("POST", "/api/auth/factors", { token: half.token, body: { factor_type: "totp" } });
  expect(add).toMatchObject({ status: 401, body: { error_code: "insufficient_aal" } });
  expect((await call("POST", `/api/auth/factors/${pending.id}/challenge`, { token: half.token })).status).toBe(404);
  const question = await challengeFactor(half, ana.factor);
  expect((await verifyFactor(half, pending.id, question, makeCode(pending.totp.secret))).status).toBe(404);
});

test("a session may be pending for ten minutes, which a renewal does not extend", async () => {
  const ana = await makePersonWithCodeApp();
  const half = await signInPending(ana);
  advanceFrozenClock(570);
  const renewed = await refresh(half.refresh_token);
  expect(renewed).toMatchObject({ status: 200, body: { awaits: ["totp"] } });
  const { access_token: token, refresh_token } = renewed.body as Session;
  const question = await challengeFactor({ token }, ana.factor);
  advanceFrozenClock(31);
  expect(await verifyFactor({ token }, ana.factor, question, makeCode(ana.secret))).toMatchObject({
    status: 401,
    body: { error_code: "session_not_found" },
  });
  expect(await refresh(refresh_token)).toMatchObject({ status: 401, body: { error_code: "session_expired" } });
});

test("a pending session does not become complete because its factor was removed", async () => {
  const ana = await makePersonWithCodeApp();
  const half = await signInPending(ana);
  expect((await call("DELETE", `/api/auth/factors/${ana.factor}`, { token: ana.token })).status).toBe(200);
  const renewed = await refresh(half.refresh_token);
  expect(renewed).toMatchObject({ status: 200, body: { awaits: [] } });
  const { access_token: token } = renewed.body as Session;
  expect(await call("GET", "/api/contacts", { token })).toMatchObject({ body: { error_code: "insufficient_aal" } });
  expect((await signIn(ana)).awaits).toBeUndefined();
});

test("expired pending sessions are deleted at the person's next sign-in", async () => {
  const ana = await makePersonWithCodeApp();
  const count = () =>
    env.DB.prepare("SELECT count(*) AS n FROM sessions WHERE user_id = ? AND awaits = 1").bind(ana.id).first("n");
  for (let n = 0; n < 3; n++) await signInPending(ana);
  advanceFrozenClock(601);
  await signInPending(ana);
  await waitUntil(async () => (await count()) === 1);
});

test("a proof counts for five minutes, and for tokens issued from then on", async () => {
  const ana = await makePersonWithCodeApp();
  expect(await mayChangeCredentials(ana)).toBe(true);
  advanceFrozenClock(301);
  expect(await mayChangeCredentials(ana)).toBe(false);
  const shown = (await verifyCode(ana, ana.factor, makeCode(ana.secret))).body as Session;
  expect(await mayChangeCredentials({ token: shown.access_token })).toBe(true);
  expect(await mayChangeCredentials(ana)).toBe(false);
  expect((await call("GET", "/api/auth/user", { token: ana.token })).status).toBe(200);
  advanceFrozenClock(299);
  expect(await mayChangeCredentials({ token: shown.access_token })).toBe(true);
  advanceFrozenClock(2);
  expect(await mayChangeCredentials({ token: shown.access_token })).toBe(false);
});

test("a copy of the earlier refresh token gains nothing from the owner's proof", async () => {
  const ana = await makePersonWithCodeApp();
  advanceFrozenClock(301);
  expect((await verifyCode(ana, ana.factor, makeCode(ana.secret))).status).toBe(200);
  const copied = (await refresh(ana.refreshToken)).body as Session;
  expect(await mayChangeCredentials({ token: copied.access_token })).toBe(false);
});

test("with a required second factor the password alone is no fresh proof, wherever it was proved", async () => {
  const ana = await makePerson();
  const other = await signIn(ana);
  expect(await mayChangeCredentials({ token: other.access_token })).toBe(true);
  const { id, totp: app } = await enrollFactor(ana);
  const shown = (await verifyCode(ana, id, makeCode(app.secret))).body as Session;
  // A factor shown on another session before the second step was turned on; that session stays.
  expect(await mayChangeCredentials({ token: other.access_token })).toBe(false);
  expect((await call("GET", "/api/contacts", { token: other.access_token })).status).toBe(200);
  for (const token of [shown.access_token, other.access_token]) {
    const answer = await call("POST", "/api/auth/proof", { token, body: { password: testPassword } });
    expect(answer).toMatchObject({ status: 403, body: { error_code: "reauthentication_needed" } });
  }
});

test("the same method shown repeatedly is listed once among a session's methods", async () => {
  const ana = await makePersonWithCodeApp();
  const [code = ""] = await makeRecoveryCodes(ana);
  const once = (await verifyRecoveryCode(ana, code)).body as Session;
  const twice = (await verifyCode({ token: once.access_token }, ana.factor, makeCode(ana.secret))).body as Session;
  const { amr } = decodeJwt(twice.access_token) as { amr: { method: string }[] };
  expect(amr.map(({ method }) => method)).toEqual(["recovery_code", "totp", "password"]);
});

test("unlimited attempts with the password block the owner neither from signing in nor from cancelling a reset", async () => {
  const ana = await makePersonWithCodeApp();
  const codes = await makeRecoveryCodes(ana);
  const [thief, owner] = [await signInPending(ana), await signInPending(ana)];
  const post = (path: string, body: object) => call("POST", `/api/auth/${path}`, { token: thief.token, body });
  const tries: [string, object][] = [
    ["factors/reset", {}],
    [`factors/${ana.factor}/challenge`, {}],
    ["recovery-codes/verify", { code: "0000" }],
    ["passkeys/step/options", {}],
  ];
  await post("factors/reset", {});
  for (const [path, body] of tries) while ((await post(path, body)).status !== 429);
  await drainBucket("totp_failure_by_user", ana.id);
  expect((await call("DELETE", "/api/auth/factors/reset", { token: ana.token })).status).toBe(204);
  expect((await verifyRecoveryCode(owner, codes[0] ?? "")).status).toBe(200);
});
