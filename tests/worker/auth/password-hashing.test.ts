import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { proofDecayMs } from "#contract/limits/authentication.ts";
import { type Call, makeCaptchaToken, phoneOf, testPassword } from "#tests/support/people/people.ts";
import { advanceClock, elapseTimers, stopClockInUnusedHour } from "#tests/worker/support/clock.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { applyMemoryLimits, liftMemoryLimits } from "#tests/worker/support/setup/memory-limits.ts";
import { makeSignInProof } from "#tests/worker/support/sign-in.ts";
import { makePerson, site, toLimitKey } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { hashPassword } from "#worker/auth/passwords.ts";
import { insertUser } from "#worker/auth/queries.ts";
import { openDb } from "#worker/db/client.ts";
import { reserveHashTurns } from "#worker/lib/limits/hashing-limit.ts";
import { memoryPolicies } from "#worker/lib/limits/memory-limits.ts";
import { type RateLimitName, rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

/** Each password hash occupies the isolate, takes a token and waits for its turn, wherever it is computed. */

const limited = { LOCAL_LIMIT_FACTOR: "1" };
/** For hashes that a test prepares and does not count. */
const unlimited = { ...env, LOCAL_LIMIT_FACTOR: "1000" };
const wrong = "Wrong2026";
const hashEveryMs = memoryPolicies.password_hashes.everyMs;

/** Durations for which hashes waited for each other; the tests do not wait. The clock stands still. */
let waits: readonly number[];
let now: number;
beforeEach(() => {
  now = Date.now();
  applyMemoryLimits();
  stopClockInUnusedHour();
  waits = elapseTimers(hashEveryMs, memoryPolicies.password_hashes.waitMaxMs);
});

/**
 * Sets the clock back to the time at which access tokens are valid. The bucket of hashes, which has been used at a later
 * time, is then full.
 */
const setClockBack = (): void => {
  reserveHashTurns(limited, 1);
  vi.spyOn(Date, "now").mockReturnValue(now);
};

const callLimited = (method: string, path: string, options?: Call) => callWith(limited, method, path, options);

let lastAddress = 0;
/** Signs in from an address of its own, by default. */
const signIn = async (
  phone: string,
  password: string,
  { address = `203.0.113.${++lastAddress}`, isProved = false } = {},
) => {
  const headers = { "cf-connecting-ip": address };
  const proof = isProved ? { gotrue_meta_security: { captcha_token: await makeSignInProof(phone, headers) } } : {};
  return callLimited("POST", "/api/auth/token?grant_type=password", { headers, body: { phone, password, ...proof } });
};

/** A person whose number this many other accounts claim. */
const makeClaimedPerson = async (claims: number) => {
  const person = await makePerson();
  const claim = { phone: person.phone, username: "Autre", password_hash: await hashPassword(unlimited, "Autre2026") };
  for (let n = 0; n < claims; n++) await insertUser(openDb(env), { ...claim, isClaim: true });
  return person;
};

/** Tokens taken from a bucket while the clock stands still. */
const countTokens = async (name: RateLimitName, key: string): Promise<number> => {
  const row = env.DB.prepare("SELECT full_at FROM rate_limits WHERE key = ?").bind(`${name}:${key}`);
  const fullAt = (await row.first<number>("full_at")) ?? 0;
  return Math.max(0, fullAt - Date.now()) / rateLimitPolicies[name].everyMs;
};

const countSignInTokens = async (phone: string, address: string) => ({
  guesses: await countTokens("sign_in_by_account_and_address", `${toLimitKey(phone)} ${toLimitKey(address)}`),
  byAddress: await countTokens("sign_in_by_address", toLimitKey(address)),
  byAccount: await countTokens("sign_in_by_account", toLimitKey(phone)),
});

test.each([
  [0, 1],
  [1, 2],
  [2, 3],
  [5, 3],
])("a wrong password at a number with %i claims takes a token for each of %i hashes", async (claims, hashes) => {
  const person = await makeClaimedPerson(claims);
  const address = `198.51.100.${claims + 1}`;
  expect((await signIn(person.phone, wrong, { address })).body).toMatchObject({ error_code: "invalid_credentials" });
  const counted = await countSignInTokens(person.phone, address);
  expect(counted).toEqual({ guesses: 1, byAddress: hashes, byAccount: hashes });
});

test("a wrong password takes as many tokens at an unknown number as at a known one", async () => {
  const person = await makePerson();
  const counted: object[] = [];
  for (const phone of [person.phone, phoneOf(takePersonNumber())]) {
    stopClockInUnusedHour();
    const before = waits.length;
    const address = `198.51.100.${30 + counted.length}`;
    await signIn(phone, wrong, { address });
    counted.push({ ...(await countSignInTokens(phone, address)), waits: waits.slice(before) });
  }
  expect(counted[0]).toEqual({ guesses: 1, byAddress: 1, byAccount: 1, waits: [] });
  expect(counted[1]).toEqual(counted[0]);
});

test("the accounts of one number are compared in turn, each hash after a pause", async () => {
  const person = await makeClaimedPerson(2);
  await signIn(person.phone, wrong);
  expect(waits).toEqual([hashEveryMs, 2 * hashEveryMs]);
});

test("the holder's password costs one hash, however many claim the number, and no token", async () => {
  const person = await makeClaimedPerson(2);
  const address = "198.51.100.40";
  expect((await signIn(person.phone, testPassword, { address, isProved: true })).status).toBe(200);
  expect(waits).toEqual([]);
  expect(await countSignInTokens(person.phone, address)).toEqual({ guesses: 0, byAddress: 0, byAccount: 0 });
});

test("accounts that claim a number use up none of the five guesses at its holder's password", async () => {
  liftMemoryLimits();
  const person = await makeClaimedPerson(2);
  const codes = [];
  for (let n = 0; n < 6; n++) {
    const answer = await signIn(person.phone, wrong, { address: "198.51.100.41", isProved: true });
    codes.push((answer.body as { error_code?: string }).error_code);
  }
  expect(codes).toEqual([...Array.from({ length: 5 }, () => "invalid_credentials"), "rate_limited"]);
});

test("a proof of work makes the next one at a number harder for each hash that it pays for", async () => {
  const person = await makeClaimedPerson(2);
  expect((await signIn(person.phone, wrong, { isProved: true })).status).toBe(400);
  const row = env.DB.prepare("SELECT full_at FROM rate_limits WHERE key = ?");
  const spentUntil = await row.bind(`spent_proofs_by_account:${toLimitKey(person.phone)}`).first<number>("full_at");
  expect(((spentUntil ?? 0) - Date.now()) / proofDecayMs).toBe(3);
});

/** Has so many hashes wait that another would wait too long. */
const overload = (): void => {
  const { everyMs, waitMaxMs } = memoryPolicies.password_hashes;
  reserveHashTurns(limited, 1 + Math.floor(waitMaxMs / everyMs));
};

test("an attempt at a number with claims reserves the turns of all its hashes, or computes none", async () => {
  const person = await makeClaimedPerson(2);
  reserveHashTurns(limited, 9);
  const answers = [];
  for (let n = 0; n < 2; n++) answers.push(await signIn(person.phone, wrong, { isProved: true }));
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  expect(waits).toEqual([]);
});

test("when too many hashes wait, a sign-in is told to retry, and keeps its attempts and proof", async () => {
  const person = await makePerson();
  const address = "198.51.100.42";
  const headers = { "cf-connecting-ip": address };
  const captcha_token = await makeSignInProof(person.phone, headers);
  const body = { phone: person.phone, password: testPassword, gotrue_meta_security: { captcha_token } };
  const signInOnce = () => callLimited("POST", "/api/auth/token?grant_type=password", { headers, body });
  overload();
  const answer = await signInOnce();
  expect(answer).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await countSignInTokens(person.phone, address)).toEqual({ guesses: 0, byAddress: 0, byAccount: 0 });
  advanceClock(60_000);
  expect((await signInOnce()).status).toBe(200); // the proof of work was not spent
});

test.each<[string, number, () => Promise<{ status: number }>]>([
  [
    "a sign-up",
    1,
    async () => {
      const phone = phoneOf(takePersonNumber());
      const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
      const body = { phone, password: testPassword, gotrue_meta_security: { captcha_token } };
      return callLimited("POST", "/api/auth/signup", { body });
    },
  ],
  ["a sign-in", 1, async () => signIn((await makePerson()).phone, testPassword)],
  [
    "a reauthentication",
    1,
    async () => {
      const { token } = await makePerson();
      return callLimited("POST", "/api/auth/proof", { token, body: { password: testPassword } });
    },
  ],
  [
    "a password change",
    2,
    async () =>
      callLimited("PUT", "/api/auth/user", { token: (await makePerson()).token, body: { password: "Nouveau2026" } }),
  ],
])("%s waits for the turn of each of its hashes (%i)", async (_, hashes, run) => {
  setClockBack();
  reserveHashTurns(limited, 1);
  expect((await run()).status).toBe(200);
  expect(waits).toEqual(Array.from({ length: hashes }, (_wait, n) => (n + 1) * hashEveryMs));
});

test("new passwords are limited by the hashes that they cost", async () => {
  liftMemoryLimits();
  setClockBack();
  const { token } = await makePerson();
  const codes = [];
  for (let n = 0; n < 7; n++) {
    const answer = await callWith({}, "PUT", "/api/auth/user", { token, body: { password: testPassword } });
    codes.push((answer.body as { error_code?: string }).error_code);
  }
  expect(codes).toEqual([...Array.from({ length: 6 }, () => "same_password"), "rate_limited"]);
});
