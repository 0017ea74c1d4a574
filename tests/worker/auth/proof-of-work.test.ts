import { env } from "cloudflare:workers";
import { createChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { expect, test } from "vitest";
import { makeCaptchaToken, phoneOf, solveForToken, testPassword } from "#tests/support/people/people.ts";
import { call, site } from "#tests/worker/support/site.ts";
import { createProofChallenge } from "#worker/auth/proof-of-work.ts";

/** In addition to sign-up.test.ts: valid work for a different challenge. */

const purpose = { action: "sign_up", subject: phoneOf(2700) } as const;
const work = () => makeCaptchaToken(site, purpose);

const signUp = (captcha_token: string) =>
  call("POST", "/api/auth/signup", {
    body: { phone: phoneOf(2700), password: testPassword, gotrue_meta_security: { captcha_token } },
  });
const refused = { status: 400, body: { error_code: "captcha_failed" } };

type Solved = {
  challenge: Awaited<ReturnType<typeof createProofChallenge>>;
  solution: { counter: number; derivedKey: string };
};
const open = (token: string): Solved => JSON.parse(atob(token));
const close = (solved: unknown) => btoa(JSON.stringify(solved));

test.each([
  ["less work", { cost: 1 }],
  ["a shorter key", { keyLength: 1 }],
  ["a prefix that anything has", { keyPrefix: "" }],
  ["a later end", { expiresAt: 4_000_000_000 }],
  ["no level", { data: undefined }],
  ["no end", { expiresAt: undefined }],
  ["another algorithm", { algorithm: "SHA-256" }],
  ["another salt", { salt: "00".repeat(16) }],
  ["another nonce", { nonce: "00".repeat(16) }],
  ["no signature of its key", { keySignature: undefined }],
])("a proof whose challenge was changed to %s is invalid", async (_, changed) => {
  const solved = open(await work());
  Object.assign(solved.challenge.parameters, changed);
  expect(await signUp(close(solved))).toMatchObject(refused);
});

test("a challenge whose difficulty was lowered is invalid, even if it was solved as given", async () => {
  const { challenge } = open(await work());
  Object.assign(challenge.parameters, { keyPrefix: "00" }); // one key of 256 solves it
  expect(await signUp(await solveForToken(challenge))).toMatchObject(refused);
});

test("a solution of one challenge is invalid for another", async () => {
  const [one, other] = [open(await work()), open(await work())];
  expect(await signUp(close({ ...one, solution: other.solution }))).toMatchObject(refused);
  expect(
    await signUp(
      close({ challenge: { ...one.challenge, signature: other.challenge.signature }, solution: one.solution }),
    ),
  ).toMatchObject(refused);
});

test("a challenge without the server's signature is invalid", async () => {
  const forgedChallenge = await createProofChallenge("a key of somebody's own", purpose);
  expect(await signUp(await solveForToken(forgedChallenge))).toMatchObject(refused);
  const empty = await createProofChallenge("x", purpose);
  empty.signature = "";
  expect(await signUp(await solveForToken(empty))).toMatchObject(refused);
});

test("a challenge below the required difficulty is invalid, also with the server's signature", async () => {
  const { parameters, signature = "" } = await createChallenge({
    deriveKey,
    hmacSignatureSecret: env.ALTCHA_HMAC_KEY,
    hmacKeySignatureSecret: `${env.ALTCHA_HMAC_KEY}:key`,
    algorithm: "PBKDF2/SHA-256",
    cost: 1,
    counter: 1,
    expiresAt: Math.floor(Date.now() / 1_000) + 300,
    data: (await createProofChallenge(env.ALTCHA_HMAC_KEY, purpose)).parameters.data ?? {},
  });
  expect(await signUp(await solveForToken({ parameters: { ...parameters }, signature }))).toMatchObject(refused);
});

test("attempts with invalid proofs create no account", async () => {
  const row = await env.DB.prepare("SELECT count(*) AS n FROM users WHERE phone = ?").bind(phoneOf(2700)).first();
  expect(row).toEqual({ n: 0 });
  expect(await signUp(await work())).toMatchObject({ status: 200 });
});
