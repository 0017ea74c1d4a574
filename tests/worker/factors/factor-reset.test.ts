import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { FactorReset, Security } from "#contract/auth/security.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { makeAuthenticator } from "#tests/support/browser/authenticator.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { readMails } from "#tests/worker/support/mailbox.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import {
  advanceFrozenClock,
  enrollFactor,
  freezeClock,
  makeCode,
  makePersonWithCodeApp,
  makeRecoveryCodes,
  readSecurityEvents,
  resumeClock,
  signIn,
  signInByRecoveryCode,
  signInPending,
  verifyCode,
  verifyRecoveryCode,
} from "#tests/worker/support/with-second-factor.ts";

/** A person who lost their second factor waits three days, and all their signed-in devices are notified. */

beforeEach(freezeClock);
afterEach(resumeClock);

const hours = 3_600;
const waitSeconds = 72 * hours;
const texts = { fr, en, pt };
type Bearer = { token: string };

const ask = (by: Bearer) => call("POST", "/api/auth/factors/reset", { token: by.token });
const keep = (by: Bearer) => call("DELETE", "/api/auth/factors/reset", { token: by.token });
/** Requests as a signed-in person; the token is renewed, because it does not last three days. */
const renew = async (refresh_token: string): Promise<Session> => {
  const { status, body } = await call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });
  expect(status).toBe(200);
  return body as Session;
};
const renewed = async (person: { refreshToken: string }): Promise<Bearer> => ({
  token: (await renew(person.refreshToken)).access_token,
});
const securityOf = async (token: string): Promise<Security> =>
  (await call("GET", "/api/auth/security", { token })).body as Security;
const waitForNotice = (user: string, event: string) =>
  waitUntil(async () => (await readSecurityEvents(user)).includes(event));

test("the second factor is removed at the first sign-in after three days, and not before", async () => {
  const ana = await makePersonWithCodeApp();
  await makeRecoveryCodes(ana);
  await env.DB.prepare("UPDATE account_security SET passkey_step = 1 WHERE user_id = ?").bind(ana.id).run();
  const answer = await ask(await signInPending(ana));
  const started_at = Date.now();
  const dates = { started_at, due_at: started_at + waitSeconds * 1_000 };
  expect(answer).toMatchObject({ status: 200, body: dates });
  await waitForNotice(ana.id, "reset_started");
  expect((await securityOf(ana.token)).reset).toEqual(dates);

  advanceFrozenClock(waitSeconds - 1);
  const half = await signInPending(ana);
  advanceFrozenClock(1);
  const whole = await signIn(ana);
  expect(whole.awaits).toBeUndefined();
  await waitForNotice(ana.id, "reset_done");
  const after = await securityOf(whole.access_token);
  expect(after).toMatchObject({ factors: [], recovery_codes: 0, passkey_second_step: false, reset: null });
  // Sessions that waited for the removed factor end; the owner's other devices stay signed in.
  expect((await call("GET", "/api/auth/user", { token: half.token })).status).toBe(401);
  expect((await renew(ana.refreshToken)).awaits).toBeUndefined();
  expect((await signIn(ana)).awaits).toBeUndefined();
});

test("a repeated request keeps the waiting time, and all devices are notified once, with its end", async () => {
  const ana = await makePersonWithCodeApp();
  const first = (await ask(await signInPending(ana))).body as FactorReset;
  advanceFrozenClock(3_600);
  const half = await signInPending(ana);
  expect((await ask(half)).body).toEqual(first);
  expect((await ask(half)).body).toEqual(first);
  await waitForNotice(ana.id, "reset_started");
  const events = await readSecurityEvents(ana.id);
  expect(events.filter((event) => event === "reset_started")).toHaveLength(1);
  const sync = await call("GET", "/api/sync?since=0", { token: (await renew(ana.refreshToken)).access_token });
  const { notices } = sync.body as { notices: object[] };
  expect(notices).toContainEqual(expect.objectContaining({ event: "reset_started", due_at: first.due_at }));
});

const newAddress = () => `reset-${crypto.randomUUID()}@recovery.test`;
const confirm = (user: string, column: "email" | "pending_email", address: string | null) =>
  env.DB.prepare(
    `INSERT INTO account_security (user_id, ${column}) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET ${column} = ?2`,
  )
    .bind(user, address)
    .run();
/** Comparable parts of an answer. */
const seen = ({ status, headers, body }: Awaited<ReturnType<typeof call>>) => ({
  status,
  names: [...headers.keys()],
  fields: Object.keys(body as object),
});

test("the recovery address is notified once when a reset starts, with the actions and their time, and of nothing else", async () => {
  const ana = await makePersonWithCodeApp();
  const address = newAddress();
  await confirm(ana.id, "email", address);
  const half = await signInPending(ana);
  const headers = { "accept-language": "en" };
  const { body } = await call("POST", "/api/auth/factors/reset", { token: half.token, headers });
  await waitUntil(async () => (await readMails(address)).length === 1);
  const [mail] = await readMails(address);
  const due = new Date((body as FactorReset).due_at);
  expect(mail?.subject).toBe("Lisolo: somebody asks for your second step to be removed");
  for (const words of [
    "in 72 hours",
    `${due.getUTCFullYear()}`,
    `${due.toISOString().slice(11, 16)} (UTC)`,
    texts.en.security.reset.keep,
    // The request may come from a stranger, so the owner also reads it in their own language.
    texts.fr.security.reset.keep,
    texts.pt.security.reset.keep,
  ]) {
    expect(mail?.text).toContain(words);
    expect(mail?.html).toContain(words);
  }
  expect(mail?.text).not.toContain(ana.phone.slice(-6));
  expect(mail?.html).not.toMatch(/https?:|href|token/);

  await ask(half);
  advanceFrozenClock(hours);
  await ask(await signInPending(ana));
  await keep(await renewed(ana));
  advanceFrozenClock(hours);
  await ask(await signInPending(ana));
  await waitUntil(async () => (await readMails(address)).length > 1);
  expect(await readMails(address)).toHaveLength(2);
});

test("an unconfirmed address is not notified of a reset, and the requester cannot tell", async () => {
  const [ana, ben, cleo] = [
    await makePersonWithCodeApp(),
    await makePersonWithCodeApp(),
    await makePersonWithCodeApp(),
  ];
  const [confirmed, pending] = [newAddress(), newAddress()];
  await confirm(ana.id, "email", confirmed);
  await confirm(ben.id, "pending_email", pending);
  const answers = [];
  for (const person of [ben, cleo, ana]) answers.push(seen(await ask(await signInPending(person))));
  const [withPending, withNone, withAddress] = answers;
  expect(withAddress).toEqual(withNone);
  expect(withPending).toEqual(withNone);
  await waitUntil(async () => (await readMails(confirmed)).length === 1);
  await waitForNotice(ben.id, "reset_started");
  expect(await readMails(pending)).toEqual([]);
});

test("only a session that requires its second factor may request it", async () => {
  const [ana, ben] = [await makePersonWithCodeApp(), await makePerson()];
  for (const whole of [ana, ben]) {
    expect(await ask(whole)).toMatchObject({ status: 409, body: { error_code: "reset_not_possible" } });
  }
  expect((await securityOf(ana.token)).reset).toBeNull();
});

test("any signed-in device can cancel it with one tap, and repeating the cancellation succeeds", async () => {
  const ana = await makePersonWithCodeApp();
  const half = await signInPending(ana);
  await ask(half);
  expect(await keep(half)).toMatchObject({ status: 401, body: { error_code: "insufficient_aal" } });
  advanceFrozenClock(waitSeconds - 60);
  const { access_token: token } = await renew(ana.refreshToken);
  // Five minutes after any factor was shown it needs a new proof.
  expect((await keep({ token })).status).toBe(204);
  expect((await keep({ token })).status).toBe(204);
  await waitForNotice(ana.id, "reset_cancelled");
  expect((await readSecurityEvents(ana.id)).filter((event) => event === "reset_cancelled")).toHaveLength(1);
  advanceFrozenClock(120);
  expect((await signIn(ana)).awaits).toEqual(["totp"]);
});

test("after repeated cancellations the waiting time until the next request grows, and the owner is not restricted", async () => {
  const ana = await makePersonWithCodeApp();
  let { refresh_token } = await renew(ana.refreshToken);
  for (const pause of [1, 24, 168, 168]) {
    expect((await ask(await signInPending(ana))).status).toBe(200);
    const owner = await renew(refresh_token);
    ({ refresh_token } = owner);
    expect((await keep({ token: owner.access_token })).status).toBe(204);
    advanceFrozenClock(pause * hours - 10);
    const half = await signInPending(ana);
    const early = await ask(half);
    expect(early).toMatchObject({ status: 429, body: { error_code: "reset_paused" } });
    expect(Number(early.headers.get("retry-after"))).toBe(10);
    expect((await verifyCode(half, ana.factor, makeCode(ana.secret))).status).toBe(200);
    advanceFrozenClock(10);
  }
});

test("old cancellations no longer count, nor do any after a password change", async () => {
  const ana = await makePersonWithCodeApp();
  const stop = async () => {
    const half = await signInPending(ana);
    expect((await ask(half)).status).toBe(200);
    const whole = (await verifyCode(half, ana.factor, makeCode(ana.secret))).body as Session;
    return { token: whole.access_token };
  };
  const isPaused = async () => (await ask(await signInPending(ana))).status === 429;
  await stop();
  advanceFrozenClock(hours);
  await stop();
  advanceFrozenClock(hours);
  expect(await isPaused()).toBe(true);
  advanceFrozenClock(32 * 24 * hours);
  await stop();
  advanceFrozenClock(hours);
  const by = await stop();
  expect(await isPaused()).toBe(true);
  const changed = await call("PUT", "/api/auth/user", { token: by.token, body: { password: "Nouveau2026" } });
  expect(changed.status).toBe(200);
  const body = { phone: ana.phone, password: "Nouveau2026" };
  const { body: half } = await call("POST", "/api/auth/token?grant_type=password", { body });
  expect((await ask({ token: (half as Session).access_token })).status).toBe(200);
});

test("proving a second factor cancels the reset", async () => {
  const ana = await makePersonWithCodeApp();
  const codes = await makeRecoveryCodes(ana);
  const shows = [
    (half: Bearer) => verifyCode(half, ana.factor, makeCode(ana.secret)),
    (half: Bearer) => verifyRecoveryCode(half, codes[0] ?? ""),
  ];
  for (const show of shows) {
    const half = await signInPending(ana);
    await ask(half);
    const shown = await show(half);
    expect(shown.status).toBe(200);
    expect((await securityOf((shown.body as Session).access_token)).reset).toBeNull();
  }
  await waitForNotice(ana.id, "reset_cancelled");
  advanceFrozenClock(waitSeconds + 1);
  expect((await signIn(ana)).awaits).toBeDefined();
});

test("confirming a new code app cancels it too", async () => {
  const ana = await makePersonWithCodeApp();
  await ask(await signInPending(ana));
  const more = await enrollFactor(ana);
  expect((await verifyCode(ana, more.id, makeCode(more.totp.secret))).status).toBe(200);
  advanceFrozenClock(waitSeconds + 1);
  expect((await signIn(ana)).awaits).toEqual(["totp"]);
});

test("signing in by a passkey after the waiting time cancels the reset and keeps the code app", async () => {
  const ana = await makePersonWithCodeApp();
  const phone = await makeAuthenticator(site.origin);
  const ceremonyOf = async (path: string, by: Partial<Bearer>) => {
    const { body } = await call("POST", `/api/auth/passkeys/${path}/options`, { token: by.token });
    return body as { ceremony: string; options: Parameters<typeof phone.create>[0] };
  };
  const made = await ceremonyOf("registration", ana);
  const added = { ceremony: made.ceremony, response: await phone.create(made.options) };
  expect((await call("POST", "/api/auth/passkeys", { token: ana.token, body: added })).status).toBe(200);
  await ask(await signInPending(ana));
  advanceFrozenClock(waitSeconds + 1);
  const posed = await ceremonyOf("sign-in", {});
  const shown = { ceremony: posed.ceremony, response: await phone.get(posed.options) };
  expect((await call("POST", "/api/auth/passkeys/sign-in", { body: shown })).status).toBe(200);
  await waitForNotice(ana.id, "reset_cancelled");
  expect((await signIn(ana)).awaits).toEqual(["totp", "passkey"]);
});

test("a person with only printed recovery codes may request it, and uses another code after the waiting time", async () => {
  const ana = await makePersonWithCodeApp();
  const codes = await makeRecoveryCodes(ana);
  const half = await signInByRecoveryCode(ana, codes[0] ?? "");
  expect((await ask({ token: half.access_token })).status).toBe(200);
  advanceFrozenClock(waitSeconds + 1);
  const whole = await signInByRecoveryCode(ana, codes[1] ?? "");
  expect(whole.awaits).toBeUndefined();
  expect((await securityOf(whole.access_token)).recovery_codes).toBe(0);
});

test("cancelled at the moment it takes effect, the reset either happens or not", async () => {
  const ana = await makePersonWithCodeApp();
  await ask(await signInPending(ana));
  advanceFrozenClock(waitSeconds);
  const { access_token: token } = await renew(ana.refreshToken);
  const [session, kept] = await Promise.all([signIn(ana), keep({ token })]);
  expect(kept.status).toBe(204);
  const { factors } = await securityOf(token);
  expect(session.awaits === undefined).toBe(factors.length === 0);
  await waitUntil(async () => {
    const events = await readSecurityEvents(ana.id);
    return events.includes("reset_done") !== events.includes("reset_cancelled");
  });
});
