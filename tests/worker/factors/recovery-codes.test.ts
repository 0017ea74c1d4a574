import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { recoveryCodesCount } from "#contract/limits.ts";
import { until } from "#tests/worker/support/device.ts";
import { call, newPerson } from "#tests/worker/support/site.ts";
import {
  codeOf,
  eventsOf,
  makeRecoveryCodes,
  mayChange,
  newGuarded,
  readAllRows,
  showCode,
  showRecoveryCode,
  signInByCode,
  signInHalfway,
  startClock,
  stopClock,
  wait,
} from "#tests/worker/support/with-second-factor.ts";
import { findRecoveryCode } from "#worker/auth/second-factor/recovery-codes.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";

beforeEach(stopClock);
afterEach(startClock);

const wrong = { status: 422, body: { error_code: "mfa_verification_failed" } };
const leftOf = (user: string) =>
  env.DB.prepare("SELECT count(*) AS n FROM recovery_codes WHERE user_id = ?").bind(user).first<number>("n");

test("ten codes are told once, each of 120 bits, and none of them is stored", async () => {
  const ana = await newPerson();
  const codes = await makeRecoveryCodes(ana);
  expect(codes).toHaveLength(recoveryCodesCount);
  expect(new Set(codes).size).toBe(recoveryCodesCount);
  // 24 characters of 32: no letter that resembles another letter or a digit.
  for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){2}[0-9a-hjkmnp-tv-z]{4}$/);
  const rows = (await readAllRows()).toLowerCase();
  for (const code of codes) {
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(code.replaceAll("-", ""));
  }
  expect((await call("GET", "/api/auth/security", { token: ana.token })).body).toMatchObject({ recovery_codes: 10 });
  await until(async () => (await eventsOf(ana.id)).includes("recovery_codes_made"));
});

test("new codes make the old ones void", async () => {
  const ana = await newPerson();
  const [old = ""] = await makeRecoveryCodes(ana);
  const [fresh = ""] = await makeRecoveryCodes(ana);
  expect(await leftOf(ana.id)).toBe(recoveryCodesCount);
  expect(await showRecoveryCode(ana, old)).toMatchObject(wrong);
  expect((await showRecoveryCode(ana, fresh)).status).toBe(200);
});

test("codes are made only after a fresh proof", async () => {
  const ana = await newPerson();
  wait(301);
  expect(await call("POST", "/api/auth/recovery-codes", { token: ana.token })).toMatchObject({
    status: 403,
    body: { error_code: "reauthentication_needed" },
  });
  expect(await leftOf(ana.id)).toBe(0);
});

test("a code stands for the second step, once, and however it is typed", async () => {
  const ana = await newGuarded();
  const codes = await makeRecoveryCodes(ana);
  const half = await signInHalfway(ana);
  expect(half.awaits).toEqual(["totp", "recovery_code"]);
  const typed = ` ${(codes[0] ?? "").toUpperCase().replaceAll("-", " – ").replaceAll("0", "O").replaceAll("1", "l")}`;
  const shown = await showRecoveryCode(half, typed);
  expect(shown.status).toBe(200);
  expect((shown.body as Session).awaits).toBeUndefined();
  expect((await call("GET", "/api/contacts", { token: (shown.body as Session).access_token })).status).toBe(200);
  expect(await leftOf(ana.id)).toBe(9);
  expect(await showRecoveryCode(await signInHalfway(ana), codes[0] ?? "")).toMatchObject(wrong);
});

test("one code brought at once by several devices lets one of them in", async () => {
  const ana = await newGuarded();
  const [code = ""] = await makeRecoveryCodes(ana);
  const halves = [await signInHalfway(ana), await signInHalfway(ana), await signInHalfway(ana)];
  const answers = await Promise.all(halves.map((half) => showRecoveryCode(half, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  expect(await leftOf(ana.id)).toBe(9);
});

test("one code brought at once to get in without the password gets in once", async () => {
  const ana = await newPerson();
  const [code = ""] = await makeRecoveryCodes(ana);
  const db = openDb(env);
  const found = await findRecoveryCode(db, env, ana.id, code);
  const begun = Array.from({ length: 10 }, () =>
    insertSession(db, createSessionRow(ana.id, Date.now(), { methods: "recovery_code" }), found?.ground),
  );
  expect((await Promise.all(begun)).filter((session) => session !== undefined)).toHaveLength(1);
  expect(await leftOf(ana.id)).toBe(9);
});

test("a code counts as a proof, for tokens made from then on", async () => {
  const ana = await newPerson();
  const [code = ""] = await makeRecoveryCodes(ana);
  wait(301);
  const shown = (await showRecoveryCode(ana, code)).body as Session;
  expect(await mayChange({ token: shown.access_token })).toBe(true);
  expect(await mayChange(ana)).toBe(false);
});

test("somebody else's code is wrong and stays good", async () => {
  const [ana, ben] = [await newGuarded(), await newGuarded()];
  const [code = ""] = await makeRecoveryCodes(ana);
  await makeRecoveryCodes(ben);
  expect(await showRecoveryCode(await signInHalfway(ben), code)).toMatchObject(wrong);
  expect(await leftOf(ana.id)).toBe(recoveryCodesCount);
  expect((await showRecoveryCode(await signInHalfway(ana), code)).status).toBe(200);
});

test("codes are tried a few at a time, and the code app still goes", async () => {
  const ana = await newGuarded();
  await makeRecoveryCodes(ana);
  const half = await signInHalfway(ana);
  for (let n = 0; n < 5; n++) expect(await showRecoveryCode(half, "0000-0000")).toMatchObject(wrong);
  const refused = await showRecoveryCode(half, "0000-0000");
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await showCode(half, ana.factor, codeOf(ana.secret))).status).toBe(200);
});

test("the paper that stood for the password does not stand for the second step too", async () => {
  const ana = await newGuarded();
  const codes = await makeRecoveryCodes(ana);
  const half = await signInByCode(ana, codes[0] ?? "");
  expect(half.awaits).toEqual(["totp"]);
  expect(await showRecoveryCode({ token: half.access_token }, codes[1] ?? "")).toMatchObject(wrong);
  expect(await leftOf(ana.id)).toBe(9);

  const whole = await showCode({ token: half.access_token }, ana.factor, codeOf(ana.secret));
  expect(whole.status).toBe(200);
  const { access_token: token } = whole.body as Session;
  wait(301);
  expect(await showRecoveryCode({ token }, codes[1] ?? "")).toMatchObject(wrong);
  expect(await mayChange({ token })).toBe(false);
  expect(await leftOf(ana.id)).toBe(9);
});

test("where no second step is asked for, a code begins a session and counts in it", async () => {
  const ana = await newPerson();
  const codes = await makeRecoveryCodes(ana);
  const session = await signInByCode(ana, codes[0] ?? "");
  expect(session.awaits).toBeUndefined();
  wait(301);
  const shown = await showRecoveryCode({ token: session.access_token }, codes[1] ?? "");
  expect(shown.status).toBe(200);
  expect(await mayChange({ token: (shown.body as Session).access_token })).toBe(true);
});
