import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { makeCaptchaToken, testPassword } from "#tests/support/people/people.ts";
import { withAdapters } from "#tests/worker/people/numbers/number-proofs.ts";
import {
  call,
  cookieSite,
  drainBucket,
  makePerson,
  refillBuckets,
  site,
  toCookieHeader,
  toLimitKey,
} from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { startAccountDeletion } from "#worker/account/queries.ts";
import { hashPassword } from "#worker/auth/passwords.ts";
import { insertUser } from "#worker/auth/queries.ts";
import { replaceRecoveryCodes } from "#worker/auth/second-factor/recovery-codes.ts";
import { openDb } from "#worker/db/client.ts";

/** Several accounts sign in by one number where numbers can be verified (docs/decisions/number-takeover.md). */

const claimantsPassword = "Mokonzi2026";

const register = async (phone: string, password: string) => {
  const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
  const body = { phone, password, gotrue_meta_security: { captcha_token } };
  return callWith(withAdapters(), "POST", "/api/auth/signup", { headers: cookieSite, body });
};
const signIn = (phone: string, password: string, cookie: string) =>
  callWith(withAdapters(), "POST", "/api/auth/token?grant_type=password", {
    headers: { ...cookieSite, cookie },
    body: { phone, password },
  });
const toDeviceCookie = (answer: Parameters<typeof toCookieHeader>[0]): string =>
  toCookieHeader(answer)
    .split("; ")
    .filter((one) => one.startsWith("__Host-lisolo-device="))
    .join();

test("whoever registers with somebody's number gets no attempts of their own to guess that person's password", async () => {
  await refillBuckets("sign_in_by_address");
  const victim = await makePerson();
  const ownersDevice = toDeviceCookie(await signIn(victim.phone, testPassword, ""));
  const registered = await register(victim.phone, claimantsPassword);
  const { id: attacker } = (registered.body as Session).user;
  const attackersDevice = toDeviceCookie(registered);
  expect([ownersDevice, attackersDevice].every((cookie) => cookie !== "")).toBe(true);

  // The attempts at the number from this address are used up.
  await drainBucket("sign_in_by_account_and_address", `${toLimitKey(victim.phone)} ${toLimitKey("local")}`);
  for (const password of ["Wrong2026", testPassword])
    expect(await signIn(victim.phone, password, attackersDevice)).toMatchObject({
      status: 429,
      body: { error_code: "rate_limited" },
    });
  // Each of the two still signs in on their own device.
  expect((await signIn(victim.phone, claimantsPassword, attackersDevice)).body).toMatchObject({
    user: { id: attacker },
  });
  expect((await signIn(victim.phone, testPassword, ownersDevice)).body).toMatchObject({ user: { id: victim.id } });

  // Nor does the attacker's device spare the proof of work that the number needs.
  await refillBuckets("sign_in_by_account_and_address");
  await drainBucket("sign_in_by_account", toLimitKey(victim.phone));
  expect((await signIn(victim.phone, testPassword, attackersDevice)).body).toMatchObject({
    error_code: "captcha_failed",
  });
  // A device of one of them signs in the other by the ordinary attempts.
  await refillBuckets("sign_in_by_account");
  expect((await signIn(victim.phone, testPassword, attackersDevice)).body).toMatchObject({ user: { id: victim.id } });
});

test("accounts that claim a number keep nobody who claimed it before from signing in on their device or by a recovery code", async () => {
  await refillBuckets("sign_in_by_address");
  const { phone } = await makePerson();
  const registered = await register(phone, claimantsPassword);
  const { user } = registered.body as Session;
  const [code = ""] = await replaceRecoveryCodes(openDb(env), env, user.id);
  const password_hash = await hashPassword(env, "Autre2026");
  for (let n = 0; n < 4; n++) await insertUser(openDb(env), { phone, username: "Autre", password_hash, isClaim: true });

  const onDevice = await signIn(phone, claimantsPassword, toDeviceCookie(registered));
  expect(onDevice.body).toMatchObject({ user: { id: user.id } });
  const captcha_token = await makeCaptchaToken(site, { action: "recover_by_code", subject: phone });
  const body = { phone, code, gotrue_meta_security: { captcha_token } };
  expect((await call("POST", "/api/auth/recover/code", { body })).body).toMatchObject({ user: { id: user.id } });
});

test("deleting an account renews no attempts at the password of another with the same number", async () => {
  const victim = await makePerson();
  const password_hash = await hashPassword(env, claimantsPassword);
  const claim = { phone: victim.phone, username: "Autre", password_hash, isClaim: true };
  const attacker = await insertUser(openDb(env), claim);
  const key = `${toLimitKey(victim.phone)} ${toLimitKey("local")}`;
  await drainBucket("sign_in_by_account_and_address", key);
  const countBuckets = () =>
    env.DB.prepare("SELECT count(*) AS n FROM rate_limits WHERE key = ?")
      .bind(`sign_in_by_account_and_address:${key}`)
      .first("n");
  if (!attacker) throw new Error("not created");
  await startAccountDeletion(env, openDb(env), attacker.id);
  expect(await countBuckets()).toBe(1);
  // The last account takes them along.
  await startAccountDeletion(env, openDb(env), victim.id);
  expect(await countBuckets()).toBe(0);
});
