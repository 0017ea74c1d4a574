import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Challenge } from "#contract/auth/sign-in.ts";
import {
  proofDecayMs,
  proofKeysMax,
  proofLevelMax,
  proofsFree,
  proofsPerLevel,
} from "#contract/limits/authentication.ts";
import { makeCaptchaToken, phoneOf, solveForToken, testPassword } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { call, site, toLimitKey } from "#tests/worker/support/site.ts";
import { createProofChallenge } from "#worker/auth/proof-of-work.ts";

/** Proof-of-work difficulty of public requests, for each network. */

const bucket = (network: string) => `spent_proofs_by_address:${toLimitKey(network)}`;
/** Records this many recent proofs of a network. */
const spend = (network: string, proofs: number) =>
  env.DB.prepare("INSERT OR REPLACE INTO rate_limits VALUES (?, ?)")
    .bind(bucket(network), Date.now() + (proofs + 0.5) * proofDecayMs)
    .run();
const levelAt = async (address: string) => {
  const body = { action: "sign_up", subject: phoneOf(2750) };
  const answer = await call("POST", "/api/auth/challenge", { headers: { "cf-connecting-ip": address }, body });
  return (answer.body as Challenge).parameters.data?.["level"];
};
const signUp = (phone: string, captcha_token: string, address: string) =>
  call("POST", "/api/auth/signup", {
    headers: { "cf-connecting-ip": address },
    body: { phone, password: testPassword, data: { username: "Ana" }, gotrue_meta_security: { captcha_token } },
  });

test("a network that spends many proofs gets harder challenges, and is never refused one", async () => {
  expect(await levelAt("203.0.113.130")).toBe(0);
  await spend("203.0.113.0/24", proofsFree - 1);
  expect(await levelAt("203.0.113.130")).toBe(0);
  await spend("203.0.113.0/24", proofsFree + 1);
  expect(await levelAt("203.0.113.130")).toBe(1);
  expect(await levelAt("203.0.113.131")).toBe(1);
  expect(await levelAt("203.0.114.130")).toBe(0);
  await spend("203.0.113.0/24", proofsFree + 2 * proofsPerLevel);
  expect(await levelAt("203.0.113.130")).toBe(3);
  await spend("203.0.113.0/24", 10_000);
  expect(await levelAt("203.0.113.130")).toBe(3);
  expect(proofLevelMax).toBe(3);
  await spend("2001:db8:9::/48", proofsFree + 1);
  expect(await levelAt("2001:db8:9:1::1")).toBe(1);
  expect(await levelAt("2001:db8:9:2::1")).toBe(1);
  expect(await levelAt("2001:db8:a:1::1")).toBe(0);
});

test("a network is back at the lowest difficulty a quarter of an hour after any number of proofs", async () => {
  const address = "198.51.104.9";
  await spend("198.51.104.0/24", 10_000);
  const dearest = await createProofChallenge(
    env.ALTCHA_HMAC_KEY,
    { action: "sign_up", subject: phoneOf(2754) },
    { level: 3 },
  );
  expect((await signUp(phoneOf(2754), await solveForToken(dearest), address)).status).toBe(200);
  advanceClock(17 * 60_000);
  expect(await levelAt(address)).toBe(0);
});

test("requesting challenges and sending invalid proofs raises the difficulty for nobody", async () => {
  const address = "198.51.101.9";
  for (let n = 0; n < 2 * proofsFree; n++) {
    await levelAt(address);
    expect((await signUp(phoneOf(2751), "x", address)).status).toBe(400);
  }
  const row = env.DB.prepare("SELECT full_at FROM rate_limits WHERE key = ?").bind(bucket("198.51.101.0/24"));
  expect(await row.first()).toBeNull();
  const work = await makeCaptchaToken(site, { action: "sign_up", subject: phoneOf(2751) });
  expect((await signUp(phoneOf(2751), work, address)).status).toBe(200);
  expect(await row.first("full_at")).toBeGreaterThan(Date.now());
});

test("proofs solved in advance at a low difficulty are invalid once their network has a higher one", async () => {
  const address = "198.51.102.9";
  const purpose = { action: "sign_up", subject: phoneOf(2752) } as const;
  const [cheap, kept] = [await makeCaptchaToken(site, purpose), await makeCaptchaToken(site, purpose)];
  await spend("198.51.102.0/24", proofsFree + 1.5 * proofsPerLevel);
  expect(await signUp(purpose.subject, cheap, address)).toMatchObject({
    status: 400,
    body: { error_code: "captcha_failed" },
  });
  // One level below the required one is enough, because others may have raised it meanwhile.
  const dearer = await createProofChallenge(env.ALTCHA_HMAC_KEY, purpose, { level: 1 });
  expect((await signUp(purpose.subject, await solveForToken(dearer), address)).status).toBe(200);
  expect((await signUp(purpose.subject, kept, "198.51.103.9")).body).toMatchObject({ error_code: "phone_exists" });
});

test("the counter of a solution is spread over the whole range of its difficulty level", async () => {
  const counters = [];
  for (let n = 0; n < 30; n++) {
    const solved = JSON.parse(atob(await makeCaptchaToken(site, { action: "sign_up", subject: phoneOf(2753) })));
    counters.push(solved.solution.counter as number);
  }
  expect(Math.max(...counters)).toBeLessThan(proofKeysMax);
  // The probability that 30 of 300 draws all miss the first third, or all the last one, is 1 in 190,000.
  expect(Math.min(...counters)).toBeLessThan(proofKeysMax / 3);
  expect(Math.max(...counters)).toBeGreaterThan((proofKeysMax * 2) / 3);
});
