import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { recoveryCodesCount } from "#contract/limits/authentication.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";
import {
  advanceFrozenClock,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  makeRecoveryCodes,
  mayChangeCredentials,
  readDirectoryText,
  readSecurityEvents,
  resumeClock,
  signInByRecoveryCode,
  signInPending,
  verifyCode,
  verifyRecoveryCode,
} from "#tests/worker/support/with-second-factor.ts";
import { findRecoveryCode } from "#worker/auth/second-factor/recovery-codes.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";

beforeEach(freezeClock);
afterEach(resumeClock);

const wrong = { status: 422, body: { error_code: "mfa_verification_failed" } };
const leftOf = (user: string) =>
  env.DB.prepare("SELECT count(*) AS n FROM recovery_codes WHERE user_id = ?").bind(user).first<number>("n");

test("ten codes are shown once, each of 60 bits, and none of them is stored", async () => {
  const ana = await makePerson();
  const codes = await makeRecoveryCodes(ana);
  expect(codes).toHaveLength(recoveryCodesCount);
  expect(new Set(codes).size).toBe(recoveryCodesCount);
  // 12 characters of 32: no letter that resembles another letter or a digit.
  for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){2}[0-9a-hjkmnp-tv-z]{4}$/);
  const rows = (await readDirectoryText()).toLowerCase();
  for (const code of codes) {
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(code.replaceAll("-", ""));
  }
  expect((await call("GET", "/api/auth/security", { token: ana.token })).body).toMatchObject({ recovery_codes: 10 });
  await waitUntil(async () => (await readSecurityEvents(ana.id)).includes("recovery_codes_made"));
});

test("new codes invalidate the old ones", async () => {
  const ana = await makePerson();
  const [old = ""] = await makeRecoveryCodes(ana);
  const [fresh = ""] = await makeRecoveryCodes(ana);
  expect(await leftOf(ana.id)).toBe(recoveryCodesCount);
  expect(await verifyRecoveryCode(ana, old)).toMatchObject(wrong);
  expect((await verifyRecoveryCode(ana, fresh)).status).toBe(200);
});

test("codes are created only with a fresh proof", async () => {
  const ana = await makePerson();
  advanceFrozenClock(301);
  expect(await call("POST", "/api/auth/recovery-codes", { token: ana.token })).toMatchObject({
    status: 403,
    body: { error_code: "reauthentication_needed" },
  });
  expect(await leftOf(ana.id)).toBe(0);
});

test("a code replaces the second factor, once, in any notation", async () => {
  const ana = await makePersonWithCodeApp();
  const codes = await makeRecoveryCodes(ana);
  const half = await signInPending(ana);
  expect(half.awaits).toEqual(["totp", "recovery_code"]);
  const typed = ` ${(codes[0] ?? "").toUpperCase().replaceAll("-", " – ").replaceAll("0", "O").replaceAll("1", "l")}`;
  const shown = await verifyRecoveryCode(half, typed);
  expect(shown.status).toBe(200);
  expect((shown.body as Session).awaits).toBeUndefined();
  expect((await call("GET", "/api/contacts", { token: (shown.body as Session).access_token })).status).toBe(200);
  expect(await leftOf(ana.id)).toBe(9);
  expect(await verifyRecoveryCode(await signInPending(ana), codes[0] ?? "")).toMatchObject(wrong);
});

test("one code used at once by several devices admits one of them", async () => {
  const ana = await makePersonWithCodeApp();
  const [code = ""] = await makeRecoveryCodes(ana);
  const halves = [await signInPending(ana), await signInPending(ana), await signInPending(ana)];
  const answers = await Promise.all(halves.map((half) => verifyRecoveryCode(half, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  expect(await leftOf(ana.id)).toBe(9);
});

test("one code used at once instead of the password admits one device", async () => {
  const ana = await makePerson();
  const [code = ""] = await makeRecoveryCodes(ana);
  const db = openDb(env);
  const found = await findRecoveryCode(db, env, [ana.id], code);
  const begun = Array.from({ length: 10 }, () =>
    insertSession(db, createSessionRow(ana.id, Date.now(), { methods: "recovery_code" }), found?.ground),
  );
  expect((await Promise.all(begun)).filter((session) => session !== undefined)).toHaveLength(1);
  expect(await leftOf(ana.id)).toBe(9);
});

test("a code counts as a proof, for tokens made from then on", async () => {
  const ana = await makePerson();
  const [code = ""] = await makeRecoveryCodes(ana);
  advanceFrozenClock(301);
  const shown = (await verifyRecoveryCode(ana, code)).body as Session;
  expect(await mayChangeCredentials({ token: shown.access_token })).toBe(true);
  expect(await mayChangeCredentials(ana)).toBe(false);
});

test("another person's code is refused and stays valid", async () => {
  const [ana, ben] = [await makePersonWithCodeApp(), await makePersonWithCodeApp()];
  const [code = ""] = await makeRecoveryCodes(ana);
  await makeRecoveryCodes(ben);
  expect(await verifyRecoveryCode(await signInPending(ben), code)).toMatchObject(wrong);
  expect(await leftOf(ana.id)).toBe(recoveryCodesCount);
  expect((await verifyRecoveryCode(await signInPending(ana), code)).status).toBe(200);
});

test("attempts with codes are limited, and the code app still works", async () => {
  const ana = await makePersonWithCodeApp();
  await makeRecoveryCodes(ana);
  const half = await signInPending(ana);
  for (let n = 0; n < 5; n++) expect(await verifyRecoveryCode(half, "0000-0000")).toMatchObject(wrong);
  const refused = await verifyRecoveryCode(half, "0000-0000");
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await verifyCode(half, ana.factor, makeCode(ana.secret))).status).toBe(200);
});

test("a recovery code used as the password does not replace the second factor too", async () => {
  const ana = await makePersonWithCodeApp();
  const codes = await makeRecoveryCodes(ana);
  const half = await signInByRecoveryCode(ana, codes[0] ?? "");
  expect(half.awaits).toEqual(["totp"]);
  expect(await verifyRecoveryCode({ token: half.access_token }, codes[1] ?? "")).toMatchObject(wrong);
  expect(await leftOf(ana.id)).toBe(9);

  const whole = await verifyCode({ token: half.access_token }, ana.factor, makeCode(ana.secret));
  expect(whole.status).toBe(200);
  const { access_token: token } = whole.body as Session;
  advanceFrozenClock(301);
  expect(await verifyRecoveryCode({ token }, codes[1] ?? "")).toMatchObject(wrong);
  expect(await mayChangeCredentials({ token })).toBe(false);
  expect(await leftOf(ana.id)).toBe(9);
});

test("without a second factor a code starts a session and counts as its factor", async () => {
  const ana = await makePerson();
  const codes = await makeRecoveryCodes(ana);
  const session = await signInByRecoveryCode(ana, codes[0] ?? "");
  expect(session.awaits).toBeUndefined();
  advanceFrozenClock(301);
  const shown = await verifyRecoveryCode({ token: session.access_token }, codes[1] ?? "");
  expect(shown.status).toBe(200);
  expect(await mayChangeCredentials({ token: (shown.body as Session).access_token })).toBe(true);
});
