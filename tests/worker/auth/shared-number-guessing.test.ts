import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { makeCaptchaToken, testPassword } from "#tests/support/people/people.ts";
import { withAdapters } from "#tests/worker/people/number-proofs.ts";
import {
  cookieSite,
  drainBucket,
  makePerson,
  refillBuckets,
  site,
  toCookieHeader,
  toLimitKey,
} from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

/** Several accounts sign in by one number where numbers can be verified (docs/decisions/number-takeover.md). */

const claimantsPassword = "Mokonzi2026";

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
  const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: victim.phone });
  const registered = await callWith(withAdapters(), "POST", "/api/auth/signup", {
    headers: cookieSite,
    body: { phone: victim.phone, password: claimantsPassword, gotrue_meta_security: { captcha_token } },
  });
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
