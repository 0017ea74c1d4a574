import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { expect, test, vi } from "vitest";
import type { AuthUser, Session } from "#contract/auth/auth.ts";
import type { Security, SignedInDevice as SignedIn } from "#contract/auth/security.ts";
import { createUuid } from "#contract/ids.ts";
import { accessTokenSeconds, sessionsPerUserMax, stepUpSeconds } from "#contract/limits/authentication.ts";
import { closeCodes } from "#contract/wire/server-frames.ts";
import { type Person, testPassword } from "#tests/support/people/people.ts";
import { withTimeout } from "#tests/worker/support/clock.ts";
import { Device } from "#tests/worker/support/device.ts";
import { call, cookieSite, drainBucket, makePerson, toCookieHeader, toLimitKey } from "#tests/worker/support/site.ts";
import worker from "#worker/index.ts";

const chromeOnAndroid =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36";
const newPassword = "Makutano2027";

const trySignIn = (person: Person, password = testPassword) =>
  call("POST", "/api/auth/token?grant_type=password", {
    headers: { "user-agent": chromeOnAndroid },
    body: { phone: person.phone, password },
  });
/** The same person on another device. */
const signIn = async (person: Person, password = testPassword): Promise<Person> => {
  const { status, body } = await trySignIn(person, password);
  if (status !== 200) throw new Error(`not signed in: ${JSON.stringify(body)}`);
  const { access_token, refresh_token } = body as Session;
  return { ...person, token: access_token, refreshToken: refresh_token };
};
const devicesOf = async ({ token }: Person): Promise<SignedIn[]> => {
  const { body } = await call("GET", "/api/auth/sessions", { token });
  return (body as { devices: SignedIn[] }).devices;
};
const securityOf = async ({ token }: Person): Promise<Security> =>
  (await call("GET", "/api/auth/security", { token })).body as Security;
const change = (person: Person, body: object) => call("PUT", "/api/auth/user", { token: person.token, body });
const showPassword = (person: Person, password = testPassword) =>
  call("POST", "/api/auth/proof", { token: person.token, body: { password } });
const end = (person: Person, id: string) => call("DELETE", `/api/auth/sessions/${id}`, { token: person.token });
const isIn = async ({ token }: Person) => (await call("GET", "/api/auth/user", { token })).status === 200;
const refresh = ({ refreshToken }: Person) =>
  call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token: refreshToken } });
/** Makes the start, the renewal and the last proof of the person's sessions older. */
const letPass = (person: Person, seconds: number) =>
  env.DB.prepare(
    "UPDATE sessions SET refreshed_at = refreshed_at - ?1, created_at = created_at - ?1, proved_at = proved_at - ?1 WHERE user_id = ?2",
  )
    .bind(seconds * 1_000, person.id)
    .run();
/** Turns on the second step of the account. */
const addCodeApp = (person: Person) =>
  env.DB.prepare("INSERT INTO factors VALUES (?, ?, 'Téléphone', 'x', 1, 0, 0, 0)").bind(createUuid(), person.id).run();

const revoked = { status: 400, body: { error_code: "session_revoked" } };
const needsProof = { status: 403, body: { error_code: "reauthentication_needed" } };
const day = 86_400;

/** Close code of the socket, within two seconds of the revocation. */
const endOf = async (device: Device) => (await withTimeout(2_000, device.closed)).code;

test("a cookie session remains in cookies, though a script of the page requests it in the body", async () => {
  const person = await makePerson();
  const signedIn = await call("POST", "/api/auth/token?grant_type=password", {
    headers: cookieSite,
    body: { phone: person.phone, password: testPassword },
  });
  const { origin } = cookieSite;
  const asked = await call("POST", "/api/auth/proof", {
    headers: { origin, cookie: toCookieHeader(signedIn) },
    body: { password: testPassword },
  });
  expect(asked.status).toBe(200);
  expect(asked.body).toMatchObject({ access_token: "", refresh_token: "" });
  const changed = await call("PUT", "/api/auth/user", {
    headers: { origin, cookie: toCookieHeader(asked) },
    body: { password: newPassword },
  });
  expect(changed.status).toBe(200);
  expect(JSON.stringify(changed.body)).not.toMatch(/"(access|refresh)_token":"[^"]/);
  expect((await call("GET", "/api/auth/user", { headers: { cookie: toCookieHeader(asked) } })).status).toBe(200);
});

// ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────

test("the devices of a person are listed with their kind and last use, the own one marked", async () => {
  const first = await makePerson();
  await letPass(first, 3_600);
  const before = Date.now();
  const second = await signIn(first);
  const [here, there, ...more] = await devicesOf(second);
  expect(more).toEqual([]);
  expect(here).toMatchObject({ device: "Chrome · Android", current: true });
  expect(here?.used_at).toBeGreaterThanOrEqual(before);
  expect(there).toMatchObject({ device: "", current: false });
  expect(before - (there?.used_at ?? 0)).toBeGreaterThan(3_500_000);
  await refresh(first);
  expect((await devicesOf(second)).map(({ current }) => current)).toEqual([false, true]);
  expect((await securityOf(second)).devices).toEqual(await devicesOf(second));
});

test("nobody sees other people's devices, nor own ones without their second factor or past renewal", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await letPass(ana, 31 * day);
  await signIn(ana);
  await addCodeApp(ana);
  const ana2 = await signIn(ana);
  expect((await call("GET", "/api/auth/sessions", { token: ana2.token })).body).toMatchObject({
    error_code: "insufficient_aal",
  });
  await env.DB.prepare("DELETE FROM factors WHERE user_id = ?").bind(ana.id).run();
  const ana3 = await signIn(ana);
  expect((await devicesOf(ana3)).map(({ device }) => device)).toEqual(["Chrome · Android", "Chrome · Android"]);
  expect(await devicesOf(ben)).toHaveLength(1);
});

test("the security settings of an account are one answer", async () => {
  const ana = await makePerson();
  expect(await securityOf(ana)).toEqual({
    factors: [],
    passkeys: [],
    passkey_second_step: false,
    recovery_codes: null,
    email: null,
    pending_email: null,
    identities: [],
    providers: [],
    devices: [expect.objectContaining({ current: true })],
    reset: null,
    proof_until: expect.any(Number),
  });
  await letPass(ana, stepUpSeconds);
  expect((await securityOf(ana)).proof_until).toBeNull();
});

// ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────

test("ending another device signs it out within two seconds, and nobody else", async () => {
  const ana = await makePerson();
  const other = await signIn(ana);
  const [here, there] = [await Device.open(ana), await Device.open(other)];
  const [target] = (await devicesOf(ana)).filter(({ current }) => !current);
  expect((await end(ana, target?.id ?? "")).status).toBe(204);
  expect(await endOf(there)).toBe(closeCodes.signedOut);
  expect(await isIn(other)).toBe(false);
  expect(await refresh(other)).toMatchObject(revoked);
  expect(await here.waitForPong()).toMatch(/^\./);
  here.close();
  expect((await end(ana, target?.id ?? "")).status).toBe(404);
});

test("another person's device cannot be ended", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [bens] = await devicesOf(ben);
  expect(await end(ana, bens?.id ?? "")).toMatchObject({ status: 404, body: { error_code: "not_found" } });
  expect((await end(ana, "x")).status).toBe(400);
  expect(await isIn(ben)).toBe(true);
});

test("ending the own device clears the browser's cookies", async () => {
  const ana = await makePerson();
  const signedIn = await call("POST", "/api/auth/token?grant_type=password", {
    headers: cookieSite,
    body: { phone: ana.phone, password: testPassword },
  });
  const headers = { ...cookieSite, cookie: toCookieHeader(signedIn) };
  const { body } = await call("GET", "/api/auth/sessions", { headers });
  const own = (body as { devices: SignedIn[] }).devices.find(({ current }) => current);
  const ended = await call("DELETE", `/api/auth/sessions/${own?.id}`, { headers });
  expect(ended.status).toBe(204);
  expect(toCookieHeader(ended)).toBe("");
  expect(ended.headers.getSetCookie()).toHaveLength(2);
  expect(await isIn(ana)).toBe(true);
});

test("ending all others keeps the own session, and ends those that still require a second factor", async () => {
  const ana = await makePerson();
  const others = [await signIn(ana), await signIn(ana)];
  await addCodeApp(ana);
  const owing = await signIn(ana);
  const sockets = await Promise.all(others.map((other) => Device.open(other)));
  expect((await call("DELETE", "/api/auth/sessions", { token: ana.token })).status).toBe(204);
  expect(await Promise.all(sockets.map(endOf))).toEqual([closeCodes.signedOut, closeCodes.signedOut]);
  expect(await Promise.all([ana, ...others, owing].map(isIn))).toEqual([true, false, false, false]);
  for (const other of others) expect(await refresh(other)).toMatchObject(revoked);
});

test("only sessions that their person ended are reported as revoked: a displaced one and an unknown one are not", async () => {
  const ana = await makePerson();
  const devices: Person[] = [];
  for (let n = 0; n < sessionsPerUserMax; n++) devices.push(await signIn(ana));
  expect(await refresh(ana)).toMatchObject({ body: { error_code: "refresh_token_not_found" } });
  const [first, second] = devices;
  if (!first || !second) throw new Error("no devices");
  await env.DB.prepare("DELETE FROM sessions WHERE user_id = ? AND id = ?")
    .bind(ana.id, decodeJwt(first.token)["sid"])
    .run(); // a database restored from a copy that is older than the session
  expect(await refresh(first)).toMatchObject({ body: { error_code: "refresh_token_not_found" } });
  expect((await call("POST", "/api/auth/logout?scope=others", { token: second.token })).status).toBe(204);
  for (const other of devices.slice(2)) expect(await refresh(other)).toMatchObject(revoked);
});

test("a browser hears that its session was revoked however often it asks", async () => {
  const ana = await makePerson();
  const signedIn = await call("POST", "/api/auth/token?grant_type=password", {
    headers: cookieSite,
    body: { phone: ana.phone, password: testPassword },
  });
  await call("DELETE", "/api/auth/sessions", { token: ana.token });
  for (let n = 0; n < 2; n++) {
    const headers = { ...cookieSite, cookie: toCookieHeader(signedIn) };
    const refused = await call("POST", "/api/auth/token?grant_type=refresh_token", { headers, body: {} });
    expect(refused).toMatchObject(revoked);
    expect(refused.headers.getSetCookie()).toEqual([]);
  }
});

// ── ages ─────────────────────────────────────────────────────────────────────────────────────────────────────

test("a session that can no longer be renewed is invalid after ten minutes", async () => {
  const [idle, old] = [await makePerson(), await makePerson()];
  const now = Date.now();
  await letPass(idle, 30 * day + 60);
  await env.DB.prepare("UPDATE sessions SET created_at = created_at - ? WHERE user_id = ?")
    .bind((90 * day + 60) * 1_000, old.id)
    .run();
  vi.useFakeTimers({ toFake: ["Date"], now: now + (accessTokenSeconds + 31) * 1_000 }); // plus the clock tolerance
  try {
    for (const person of [idle, old]) {
      expect(await call("GET", "/api/auth/user", { token: person.token })).toMatchObject({
        status: 401,
        body: { error_code: "bad_jwt" },
      });
      expect(await refresh(person)).toMatchObject({ status: 401, body: { error_code: "session_expired" } });
      expect(await refresh(person)).toMatchObject({ status: 400, body: { error_code: "refresh_token_not_found" } });
    }
  } finally {
    vi.useRealTimers();
  }
});

test("a socket that stays open without renewal ends with its session, within the hour", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const fresh = await signIn(ana);
  const [idle, used] = [await Device.open(ana), await Device.open(fresh)];
  const old = await Device.open(ben);
  const ends = Promise.all([idle.closed, old.closed]);
  await env.DB.prepare("UPDATE sessions SET refreshed_at = refreshed_at - ? WHERE user_id = ? AND device = ''")
    .bind((30 * day + 60) * 1_000, ana.id)
    .run();
  await env.DB.prepare("UPDATE sessions SET created_at = created_at - ? WHERE user_id = ?")
    .bind((90 * day + 60) * 1_000, ben.id)
    .run();
  await worker.scheduled(createScheduledController(), env);
  expect((await ends).map(({ code }) => code)).toEqual([closeCodes.signedOut, closeCodes.signedOut]);
  expect(await Promise.all([ana, ben, fresh].map(isIn))).toEqual([false, false, true]);
  expect(await used.waitForPong()).toMatch(/^\./);
  used.close();
});

test("a session whose cookies are replaced by another sign-in ends, whoever signs in and at whichever step", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const signInOver = (cookie: string, person: Person) =>
    call("POST", "/api/auth/token?grant_type=password", {
      headers: { ...cookieSite, cookie },
      body: { phone: person.phone, password: testPassword },
    });
  const idsOf = async (person: Person) => (await devicesOf(person)).map(({ id }) => id);
  const own = await idsOf(ana);
  const first = toCookieHeader(await signInOver("", ana));
  expect(await idsOf(ana)).toHaveLength(2);
  const second = toCookieHeader(await signInOver(first, ana));
  await expect.poll(() => idsOf(ana)).toHaveLength(2);
  const [newest] = (await idsOf(ana)).filter((id) => !own.includes(id));

  // A refused password does not replace a session.
  const { status } = await call("POST", "/api/auth/token?grant_type=password", {
    headers: { ...cookieSite, cookie: second },
    body: { phone: ben.phone, password: newPassword },
  });
  expect(status).toBe(400);
  expect(await idsOf(ana)).toContain(newest);

  await addCodeApp(ben);
  const half = await signInOver(second, ben);
  expect(half.body).toMatchObject({ awaits: ["totp"] });
  await expect.poll(() => idsOf(ana)).toEqual(own);
});

test("a request or socket that names another person than its session's is refused", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const ask = (person: string) => call("GET", "/api/contacts", { token: ana.token, headers: { "x-person": person } });
  expect((await ask(ana.id)).status).toBe(200);
  expect(await ask(ben.id)).toMatchObject({ status: 401, body: { error_code: "session_not_found" } });
  const connect = (person: string) => Device.connect(ana, {}, `?person=${person}`);
  const own = await connect(ana.id);
  expect(own.status).toBe(101);
  own.webSocket?.accept();
  own.webSocket?.close();
  expect((await connect(ben.id)).status).toBe(401);
});

test("a session can be renewed up to thirty idle days and ninety days in total", async () => {
  const ana = await makePerson();
  await letPass(ana, 30 * day - 60);
  expect((await refresh(ana)).status).toBe(200);
  const ben = await makePerson();
  await env.DB.prepare("UPDATE sessions SET created_at = created_at - ? WHERE user_id = ?")
    .bind((90 * day - 60) * 1_000, ben.id)
    .run();
  expect((await refresh(ben)).status).toBe(200);
});

// ── the password shown anew ──────────────────────────────────────────────────────────────────────────────────

test("a repeated password permits protected changes for five minutes, with the tokens it returned", async () => {
  const ana = await makePerson();
  await letPass(ana, stepUpSeconds);
  expect(await change(ana, { password: newPassword })).toMatchObject(needsProof);
  expect(await showPassword(ana, "Faux1234")).toMatchObject({
    status: 400,
    body: { error_code: "invalid_credentials" },
  });
  const shown = await showPassword(ana);
  expect(shown.status).toBe(200);
  const session = shown.body as Session;
  // Whoever copied the token before gains nothing.
  expect(await change(ana, { password: newPassword })).toMatchObject(needsProof);
  const renewed = { ...ana, token: session.access_token, refreshToken: session.refresh_token };
  expect((await securityOf(renewed)).proof_until).toBeGreaterThan(Date.now());
  expect((await change(renewed, { password: newPassword })).status).toBe(200);
});

test("with a required second factor the password is no sufficient proof", async () => {
  const ana = await makePerson();
  await addCodeApp(ana);
  expect(await showPassword(ana)).toMatchObject(needsProof);
});

test("wrong passwords in a step-up count for that session only, and failures of others do not affect it", async () => {
  const ana = await makePerson();
  const other = await signIn(ana);
  await drainBucket("sign_in_by_account", toLimitKey(ana.phone));
  await drainBucket("sign_in_by_address", toLimitKey("local"));
  expect((await showPassword(ana)).status).toBe(200);
  const tries = [];
  for (let n = 0; n < 6; n++) tries.push((await showPassword(ana, "Wrong2026")).status);
  expect(tries).toEqual([400, 400, 400, 400, 400, 429]);
  const { status, headers } = await showPassword(ana);
  expect(status).toBe(429);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await showPassword(other)).status).toBe(200);
  await env.DB.prepare("DELETE FROM rate_limits WHERE key LIKE 'sign_in_by_address:%'").run();
});

// ── a new password ───────────────────────────────────────────────────────────────────────────────────────────

test("a new password applies at once, and ends all other sessions", async () => {
  const ana = await makePerson();
  const other = await signIn(ana);
  const socket = await Device.open(other);
  const changed = await change(ana, { password: newPassword });
  expect(changed.status).toBe(200);
  expect((changed.body as AuthUser).id).toBe(ana.id);
  expect(await endOf(socket)).toBe(closeCodes.signedOut);
  expect([await isIn(ana), await isIn(other)]).toEqual([true, false]);
  expect(await refresh(other)).toMatchObject(revoked);
  expect((await trySignIn(ana)).body).toMatchObject({ error_code: "invalid_credentials" });
  expect((await trySignIn(ana, newPassword)).status).toBe(200);
});

test.each(["court1A".slice(0, 5), "sansmajuscule1", "SansChiffre"])(
  "%s is not accepted as a password",
  async (password) => {
    const ana = await makePerson();
    expect(await change(ana, { password })).toMatchObject({ status: 422, body: { error_code: "weak_password" } });
    expect((await trySignIn(ana)).status).toBe(200);
  },
);

test("the present password is refused as a new one", async () => {
  const ana = await makePerson();
  expect(await change(ana, { password: testPassword })).toMatchObject({
    status: 422,
    body: { error_code: "same_password" },
  });
});

test("a recovery mail requested before a password change is invalid after it", async () => {
  const ana = await makePerson();
  const later = Date.now() + 60_000;
  for (const type of ["recovery", "email_change"]) {
    await env.DB.prepare(
      "INSERT INTO mailed_tokens (hash, code_hash, user_id, type, email, expires_at) VALUES (?, 'x', ?, ?, 'a@b.test', ?)",
    )
      .bind(createUuid(), ana.id, type, later)
      .run();
  }
  // The same for the recovery address that somebody with the former password wanted to sign in with later.
  await env.DB.prepare("INSERT INTO account_security (user_id, pending_email) VALUES (?, 'a@b.test')")
    .bind(ana.id)
    .run();
  await change(ana, { password: newPassword });
  const left = await env.DB.prepare("SELECT type FROM mailed_tokens WHERE user_id = ?").bind(ana.id).all();
  expect(left.results).toEqual([]);
  const { body } = await call("GET", "/api/auth/security", { token: ana.token });
  expect(body).toMatchObject({ pending_email: null });
});

test("an empty change changes nothing and returns the user", async () => {
  const ana = await makePerson();
  const { status, body } = await change(ana, {});
  expect({ status, id: (body as AuthUser).id }).toEqual({ status: 200, id: ana.id });
});

// ── the account ──────────────────────────────────────────────────────────────────────────────────────────────

test("an account is deleted only with a fresh proof", async () => {
  const ana = await makePerson();
  const remove = (token: string) => call("DELETE", "/api/account", { token, body: { user_id: ana.id } });
  await letPass(ana, stepUpSeconds);
  expect(await remove(ana.token)).toMatchObject(needsProof);
  expect(await isIn(ana)).toBe(true);
  const { access_token } = (await showPassword(ana)).body as Session;
  expect((await remove(access_token)).status).toBe(204);
  // A repeat by a client that lost the answer.
  expect((await remove(access_token)).status).toBe(204);
  expect((await remove(ana.token)).status).toBe(204);
});

test("a new name needs no fresh proof; a new number and unknown fields are refused", async () => {
  const ana = await makePerson();
  await env.DB.prepare("UPDATE sessions SET proved_at = 0 WHERE user_id = ?").bind(ana.id).run();
  const named = await change(ana, { data: { username: "Ana Mbo" } });
  expect(named).toMatchObject({ status: 200, body: { user_metadata: { username: "Ana Mbo" } } });
  const read = await call("GET", `/api/users/${ana.id}`, { token: ana.token });
  expect(read.body).toMatchObject({ username: "Ana Mbo" });
  for (const body of [{ phone: "+243810009999" }, { data: { color: "red" } }]) {
    expect(await change(ana, body)).toMatchObject({ status: 400, body: { error_code: "validation_failed" } });
  }
  expect(await change(ana, { data: { username: "\u202E" } })).toMatchObject({ body: { error_code: "invalid_name" } });
  expect(await change(ana, { password: newPassword })).toMatchObject(needsProof);
});

test("a client that wants to check tokens by itself finds no key it could use, and asks who it is", async () => {
  const { status, body } = await call("GET", "/api/auth/.well-known/jwks.json");
  expect({ status, body }).toEqual({ status: 200, body: { keys: [] } });
});
