import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import { phoneOf, testPassword } from "#tests/support/people/people.ts";
import { advanceClock, elapseTimers, stopClockInUnusedHour } from "#tests/worker/support/clock.ts";
import { applyMemoryLimits } from "#tests/worker/support/setup/memory-limits.ts";
import {
  signInByPassword as signIn,
  signInWithProof,
  sixWrongPasswords,
  toOutcome,
} from "#tests/worker/support/sign-in.ts";
import { call, drainBucket, makePerson, toLimitKey } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { memoryPolicies } from "#worker/lib/limits/memory-limits.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

/** Answers do not reveal whether a number has an account. Response times: `npm run bench -- timing`. */

/** Durations for which hashes, and attempts without a proof of work, waited for each other; the tests do not wait. */
let waits: readonly number[];
beforeEach(() => {
  applyMemoryLimits();
  const { everyMs, waitMaxMs } = memoryPolicies.password_hashes;
  waits = elapseTimers(everyMs, waitMaxMs);
});

/** Bindings that record the accesses to the database and the pepper in order. */
const watched = () => {
  const asked: string[] = [];
  const DB = {
    prepare: (query: string) => {
      asked.push(query);
      return env.DB.prepare(query);
    },
    batch: (list: D1PreparedStatement[]) => env.DB.batch(list),
  };
  return { DB, asked };
};

test("a known and an unknown number cause the same queries and the same answer", async () => {
  const person = await makePerson();
  const seen = [];
  for (const phone of [person.phone, phoneOf(2500)]) {
    const { DB, asked } = watched();
    const body = { phone, password: "Wrong2026" };
    const headers = { "cf-connecting-ip": "203.0.113.80" };
    const answer = await callWith({ DB }, "POST", "/api/auth/token?grant_type=password", { headers, body });
    seen.push({ status: answer.status, body: answer.body, headers: [...answer.headers], asked });
  }
  expect(seen[0]?.status).toBe(400);
  expect(seen[0]?.asked.length).toBeGreaterThan(3);
  expect(seen[1]).toEqual(seen[0]);
});

test("attempts are counted for an unknown number as for a known one", async () => {
  const person = await makePerson();
  const outcomes = [];
  for (const [phone, from] of [
    [person.phone, "203.0.113.81"],
    [phoneOf(2501), "203.0.113.84"],
  ] as const) {
    stopClockInUnusedHour();
    const address = { "cf-connecting-ip": from };
    const attempts = [];
    for (let n = 0; n < 6; n++) attempts.push(await signInWithProof(phone, "Wrong2026", address));
    outcomes.push(attempts.map(toOutcome));
    const last = attempts.at(-1)?.answer;
    expect(last?.body).toMatchObject({ code: 429, error_code: "rate_limited" });
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(outcomes[0]).toEqual(sixWrongPasswords);
  expect(outcomes[1]).toEqual(outcomes[0]);
});

test("single attempts on two hundred accounts from one address are limited by that address", async () => {
  const person = await makePerson();
  const address = "203.0.113.82";
  const { burst, everyMs } = rateLimitPolicies.sign_in_by_address;
  const left = 3;
  stopClockInUnusedHour();
  await env.DB.prepare("INSERT OR REPLACE INTO rate_limits VALUES (?, ?)")
    .bind(`sign_in_by_address:${toLimitKey(address)}`, Date.now() + (burst - left) * everyMs)
    .run();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      // A header cannot replace the address that the platform reports.
      signIn(phoneOf(3_000 + n), "Wrong2026", {
        "cf-connecting-ip": address,
        "x-forwarded-for": `198.51.100.${n % 250}`,
        "x-real-ip": `198.51.100.${n % 250}`,
        "true-client-ip": `198.51.100.${n % 250}`,
        forwarded: `for=198.51.100.${n % 250}`,
      }),
    ),
  );
  const codes = answers.map(({ body }) => (body as { error_code: string }).error_code);
  expect(codes.filter((code) => code === "invalid_credentials")).toHaveLength(left);
  expect(codes.filter((code) => code === "captcha_failed")).toHaveLength(200 - left);
  // The right password also needs a proof of work from there, and is accepted from elsewhere.
  expect((await signIn(person.phone, testPassword, { "cf-connecting-ip": address })).status).toBe(400);
  advanceClock(2 * memoryPolicies.unproven_hashes.waitMaxMs); // the attempts above have been compared
  expect((await signIn(person.phone, testPassword, { "cf-connecting-ip": "203.0.113.83" })).status).toBe(200);
});

test("attempts without a proof of work from many addresses wait for each other, and need a proof instead of waiting long", async () => {
  const person = await makePerson();
  stopClockInUnusedHour();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      signIn(phoneOf(3_400 + n), "Wrong2026", { "cf-connecting-ip": `203.0.113.${100 + n}` }),
    ),
  );
  const codes = answers.map(({ body }) => (body as { error_code: string }).error_code);
  const { everyMs, waitMaxMs } = memoryPolicies.unproven_hashes;
  const compared = 1 + Math.floor(waitMaxMs / everyMs);
  expect(codes.sort()).toEqual([
    ...Array.from({ length: 12 - compared }, () => "captcha_failed"),
    ...Array.from({ length: compared }, () => "invalid_credentials"),
  ]);
  // The clock stands still: each attempt waits for its turn, and then as if the hashes before it were still due.
  const toWaits = (ms: number) => Array.from({ length: compared - 1 }, (_, n) => (n + 1) * ms);
  const byLength = (one: number, other: number) => one - other;
  const expected = [...toWaits(everyMs), ...toWaits(memoryPolicies.password_hashes.everyMs)];
  expect([...waits].sort(byLength)).toEqual(expected.sort(byLength));
  const { answer } = await signInWithProof(person.phone, testPassword, { "cf-connecting-ip": "203.0.113.99" });
  expect(answer.status).toBe(200);
});

test("using another own address for each attempt counts as one address", async () => {
  const person = await makePerson();
  const from = (n: number, network = "2001:db8:7:7") => ({ "cf-connecting-ip": `${network}:${n}::${n}` });
  stopClockInUnusedHour();
  const outcomes = [];
  for (let n = 1; n <= 6; n++) outcomes.push(toOutcome(await signInWithProof(person.phone, "Wrong2026", from(n))));
  expect(outcomes).toEqual(sixWrongPasswords);
  advanceClock(2 * memoryPolicies.unproven_hashes.waitMaxMs); // the attempts above have been compared
  expect((await signIn(person.phone, testPassword, from(1, "2001:db8:7:8"))).status).toBe(200);
});

test("failed attempts from many addresses do not affect a signed-in person", async () => {
  const person = await makePerson();
  await drainBucket("sign_in_by_account", toLimitKey(person.phone));
  expect((await signIn(person.phone, testPassword)).body).toMatchObject({ error_code: "captcha_failed" });
  expect((await call("GET", "/api/auth/user", { token: person.token })).status).toBe(200);
  const body = { refresh_token: person.refreshToken };
  expect((await call("POST", "/api/auth/token?grant_type=refresh_token", { body })).status).toBe(200);
});
