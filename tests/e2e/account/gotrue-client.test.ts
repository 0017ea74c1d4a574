import { Secret, TOTP } from "otpauth";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import {
  type Device,
  getData,
  getSession,
  makeAuthError,
  makeDevice,
  signIn,
  signUp,
  toRefusal,
} from "#tests/support/identity/gotrue-device.ts";
import { callSite, makeCaptchaToken, phoneOf, type Site, testPassword } from "#tests/support/people/people.ts";
import { type Mail, parseMail, readMails } from "#tests/support/server/mailbox.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";

/**
 * Tests a client library of the public GoTrue API, as published on npm, against the running product. No browser is
 * needed.
 */

const clientUrl = "http://localhost:4999/welcome";

let server: Server;
let site: Site;
test.beforeAll(async () => {
  server = await startServer({ vars: { REDIRECT_URLS: clientUrl }, byWrangler: true });
  site = { origin: server.origin, fetch };
});
test.afterAll(() => server.stop());

let people = 0;
const nextPhone = (): string => phoneOf(7_300 + ++people);

const codeOf = (secret: string, steps: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Content of the newest mail of a kind to this address, once it arrived. */
const mailTo = async (address: string, isIt: (mail: Mail) => boolean = () => true): Promise<Mail> => {
  let found: Mail | undefined;
  await expect(async () => {
    found = (await readMails(site.origin, address)).find(isIt);
    expect(found).toBeDefined();
  }).toPass();
  if (!found) throw new Error("no mail");
  return found;
};

test("signs up, reads the own user, refreshes, and signs in again", async () => {
  const device = await makeDevice(site);
  const { client, events } = device;
  const { phone, session } = await signUp(site, device, nextPhone());
  expect(session).toMatchObject({ token_type: "bearer", expires_in: 600, user: { phone, role: "authenticated" } });
  expect(session.expires_at).toBeGreaterThan(Date.now() / 1_000 + 500);

  const { user } = getData(await client.getUser());
  expect(user).toMatchObject({ id: session.user.id, aud: "authenticated", user_metadata: { username: "Ana Mbo" } });
  expect(new Date(user.created_at).getTime()).toBeGreaterThan(Date.now() - 60_000);

  const next = getSession(getData(await client.refreshSession()));
  expect(next.refresh_token).not.toBe(session.refresh_token);
  expect(getSession((await client.getSession()).data).access_token).toBe(next.access_token);
  expect(events).toEqual(["INITIAL_SESSION", "SIGNED_IN", "TOKEN_REFRESHED"]);

  const other = await makeDevice(site);
  expect((await signIn(other, phone)).user.id).toBe(user.id);
  // Session that one device passes to another.
  const third = await makeDevice(site);
  const taken = getData(
    await third.client.setSession({ access_token: next.access_token, refresh_token: next.refresh_token }),
  );
  expect(taken.user?.id).toBe(user.id);
});

const mailProof = (email: string) => makeCaptchaToken(site, { action: "recover", subject: email });

test("reads the claims of its session, and changes the name but not the number", async () => {
  const device = await makeDevice(site);
  const { client } = device;
  const { phone, session } = await signUp(site, device, nextPhone());
  const { data: claims, error } = await client.getClaims();
  expect(error).toBeNull();
  expect(claims?.claims.sub).toBe(session.user.id);
  const named = getData(await client.updateUser({ data: { username: "Ana Neuve" } }));
  expect(named.user.user_metadata).toEqual({ username: "Ana Neuve" });
  expect(toRefusal(await client.updateUser({ phone: nextPhone() }))).toEqual(makeAuthError(400, "validation_failed"));
  expect(getData(await client.getUser()).user.phone).toBe(phone);
});

test("receives the error code of every refusal", async () => {
  const device = await makeDevice(site);
  const { client } = device;
  const { phone } = await signUp(site, device, nextPhone());
  const captchaToken = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
  const again = { phone, password: testPassword, options: { captchaToken } };
  expect(toRefusal(await client.signUp(again))).toEqual(makeAuthError(422, "phone_exists"));
  expect(toRefusal(await client.signUp({ phone: nextPhone(), password: testPassword }))).toEqual(
    makeAuthError(400, "captcha_failed"),
  );
  expect(toRefusal(await client.signInWithPassword({ phone, password: "Wrong2026" }))).toEqual(
    makeAuthError(400, "invalid_credentials"),
  );
  expect(toRefusal(await client.signInWithPassword({ phone: "x", password: "Wrong2026" }))).toEqual(
    makeAuthError(400, "validation_failed"),
  );
  const weak = await client.updateUser({ password: "faible" });
  expect(weak.error).toMatchObject({ name: "AuthWeakPasswordError", status: 422, code: "weak_password" });
  expect(toRefusal(await client.updateUser({ password: testPassword }))).toEqual(makeAuthError(422, "same_password"));
  expect(toRefusal(await client.refreshSession({ refresh_token: "none" }))).toEqual(
    makeAuthError(400, "refresh_token_not_found"),
  );
  const stranger = await makeDevice(site);
  expect((await stranger.client.getUser()).error?.name).toBe("AuthSessionMissingError");
  const { client: guesser } = await makeDevice(site, "203.0.113.9");
  const guess = (phone: string, captchaToken = "") =>
    guesser.signInWithPassword({ phone, password: "Wrong2026", options: { captchaToken } });
  const other = nextPhone();
  const headers = { "cf-connecting-ip": "203.0.113.9" };
  const prove = () => makeCaptchaToken(site, { action: "sign_in", subject: other }, headers);
  for (let n = 0; n < 3; n++) expect(toRefusal(await guess(other))).toEqual(makeAuthError(400, "invalid_credentials"));
  // From the fourth failure of an address on, an attempt needs a proof of work.
  for (let n = 0; n < 2; n++) {
    expect(toRefusal(await guess(other))).toEqual(makeAuthError(400, "captcha_failed"));
    expect(toRefusal(await guess(other, await prove()))).toEqual(makeAuthError(400, "invalid_credentials"));
  }
  expect(toRefusal(await guess(other, await prove()))).toEqual(makeAuthError(429, "rate_limited"));
  expect(toRefusal(await guess(nextPhone()))).toEqual(makeAuthError(400, "captcha_failed"));
});

test("enrols a code app, is asked for a code at the next sign-in, and removes it", async () => {
  const device = await makeDevice(site);
  const { client, events } = device;
  const { phone } = await signUp(site, device, nextPhone());
  const level = async ({ client: asking }: Device) => {
    const { currentLevel, nextLevel } = getData(await asking.mfa.getAuthenticatorAssuranceLevel());
    return [currentLevel, nextLevel];
  };
  expect(await level(device)).toEqual(["aal1", "aal1"]);

  const enrolled = getData(
    await client.mfa.enroll({ factorType: "totp", friendlyName: "Téléphone", issuer: "Lisolo" }),
  );
  expect(enrolled).toMatchObject({ type: "totp", friendly_name: "Téléphone" });
  expect(enrolled.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg/);
  expect(enrolled.totp.uri).toContain(enrolled.totp.secret);
  const { id: factorId, totp } = enrolled;
  expect(getData(await client.mfa.listFactors())).toMatchObject({
    all: [{ id: factorId, status: "unverified" }],
    totp: [],
  });
  const asked = getData(await client.mfa.challenge({ factorId }));
  expect(asked.expires_at).toBeGreaterThan(Date.now() / 1_000);
  const wrong = await client.mfa.verify({ factorId, challengeId: asked.id, code: "000000" });
  expect(toRefusal(wrong)).toEqual(makeAuthError(422, "mfa_verification_failed"));
  const verified = getData(await client.mfa.verify({ factorId, challengeId: asked.id, code: codeOf(totp.secret, 0) }));
  expect(verified.user.factors).toMatchObject([{ id: factorId, status: "verified" }]);
  expect(events.at(-1)).toBe("MFA_CHALLENGE_VERIFIED");
  expect(await level(device)).toEqual(["aal2", "aal2"]);
  expect(getData(await client.mfa.listFactors()).totp).toMatchObject([{ id: factorId }]);

  const other = await makeDevice(site);
  const half = await signIn(other, phone);
  expect(await level(other)).toEqual(["aal1", "aal2"]);
  // The second factor is pending: the session may show it, and nothing else.
  expect(toRefusal(await other.client.updateUser({ password: "Nouveau2026" }))).toEqual(
    makeAuthError(401, "insufficient_aal"),
  );
  expect(toRefusal(await other.client.mfa.unenroll({ factorId }))).toEqual(makeAuthError(401, "insufficient_aal"));
  const code = codeOf(totp.secret, 1); // valid already, and still if the half minute ends meanwhile
  const whole = getData(await other.client.mfa.challengeAndVerify({ factorId, code }));
  expect(whole.access_token).not.toBe(half.access_token);
  expect(await level(other)).toEqual(["aal2", "aal2"]);
  const { currentAuthenticationMethods } = getData(await other.client.mfa.getAuthenticatorAssuranceLevel());
  expect(currentAuthenticationMethods.map((one) => (typeof one === "string" ? one : one.method))).toEqual([
    "totp",
    "password",
  ]);
  expect(getData(await other.client.refreshSession()).user?.id).toBe(half.user.id);

  const used = await other.client.mfa.challengeAndVerify({ factorId, code });
  expect(toRefusal(used)).toEqual(makeAuthError(422, "mfa_verification_failed"));
  expect(getData(await other.client.mfa.unenroll({ factorId })).id).toBe(factorId);
  expect(getData(await other.client.mfa.listFactors()).all).toEqual([]);
  const third = await makeDevice(site);
  await signIn(third, phone);
  expect(await level(third)).toEqual(["aal1", "aal1"]);
  const gone = await third.client.mfa.challenge({ factorId });
  expect(toRefusal(gone)).toEqual(makeAuthError(404, "mfa_factor_not_found"));
});

test("changes the password, which signs the other devices out", async () => {
  const [device, other] = [await makeDevice(site), await makeDevice(site)];
  const { phone } = await signUp(site, device, nextPhone());
  await signIn(other, phone);
  const changed = getData(await device.client.updateUser({ password: "Nouveau2026" }));
  expect(changed.user.phone).toBe(phone);
  expect(device.events.at(-1)).toBe("USER_UPDATED");
  expect(getData(await device.client.getUser()).user.phone).toBe(phone);
  const { error } = await other.client.getUser();
  expect(error?.name).toBe("AuthSessionMissingError");
  const third = await makeDevice(site);
  expect(toRefusal(await third.client.signInWithPassword({ phone, password: testPassword }))).toEqual(
    makeAuthError(400, "invalid_credentials"),
  );
  expect((await signIn(third, phone, "Nouveau2026")).user.phone).toBe(phone);
});

/** Person with a recovery address, set and confirmed through the library. */
const makeRecoverable = async (email: string): Promise<string> => {
  const device = await makeDevice(site);
  const { phone } = await signUp(site, device, nextPhone());
  getData(await device.client.updateUser({ email }));
  const { token: token_hash } = parseMail(await mailTo(email));
  const { error } = await device.client.verifyOtp({ token_hash, type: "email_change" });
  expect(error).toBeNull();
  expect(getData(await device.client.getUser()).user.email).toBe(email);
  return phone;
};
const used = new Set<string>();
const isRecovery = ({ text }: Mail) => text.includes("type=recovery");

test("recovers by the content of a mail: the link's token, and the typed code", async () => {
  const email = "ana@recovery.example";
  const phone = await makeRecoverable(email);
  for (const [by, password] of [
    ["token", "Retrouve2026"],
    ["code", "Encore2026"],
  ] as const) {
    const { client, events } = await makeDevice(site);
    getData(await client.resetPasswordForEmail(email, { captchaToken: await mailProof(email) }));
    const mail = await mailTo(email, (one) => isRecovery(one) && !used.has(one.text));
    used.add(mail.text);
    const { token: token_hash, code } = parseMail(mail);
    const shown =
      by === "token"
        ? await client.verifyOtp({ token_hash, type: "recovery" })
        : await client.verifyOtp({ email, token: code, type: "recovery" });
    expect(getData(shown).user?.phone).toBe(phone);
    expect(events).toContain("PASSWORD_RECOVERY");
    expect(toRefusal(await client.verifyOtp({ token_hash, type: "recovery" }))).toEqual(
      makeAuthError(403, "otp_expired"),
    );
    getData(await client.updateUser({ password }));
    expect((await signIn(await makeDevice(site), phone, password)).user.phone).toBe(phone);
  }
  const { client } = await makeDevice(site);
  const unknown = await client.resetPasswordForEmail("nobody@recovery.example", {
    captchaToken: await mailProof("nobody@recovery.example"),
  });
  expect(unknown).toEqual({ data: {}, error: null });
  expect(toRefusal(await client.resetPasswordForEmail(email))).toEqual(makeAuthError(400, "captcha_failed"));
});
test("recovers by a link that redirects to the requesting client, by PKCE", async () => {
  const email = "ben@recovery.example";
  const phone = await makeRecoverable(email);
  const { client, events } = await makeDevice(site);
  getData(await client.resetPasswordForEmail(email, { redirectTo: clientUrl, captchaToken: await mailProof(email) }));
  const { link } = parseMail(await mailTo(email, isRecovery));
  // The app's own page, which the link opens, does the same.
  const parameters = new URLSearchParams(new URL(link).hash.slice(1));
  const body = { token_hash: parameters.get("token"), redirect_to: parameters.get("redirect_to") };
  const traded = await callSite(site, "POST", "/api/auth/verify/redirect", { body });
  const back = new URL((traded.body as { url: string }).url);
  expect(back.origin + back.pathname).toBe(clientUrl);
  const code = back.searchParams.get("code") ?? "";

  const thief = await makeDevice(site);
  getData(
    await thief.client.resetPasswordForEmail("thief@recovery.example", {
      captchaToken: await mailProof("thief@recovery.example"),
    }),
  );
  expect(toRefusal(await thief.client.exchangeCodeForSession(code))).toEqual(makeAuthError(400, "bad_code_verifier"));
  expect(getData(await client.exchangeCodeForSession(code)).user.phone).toBe(phone);
  expect(events).toContain("PASSWORD_RECOVERY");
  getData(await client.updateUser({ password: "ParLien2026" }));
  expect((await signIn(await makeDevice(site), phone, "ParLien2026")).user.phone).toBe(phone);
});

test("signs out here, everywhere else, and everywhere", async () => {
  const [one, two, three] = [await makeDevice(site), await makeDevice(site), await makeDevice(site)];
  const { phone } = await signUp(site, one, nextPhone());
  const isIn = async ({ client }: Device) => (await client.getUser()).error === null;
  await signIn(two, phone);
  await signIn(three, phone);
  getData(await two.client.signOut({ scope: "local" }));
  expect(two.events.at(-1)).toBe("SIGNED_OUT");
  expect([await isIn(one), await isIn(two), await isIn(three)]).toEqual([true, false, true]);
  await signIn(two, phone);
  getData(await two.client.signOut({ scope: "others" }));
  expect(two.events.at(-1)).toBe("SIGNED_IN");
  expect([await isIn(one), await isIn(two), await isIn(three)]).toEqual([false, true, false]);
  await signIn(one, phone);
  const { refresh_token } = getSession((await two.client.getSession()).data);
  getData(await one.client.signOut());
  expect([await isIn(one), await isIn(two)]).toEqual([false, false]);
  expect(toRefusal(await three.client.refreshSession({ refresh_token }))).toEqual(
    makeAuthError(400, "session_revoked"),
  );
});

test("the server's output contains nothing that anybody typed or received", async () => {
  const device = await makeDevice(site);
  const { session } = await signUp(site, device, nextPhone());
  const next = getSession(getData(await device.client.refreshSession()));
  getSession(getData(await device.client.refreshSession()));
  const old = await device.client.refreshSession({ refresh_token: session.refresh_token });
  expect(toRefusal(old)).toEqual(makeAuthError(400, "refresh_token_already_used"));
  await expect.poll(() => server.log()).toContain("a refresh token was reused");
  const printed = server.log();
  for (const secret of [session.refresh_token, next.refresh_token, ...Object.values(server.secrets)]) {
    expect(printed).not.toContain(secret);
  }
  expect(printed).not.toMatch(/24381000|@recovery\.example|Masolo|Nouveau|Retrouve|eyJ[\w-]+\.|\$scrypt/);
});
