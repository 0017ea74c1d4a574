import { env } from "cloudflare:workers";
import { Secret, URI } from "otpauth";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Enrolled } from "#contract/auth/factors.ts";
import { createUuid } from "#contract/ids.ts";
import { factorsMax } from "#contract/limits/authentication.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { call, drainBucket, makePerson, toLimitKey } from "#tests/worker/support/site.ts";
import {
  advanceFrozenClock,
  challengeFactor,
  enrollFactor,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  makeRecoveryCodes,
  makeWrongCode,
  readDirectoryText,
  readSecurityEvents,
  resumeClock,
  signIn,
  signInPending,
  verifyCode,
  verifyFactor,
  verifyRecoveryCode,
} from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { resealSecrets } from "#worker/auth/second-factor/key-rotation.ts";
import { findTotpStep } from "#worker/auth/second-factor/totp.ts";

beforeEach(freezeClock);
afterEach(resumeClock);

const wrong = { status: 422, body: { error_code: "mfa_verification_failed" } };
const tooLate = { status: 422, body: { error_code: "mfa_challenge_expired" } };
const noFactor = { status: 404, body: { error_code: "mfa_factor_not_found" } };

/** Forgets recent code attempts. */
const refill = (user: string) =>
  env.DB.prepare("DELETE FROM rate_limits WHERE key LIKE 'totp%' AND key LIKE ?").bind(`%${user}`).run();

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("%i s after 1970 the code of RFC 6238's secret is its %s", (seconds, code) => {
  const secret = Uint8Array.from(new TextEncoder().encode("12345678901234567890"));
  expect(findTotpStep(secret, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
});

test("a code app survives a change of the encryption key if it was used in between", async () => {
  const [ana, ben] = [await makePersonWithCodeApp(), await makePersonWithCodeApp()];
  const next = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  const show = async (changed: object, { token, factor, secret }: typeof ana, steps: number) => {
    const challenge_id = await challengeFactor({ token }, factor);
    const body = { challenge_id, code: makeCode(secret, steps) };
    return callWith(changed, "POST", `/api/auth/factors/${factor}/verify`, { token, body });
  };
  const sealedOf = ({ factor }: typeof ana) =>
    env.DB.prepare("SELECT secret FROM factors WHERE id = ?").bind(factor).first<string>("secret");
  const before = await sealedOf(ana);
  const first = await show({ FACTOR_KEY_NEXT: next }, ana, 0);
  expect(first.status).toBe(200);
  const { access_token: token } = first.body as Session;
  const after = await sealedOf(ana);
  expect(after).not.toBe(before);
  expect((await show({ FACTOR_KEY_NEXT: next }, { ...ana, token }, 1)).status).toBe(200);
  expect(await sealedOf(ana)).toBe(after);

  // From here on only the next code is valid.
  advanceFrozenClock(60);
  const kept = await signInPending(ana);
  expect((await show({ FACTOR_KEY: next }, { ...ana, token: kept.token }, 0)).status).toBe(200);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect((await show({ FACTOR_KEY: next }, ben, 0)).status).toBe(500);
  vi.restoreAllMocks();
  expect((await show({}, ben, 0)).status).toBe(200);
});

test("the secret of an unused code app is sealed with the new key by the hourly job", async () => {
  const ana = await makePersonWithCodeApp();
  const next = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  // Other tests leave rows that no key opens. They are logged and do not delay the others.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const warnLog = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const changing = { ...env, FACTOR_KEY_NEXT: next };
  await resealSecrets(changing);
  const left = await env.DB.prepare(
    "SELECT count(*) AS n FROM factors WHERE substr(secret, 1, 7) <> (SELECT substr(secret, 1, 7) FROM factors WHERE id = ?)",
  )
    .bind(ana.factor)
    .first<number>("n");
  // Objects of other tests may log errors too.
  expect(warnLog.mock.calls.map(([line]) => line)).toContainEqual(expect.stringMatching(new RegExp(`: ${left}$`)));

  const tokens = await signInPending(ana);
  const body = { challenge_id: await challengeFactor(tokens, ana.factor), code: makeCode(ana.secret) };
  const shown = await callWith({ FACTOR_KEY: next }, "POST", `/api/auth/factors/${ana.factor}/verify`, {
    token: tokens.token,
    body,
  });
  expect(shown.status).toBe(200);
});

test("a new code app's secret is shown once, as text and as a picture that GoTrue's clients can show", async () => {
  const ana = await makePerson();
  const { id, friendly_name, type, totp } = await enrollFactor(ana);
  expect({ friendly_name, type }).toEqual({ friendly_name: "TOTP 1", type: "totp" });
  const read = URI.parse(totp.uri);
  expect(read).toMatchObject({ issuer: "Lisolo", label: ana.phone, algorithm: "SHA1", digits: 6, period: 30 });
  expect(totp.uri.startsWith(`otpauth://totp/Lisolo:${encodeURIComponent(ana.phone)}?`)).toBe(true);
  expect(read.secret.base32).toBe(totp.secret);
  expect(read.secret.bytes).toHaveLength(20);
  expect(totp.qr_code).toMatch(/^<svg .*<\/svg>$/);
  const address = new URL(`data:image/svg+xml;utf-8,${totp.qr_code}`);
  expect(decodeURIComponent(address.pathname + address.hash + address.search)).toContain("</svg>");
  expect(address.hash + address.search).toBe("");
  const me = (await call("GET", "/api/auth/user", { token: ana.token })).body;
  expect(me).toMatchObject({ factors: [{ id, factor_type: "totp", status: "unverified" }] });
  expect(JSON.stringify(me)).not.toContain(totp.secret);
});

test("a code app shows the name of the requesting client, or Lisolo by default", async () => {
  const ana = await makePerson();
  const add = (issuer: unknown) =>
    call("POST", "/api/auth/factors", { token: ana.token, body: { factor_type: "totp", issuer } });
  for (const [issuer, called] of [
    ["Lisolo · Kinshasa", "Lisolo · Kinshasa"],
    [" Kivu: chat & appels ", "Kivu: chat & appels"],
    ["", "Lisolo"],
    [undefined, "Lisolo"],
  ]) {
    const { totp } = (await add(issuer)).body as Enrolled;
    expect(new URL(totp.uri).searchParams.get("issuer")).toBe(called);
    expect(decodeURIComponent(totp.uri)).toContain(`otpauth://totp/${called}:${ana.phone}?`);
  }
  for (const issuer of ["\ud800", "Li\u202eolos", "x".repeat(51), 7]) expect((await add(issuer)).status).toBe(400);
});

test("its secret is never stored in clear, and is valid only in its own row", async () => {
  const [ana, ben] = [await makePersonWithCodeApp(), await makePersonWithCodeApp()];
  const rows = await readDirectoryText();
  expect(rows).toContain(ana.factor);
  const bytes = Buffer.from(Secret.fromBase32(ana.secret).bytes);
  for (const form of [ana.secret, bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("latin1")]) {
    expect(rows).not.toContain(form);
  }
  expect(rows.toLowerCase()).not.toContain(bytes.toString("hex"));

  // Ben's secret in Ana's row cannot be opened, so write access to the table gains nothing.
  await env.DB.prepare("UPDATE factors SET secret = (SELECT secret FROM factors WHERE id = ?) WHERE id = ?")
    .bind(ben.factor, ana.factor)
    .run();
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect((await verifyCode(ana, ana.factor, makeCode(ben.secret))).status).toBe(500);
  vi.restoreAllMocks();
});

test("a code app counts from its first right code on; an unconfirmed one is replaced", async () => {
  const ana = await makePerson();
  const first = await enrollFactor(ana, "Téléphone");
  expect((await signIn(ana)).awaits).toBeUndefined();
  const second = await enrollFactor(ana, "Tablette");
  expect((await signIn(ana)).user.factors).toMatchObject([{ id: second.id, friendly_name: "Tablette" }]);
  expect(await call("POST", `/api/auth/factors/${first.id}/challenge`, { token: ana.token })).toMatchObject(noFactor);
  expect(await verifyCode(ana, second.id, makeWrongCode(second.totp.secret))).toMatchObject(wrong);
  expect((await signIn(ana)).awaits).toBeUndefined();
  expect(await readSecurityEvents(ana.id)).not.toContain("factor_added");

  const answer = await verifyCode(ana, second.id, makeCode(second.totp.secret));
  expect(answer).toMatchObject({ status: 200, body: { user: { factors: [{ id: second.id, status: "verified" }] } } });
  expect((await signIn(ana)).awaits).toEqual(["totp"]);
  await waitUntil(async () => (await readSecurityEvents(ana.id)).includes("factor_added"));
});

test("a person has at most five code apps", async () => {
  const ana = await makePerson();
  let token = ana.token;
  for (let n = 0; n < factorsMax; n++) {
    const { id, totp } = await enrollFactor({ token });
    const shown = await verifyCode({ token }, id, makeCode(totp.secret));
    expect(shown.status).toBe(200);
    token = (shown.body as Session).access_token;
    advanceFrozenClock(10);
  }
  const body = { factor_type: "totp" };
  expect(await call("POST", "/api/auth/factors", { token, body })).toMatchObject({
    status: 422,
    body: { error_code: "too_many_enrolled_mfa_factors" },
  });
});

test("a code is valid in its own half minute, the one before and the one after", async () => {
  const ana = await makePersonWithCodeApp();
  advanceFrozenClock(300);
  for (const steps of [-2, 2])
    expect(await verifyCode(ana, ana.factor, makeCode(ana.secret, steps))).toMatchObject(wrong);
  advanceFrozenClock(60);
  let { token } = ana;
  for (const steps of [-1, 0, 1]) {
    const shown = await verifyCode({ token }, ana.factor, ` ${makeCode(ana.secret, steps).replace(/^.../, "$& ")}`);
    expect(shown.status).toBe(200);
    token = (shown.body as Session).access_token;
  }
});

test("a code is accepted once, however many use it at once", async () => {
  const ana = await makePersonWithCodeApp();
  const code = makeCode(ana.secret);
  const questions = await Promise.all(Array.from({ length: 10 }, () => challengeFactor(ana, ana.factor)));
  const answers = await Promise.all(questions.map((question) => verifyFactor(ana, ana.factor, question, code)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 422).length).toBeGreaterThan(2);

  // It is not valid later, on another device, or with the code of the step before either.
  await refill(ana.id);
  const half = await signInPending(ana);
  for (const old of [code, makeCode(ana.secret, -1)])
    expect(await verifyCode(half, ana.factor, old)).toMatchObject(wrong);
});

test("one code used at once by several pending sessions admits one of them", async () => {
  const ana = await makePersonWithCodeApp();
  const code = makeCode(ana.secret);
  const halves = [await signInPending(ana), await signInPending(ana), await signInPending(ana)];
  const questions = await Promise.all(halves.map((half) => challengeFactor(half, ana.factor)));
  const answers = await Promise.all(halves.map((half, n) => verifyFactor(half, ana.factor, questions[n] ?? "", code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
});

test("a challenge is valid for one session and one code app, for five minutes, until it is answered", async () => {
  const [ana, ben] = [await makePersonWithCodeApp(), await makePersonWithCodeApp()];
  const half = await signInPending(ana);
  const [anasChallenge, bensChallenge] = [
    await challengeFactor(ana, ana.factor),
    await challengeFactor(ben, ben.factor),
  ];
  for (const other of [anasChallenge, bensChallenge, createUuid()]) {
    expect(await verifyFactor(half, ana.factor, other, makeCode(ana.secret))).toMatchObject(tooLate);
  }
  const more = await enrollFactor(ana);
  expect(await verifyFactor(ana, more.id, anasChallenge, makeCode(more.totp.secret))).toMatchObject(tooLate);

  const old = await challengeFactor(half, ana.factor);
  advanceFrozenClock(301);
  expect(await verifyFactor(half, ana.factor, old, makeCode(ana.secret))).toMatchObject(tooLate);

  // A typo needs no new challenge; the right answer consumes it.
  const question = await challengeFactor(ana, ana.factor);
  expect(await verifyFactor(ana, ana.factor, question, makeWrongCode(ana.secret))).toMatchObject(wrong);
  const shown = await verifyFactor(ana, ana.factor, question, makeCode(ana.secret));
  expect(shown.status).toBe(200);
  advanceFrozenClock(60);
  const token = (shown.body as Session).access_token;
  expect(await verifyFactor({ token }, ana.factor, question, makeCode(ana.secret))).toMatchObject(tooLate);
});

test("another person's code app is not found, and their codes are wrong", async () => {
  const [ana, ben] = [await makePersonWithCodeApp(), await makePersonWithCodeApp()];
  expect(await call("POST", `/api/auth/factors/${ana.factor}/challenge`, { token: ben.token })).toMatchObject(noFactor);
  const question = await challengeFactor(ana, ana.factor);
  expect(await verifyFactor(ben, ana.factor, question, makeCode(ana.secret))).toMatchObject(noFactor);
  expect(await call("DELETE", `/api/auth/factors/${ana.factor}`, { token: ben.token })).toMatchObject(noFactor);
  expect(await verifyCode(ben, ben.factor, makeCode(ana.secret))).toMatchObject(wrong);
  expect((await signIn(ana)).awaits).toEqual(["totp"]);
});

test("attempts with codes are limited, and a recovery code still works afterwards", async () => {
  const ana = await makePersonWithCodeApp();
  const [code = ""] = await makeRecoveryCodes(ana);
  const half = await signInPending(ana);
  const question = await challengeFactor(half, ana.factor);
  for (let n = 0; n < 5; n++) {
    expect(await verifyFactor(half, ana.factor, question, makeWrongCode(ana.secret))).toMatchObject(wrong);
  }
  const refused = await verifyFactor(half, ana.factor, question, makeCode(ana.secret));
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await verifyRecoveryCode(half, code)).status).toBe(200);
});

test("after twenty wrong codes in a day from one address codes are refused there; right ones do not count", async () => {
  const ana = await makePersonWithCodeApp();
  const failures = () =>
    env.DB.prepare("SELECT full_at FROM rate_limits WHERE key = ?")
      .bind(`totp_failure_by_user_and_address:${ana.id} ${toLimitKey("local")}`)
      .first<number>("full_at");
  expect(await failures()).toBeNull();
  const half = await signInPending(ana);
  expect(await verifyCode(half, ana.factor, makeWrongCode(ana.secret))).toMatchObject(wrong);
  expect(await failures()).toBeGreaterThan(Date.now());
  await drainBucket("totp_failure_by_user_and_address", `${ana.id} ${toLimitKey("local")}`);
  expect((await verifyCode(half, ana.factor, makeCode(ana.secret))).status).toBe(429);
});

test("a confirmed code app is removed only with a fresh proof; an unconfirmed one without", async () => {
  const ana = await makePersonWithCodeApp();
  const pending = await enrollFactor(ana);
  advanceFrozenClock(301);
  const remove = (id: string) => call("DELETE", `/api/auth/factors/${id}`, { token: ana.token });
  expect(await remove(ana.factor)).toMatchObject({ status: 403, body: { error_code: "reauthentication_needed" } });
  expect(await remove(pending.id)).toMatchObject({ status: 200, body: { id: pending.id } });
  expect(await readSecurityEvents(ana.id)).not.toContain("factor_removed");

  const shown = await verifyCode(ana, ana.factor, makeCode(ana.secret));
  const token = (shown.body as Session).access_token;
  const codes = await makeRecoveryCodes({ token });
  expect(await call("DELETE", `/api/auth/factors/${ana.factor}`, { token })).toMatchObject({ status: 200 });
  await waitUntil(async () => (await readSecurityEvents(ana.id)).includes("factor_removed"));
  const whole = await signIn(ana);
  expect(whole).toMatchObject({ user: { factors: [] } });
  expect(whole.awaits).toBeUndefined();
  // They also work instead of a lost password.
  expect((await verifyRecoveryCode({ token: whole.access_token }, codes[0] ?? "")).status).toBe(200);
});
