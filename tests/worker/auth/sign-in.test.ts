import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Challenge } from "#contract/auth/sign-in.ts";
import { proofDecayMs, proofLevelMax } from "#contract/limits/authentication.ts";
import { phoneOf, testPassword } from "#tests/support/people/people.ts";
import { advanceClock, stopClockInUnusedHour } from "#tests/worker/support/clock.ts";
import { makeSignInProof, signInByPassword as signIn } from "#tests/worker/support/sign-in.ts";
import {
  call,
  cookieSite,
  drainBucket,
  makePerson,
  refillBuckets,
  toCookieHeader,
  toLimitKey,
} from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { emptyBuckets, rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

const userOf = (token: string) => call("GET", "/api/auth/user", { token });
const openSession = async (phone: string) => (await signIn(phone, testPassword)).body as Session;

// All requests come from one address. The limits of failures are tested below.
beforeEach(() => refillBuckets("sign_in_by_address"));

test("phone and password open a session of their own", async () => {
  const person = await makePerson();
  const session = await openSession(person.phone.slice(1));
  expect(session.user.id).toBe(person.id);
  expect(session.refresh_token).not.toBe(person.refreshToken);
  expect(await userOf(session.access_token)).toMatchObject({ status: 200 });
});

test("an unknown phone and a wrong password are answered alike", async () => {
  const person = await makePerson();
  const wrong = await signIn(person.phone, "Wrong2026");
  const unknown = await signIn(phoneOf(990), "Wrong2026");
  expect(wrong).toMatchObject({
    status: 400,
    body: { error_code: "invalid_credentials", msg: "Invalid login credentials" },
  });
  expect({ status: unknown.status, body: unknown.body }).toEqual({ status: wrong.status, body: wrong.body });
});

test("limits are stored under keyed hashes, not under numbers and addresses", async () => {
  const person = await makePerson();
  const address = "203.0.113.211";
  expect((await signIn(person.phone, "Wrong2026", { "cf-connecting-ip": address })).status).toBe(400);
  const { results } = await env.DB.prepare("SELECT key FROM rate_limits").all<{ key: string }>();
  const keys = results.map(({ key }) => key);
  expect(keys).toContain(`sign_in_by_account_and_address:${toLimitKey(person.phone)} ${toLimitKey(address)}`);
  expect(keys.filter((key) => key.includes(person.phone.slice(1)) || key.includes(address))).toEqual([]);
});

test("an unknown phone is hashed for as a wrong password is", async () => {
  const person = await makePerson();
  /** Times that the answer needs the pepper: for the configuration, and once for every hash. */
  const countPepperReads = async (phone: string, error_code: string): Promise<number> => {
    let reads = 0;
    const counting = {
      get PEPPER() {
        reads += 1;
        return env.PEPPER;
      },
    };
    const body = { phone, password: "Wrong2026" };
    const answer = await callWith(counting, "POST", "/api/auth/token?grant_type=password", { body });
    expect(answer).toMatchObject({ status: 400, body: { error_code } });
    return reads;
  };
  const wrong = await countPepperReads(person.phone, "invalid_credentials");
  expect(await countPepperReads(phoneOf(991), "invalid_credentials")).toBe(wrong);
  await drainBucket("sign_in_by_address", toLimitKey("local"));
  expect(await countPepperReads(phoneOf(991), "captcha_failed")).toBe(wrong - 1); // refused before hashing
  // How long the answers take: npm run bench -- timing.
});

test("after five failures even the right password waits at that address, and nobody else does", async () => {
  const [victim, other] = [await makePerson(), await makePerson()];
  advanceClock(0);
  const proofs = await Promise.all(Array.from({ length: 8 }, () => makeSignInProof(victim.phone)));
  const [last, ...others] = proofs;
  // Each brings a proof of work, which the address needs from its fourth failure on.
  const answers = await Promise.all(others.map((proof) => signIn(victim.phone, "Wrong2026", {}, proof)));
  const codes = answers.map(({ body }) => (body as { error_code: string }).error_code).sort();
  expect(codes).toEqual([
    ...Array.from({ length: 5 }, () => "invalid_credentials"),
    ...Array.from({ length: 2 }, () => "rate_limited"),
  ]);
  const paused = await signIn(victim.phone, testPassword, {}, last);
  expect(paused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  const wait = Number(paused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(300);
  await refillBuckets("sign_in_by_address");
  expect(await signIn(other.phone, testPassword)).toMatchObject({ status: 200 });
  expect(await userOf(victim.token)).toMatchObject({ status: 200 });

  // A person elsewhere with the right password is not locked out by it.
  const otherAddress = { "cf-connecting-ip": "203.0.113.77" };
  expect(await signIn(victim.phone, testPassword, otherAddress)).toMatchObject({ status: 200 });

  await env.DB.prepare("UPDATE rate_limits SET full_at = full_at - 300000 WHERE key = ?")
    .bind(`sign_in_by_account_and_address:${toLimitKey(victim.phone)} ${toLimitKey("local")}`)
    .run();
  emptyBuckets.clear();
  expect(await signIn(victim.phone, testPassword)).toMatchObject({ status: 200 });
});

test("signing in rightly costs nothing, however often", async () => {
  stopClockInUnusedHour();
  const person = await makePerson();
  for (let n = 0; n < 6; n++) expect((await signIn(person.phone, testPassword)).status).toBe(200);
});

test("who has failed often at one address brings a proof of work for each further try there", async () => {
  const person = await makePerson();
  const address = "198.51.100.7";
  await drainBucket("sign_in_by_address", toLimitKey(address));
  const headers = { "cf-connecting-ip": address, "x-forwarded-for": "203.0.113.9" };
  const unproved = { status: 400, body: { error_code: "captcha_failed" } };
  for (const password of ["Wrong2026", testPassword]) {
    expect(await signIn(person.phone, password, headers)).toMatchObject(unproved);
  }
  const prove = async (password: string, subject = person.phone) =>
    signIn(person.phone, password, headers, await makeSignInProof(subject, headers));
  expect(await prove(testPassword, phoneOf(1001))).toMatchObject(unproved);
  expect((await prove("Wrong2026")).body).toMatchObject({ error_code: "invalid_credentials" });
  expect((await prove(testPassword)).status).toBe(200);
  const otherAddress = { "cf-connecting-ip": "203.0.113.9" };
  expect(await signIn(phoneOf(1000), "Wrong2026", otherAddress)).toMatchObject({ status: 400 });
});

test("the fourth wrong password from one address needs a proof of work, whoever's it is, until the address rests", async () => {
  const people = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  const headers = { "cf-connecting-ip": "198.51.100.8" };
  stopClockInUnusedHour();
  const codes = [];
  for (const { phone } of people) codes.push((await signIn(phone, "Wrong2026", headers)).body);
  expect(codes).toMatchObject([
    ...Array.from({ length: 3 }, () => ({ error_code: "invalid_credentials" })),
    { error_code: "captcha_failed" },
  ]);
  const [person] = people as [(typeof people)[0]];
  expect((await signIn(person.phone, testPassword, headers)).body).toMatchObject({ error_code: "captcha_failed" });
  advanceClock(rateLimitPolicies.sign_in_by_address.everyMs);
  expect((await signIn(person.phone, testPassword, headers)).status).toBe(200);
});

test("failures at a number from everywhere require a proof of work there, and lock nobody out", async () => {
  const person = await makePerson();
  await drainBucket("sign_in_by_account", toLimitKey(person.phone));
  const headers = { "cf-connecting-ip": "203.0.113.190" };
  const unproved = { status: 400, body: { error_code: "captcha_failed" } };
  // A request that is refused because its proof is missing uses up no attempt.
  for (let n = 0; n < 7; n++) expect(await signIn(person.phone, testPassword, headers)).toMatchObject(unproved);
  const prove = async (password: string) =>
    signIn(person.phone, password, headers, await makeSignInProof(person.phone, headers));
  expect((await prove(testPassword)).status).toBe(200);
  const wrong = [];
  for (let n = 0; n < 6; n++) wrong.push((await prove("Wrong2026")).status);
  expect(wrong).toEqual([400, 400, 400, 400, 400, 429]);
});

test("proofs spent on one number from many networks make the next one for it dearer, and none for another", async () => {
  const [person, other] = [await makePerson(), await makePerson()];
  const key = `spent_proofs_by_account:${toLimitKey(person.phone)}`;
  const full_at = Date.now() + 1_000 * proofDecayMs;
  await env.DB.prepare("INSERT INTO rate_limits VALUES (?, ?)").bind(key, full_at).run();
  const levelOf = async (action: string, subject: string) => {
    const { body } = await call("POST", "/api/auth/challenge", {
      headers: { "cf-connecting-ip": "203.0.119.1" },
      body: { action, subject },
    });
    return (body as Challenge).parameters.data?.["level"];
  };
  expect(await levelOf("sign_in", person.phone)).toBe(proofLevelMax);
  expect(await levelOf("sign_in", other.phone)).toBe(0);
  expect(await levelOf("recover_by_code", person.phone)).toBe(0);
});

test("a device that was signed in before can sign in despite failures elsewhere, and has five attempts of its own", async () => {
  const [person, other] = [await makePerson(), await makePerson()];
  const at = (phone: string, password: string, cookie = "") => signIn(phone, password, { ...cookieSite, cookie });
  const device = toCookieHeader(await at(person.phone, testPassword))
    .split("; ")
    .filter((cookie) => cookie.startsWith("__Host-lisolo-device="))
    .join();
  for (const { phone } of [person, other]) {
    await drainBucket("sign_in_by_account", toLimitKey(phone));
    await drainBucket("sign_in_by_account_and_address", `${toLimitKey(phone)} ${toLimitKey("local")}`);
  }
  await drainBucket("sign_in_by_address", toLimitKey("local"));
  expect((await at(person.phone, testPassword)).status).not.toBe(200);
  const inside = await at(person.phone, testPassword, device);
  expect(inside.status).toBe(200);
  // It is valid for no other person and no other device.
  expect((await at(other.phone, testPassword, device)).status).not.toBe(200);
  for (const forged of [device.replace(/.$/, (end) => (end === "A" ? "B" : "A")), device.replace("=", "=A")]) {
    expect((await at(person.phone, testPassword, forged)).status).not.toBe(200);
  }
  const tries = [];
  for (let n = 0; n < 6; n++) tries.push((await at(person.phone, "Wrong2026", device)).status);
  expect(tries).toEqual([400, 400, 400, 400, 400, 429]);
  expect((await at(person.phone, testPassword, device)).status).toBe(429);
  await refillBuckets("sign_in_by_address");
});

test("somebody who signs in again and again waits after twenty times", async () => {
  const person = await makePerson();
  await drainBucket("sign_in_success_by_account", person.id);
  const paused = await signIn(person.phone, testPassword);
  expect(paused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect((await userOf(person.token)).status).toBe(200);
});

test("the eleventh device takes the place of the first", async () => {
  const person = await makePerson();
  const second = await openSession(person.phone);
  const now = Date.now();
  for (let n = 1; n <= 8; n++) await insertSession(openDb(env), createSessionRow(person.id, now + n));
  expect(await userOf(person.token)).toMatchObject({ status: 200 });
  const eleventh = await openSession(person.phone);
  expect(await userOf(person.token)).toMatchObject({ status: 401, body: { error_code: "session_not_found" } });
  for (const { access_token } of [second, eleventh]) expect((await userOf(access_token)).status).toBe(200);
});

test.each([
  ["another grant", "/api/auth/token?grant_type=magic", { phone: "1", password: "x" }, "unsupported_grant_type"],
  ["no grant", "/api/auth/token", { phone: "1", password: "x" }, "unsupported_grant_type"],
  ["no phone", "/api/auth/token?grant_type=password", { password: "x" }, "validation_failed"],
  ["no password", "/api/auth/token?grant_type=password", { phone: phoneOf(1) }, "validation_failed"],
  [
    "a list for a phone",
    "/api/auth/token?grant_type=password",
    { phone: [phoneOf(1)], password: "x" },
    "validation_failed",
  ],
])("signing in with %s is refused", async (_, path, body, error_code) => {
  expect(await call("POST", path, { body })).toMatchObject({ status: 400, body: { error_code } });
});

test("signing out everywhere ends every session and clears the cookies", async () => {
  const person = await makePerson();
  const second = await openSession(person.phone);
  const browser = await signIn(person.phone, testPassword, cookieSite);
  const cookie = toCookieHeader(browser);
  const out = await call("POST", "/api/auth/logout?scope=global", { headers: { ...cookieSite, cookie } });
  expect(out.status).toBe(204);
  expect(out.headers.getSetCookie()).toEqual([
    "__Host-lisolo-at=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict",
    "__Host-lisolo-rt=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict",
  ]);
  expect(out.headers.get("clear-site-data")).toBe('"cache"');
  for (const token of [person.token, second.access_token]) {
    expect(await userOf(token)).toMatchObject({ status: 401, body: { error_code: "session_not_found" } });
  }
  const refresh_token = second.refresh_token;
  const refreshed = await call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });
  expect(refreshed).toMatchObject({ status: 400, body: { error_code: "session_revoked" } });
});

test("a browser whose session was ended elsewhere clears the pictures it kept, and keeps what is unsent", async () => {
  const person = await makePerson();
  const browser = await signIn(person.phone, testPassword, cookieSite);
  const cookie = toCookieHeader(browser);
  const token = /__Host-lisolo-at=([^;]+)/.exec(cookie)?.[1] ?? "";
  await call("POST", "/api/auth/logout?scope=global", { token: person.token });
  const ended = { status: 401, body: { error_code: "session_not_found" } };
  const answer = await call("GET", "/api/auth/user", { headers: { ...cookieSite, cookie } });
  expect(answer).toMatchObject(ended);
  // Storage holds what is unsent, which waits for the same person.
  expect(answer.headers.get("clear-site-data")).toBe('"cache"');
  const program = await userOf(token);
  expect(program).toMatchObject(ended);
  expect(program.headers.has("clear-site-data")).toBe(false);
});

test("signing out here, or everywhere else, leaves the rest", async () => {
  const person = await makePerson();
  const [second, third] = [await openSession(person.phone), await openSession(person.phone)];
  const out = (token: string, scope: string) => call("POST", `/api/auth/logout?scope=${scope}`, { token });
  expect((await out(third.access_token, "local")).status).toBe(204);
  expect((await userOf(third.access_token)).status).toBe(401);
  expect((await userOf(second.access_token)).status).toBe(200);
  expect((await out(second.access_token, "others")).status).toBe(204);
  expect((await userOf(person.token)).status).toBe(401);
  expect((await userOf(second.access_token)).status).toBe(200);
});

test("a browser that was away for longer than its access token signs out by its refresh token", async () => {
  const person = await makePerson();
  const browser = await signIn(person.phone, testPassword, cookieSite);
  const cookie =
    toCookieHeader(browser)
      .split("; ")
      .find((one) => one.startsWith("__Host-lisolo-rt=")) ?? "";
  expect((await call("POST", "/api/auth/logout", { headers: { ...cookieSite, cookie } })).status).toBe(204);
  expect((await userOf(person.token)).status).toBe(401);
});

test("signing out without a session is refused and still clears the cookies", async () => {
  const out = await call("POST", "/api/auth/logout", { headers: cookieSite });
  expect(out).toMatchObject({ status: 401, body: { error_code: "no_authorization" } });
  expect(out.headers.getSetCookie()).toHaveLength(2);
});
