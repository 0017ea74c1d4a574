import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Security } from "#contract/auth/security.ts";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { type Person, testPassword } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { type Mail, parseMail, readMails } from "#tests/worker/support/mailbox.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { refreshCookie } from "#worker/lib/http/cookies.ts";
import { emptyBuckets } from "#worker/lib/limits/rate-limit.ts";

let lastAddress = 0;
const newAddress = () => `person-${++lastAddress}@address.test`;

const prove = async (person: Person): Promise<Person> => {
  const { status, body } = await call("POST", "/api/auth/proof", {
    token: person.token,
    body: { password: person.password },
  });
  expect(status).toBe(200);
  return { ...person, token: (body as Session).access_token };
};
const change = ({ token }: Person, email: string) => call("PUT", "/api/auth/user", { token, body: { email } });
const verify = (body: object) => call("POST", "/api/auth/verify", { body });
const securityOf = async ({ token }: Person) =>
  (await call("GET", "/api/auth/security", { token })).body as Pick<Security, "email" | "pending_email">;
const waitForMail = async (email: string, n = 1): Promise<Mail> => {
  await waitUntil(async () => (await readMails(email)).length >= n);
  return (await readMails(email))[0] as Mail;
};

/** Person with a recent proof and a confirmed recovery address. */
const newReachable = async () => {
  const person = await prove(await makePerson());
  const email = newAddress();
  expect((await change(person, email)).status).toBe(200);
  const { token } = parseMail(await waitForMail(email));
  expect(await verify({ type: "email_change", token_hash: token })).toMatchObject({ status: 200, body: {} });
  return { ...person, email };
};
const tokensOf = (user: string) =>
  env.DB.prepare("SELECT type, email FROM mailed_tokens WHERE user_id = ?").bind(user).all();

const expired = { status: 403, body: { error_code: "otp_expired" } };

describe("a recovery address", () => {
  test("is confirmed by the link or code of its mail, which signs nobody in", async () => {
    const person = await prove(await makePerson());
    const email = newAddress();
    expect((await change(person, ` ${email.toUpperCase()} `)).status).toBe(200);
    expect(await securityOf(person)).toMatchObject({ email: null, pending_email: email });
    const { link, code } = parseMail(await waitForMail(email));
    expect(link.href).toMatch(/^https:\/\/lisolo\.test\/recover#token=.+&type=email_change$/);
    const answer = await verify({ type: "email_change", email, token: code });
    expect(answer).toMatchObject({ status: 200, body: {} });
    expect(answer.body).toEqual({});
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await securityOf(person)).toMatchObject({ email, pending_email: null });
    expect((await call("GET", "/api/auth/user", { token: person.token })).body).toMatchObject({ email });
    expect(await verify({ type: "email_change", email, token: code })).toMatchObject(expired);
  });

  test("is changed only with a fresh proof", async () => {
    const person = await makePerson();
    await env.DB.prepare("UPDATE sessions SET proved_at = 0 WHERE user_id = ?").bind(person.id).run();
    const email = newAddress();
    const refused = { status: 403, body: { error_code: "reauthentication_needed" } };
    expect(await change(person, email)).toMatchObject(refused);
    expect(await change(person, "")).toMatchObject(refused);
    expect(await readMails(email)).toEqual([]);
  });

  test("that is not confirmed cannot be used for recovery", async () => {
    const person = await prove(await makePerson());
    const email = newAddress();
    await change(person, email);
    const { token, code } = parseMail(await waitForMail(email));
    expect(await verify({ type: "recovery", token_hash: token })).toMatchObject(expired);
    expect(await verify({ type: "recovery", email, token: code })).toMatchObject(expired);
    expect((await tokensOf(person.id)).results).toEqual([{ type: "email_change", email }]);
  });

  test("remains until the next one is confirmed, and is notified of it", async () => {
    const person = await newReachable();
    const next = newAddress();
    await change(person, next);
    expect(await securityOf(person)).toMatchObject({ email: person.email, pending_email: next });
    const noticeMail = await waitForMail(person.email, 2);
    expect(noticeMail.text).not.toContain(next);
    const { token } = parseMail(await waitForMail(next));
    await verify({ type: "email_change", token_hash: token });
    expect(await securityOf(person)).toMatchObject({ email: next, pending_email: null });
  });

  test("is reported to the other devices, as added, changed or removed, and not to the one that did it", async () => {
    const person = await prove(await makePerson());
    const body = { phone: person.phone, password: testPassword };
    const other = (await call("POST", "/api/auth/token?grant_type=password", { body })).body as Session;
    const readNotices = async (token: string) => {
      const { notices } = (await call("GET", "/api/sync?since=0", { token })).body as { notices: SecurityNotice[] };
      return notices.map(({ event }) => event).filter((event) => event.startsWith("email"));
    };
    const confirm = async (email: string, by: object) => {
      expect((await change(person, email)).status).toBe(200);
      const { token: token_hash } = parseMail(await waitForMail(email));
      expect(
        (await call("POST", "/api/auth/verify", { ...by, body: { type: "email_change", token_hash } })).status,
      ).toBe(200);
    };
    await confirm(newAddress(), { token: person.token });
    await waitUntil(async () => (await readNotices(other.access_token)).length === 1);
    // In a browser whose access token expired while the person looked for the mail.
    const cookie = `${refreshCookie}=${other.refresh_token}`;
    await confirm(newAddress(), { headers: { cookie, origin: site.origin } });
    await waitUntil(async () => (await readNotices(person.token)).length === 1);
    // In a browser without a session.
    await confirm(newAddress(), {});
    expect((await change(person, "")).status).toBe(200);
    await waitUntil(async () => (await readNotices(other.access_token)).length === 3);
    expect(await readNotices(other.access_token)).toEqual(["email_added", "email_changed", "email_removed"]);
    expect(await readNotices(person.token)).toEqual(["email_changed", "email_changed"]);
  });

  test("that belongs to another account is reported to nobody except the reader of its mails", async () => {
    const owner = await newReachable();
    const other = await prove(await makePerson());
    const free = newAddress();
    const [taken, notTaken] = [await change(other, owner.email), await change(await prove(await makePerson()), free)];
    expect(taken.status).toBe(notTaken.status);
    const { token } = parseMail(await waitForMail(owner.email, 2));
    const answer = await verify({ type: "email_change", token_hash: token });
    expect(answer).toMatchObject({ status: 422, body: { error_code: "email_exists" } });
    expect(await securityOf(other)).toMatchObject({ email: null, pending_email: null });
    expect(await securityOf(owner)).toMatchObject({ email: owner.email });
  });

  test("is confirmed by the newest mail only, and not after another change", async () => {
    const person = await prove(await makePerson());
    const [first, second] = [newAddress(), newAddress()];
    await change(person, first);
    const { token, code } = parseMail(await waitForMail(first));
    await change(person, second);
    expect(await verify({ type: "email_change", token_hash: token })).toMatchObject(expired);
    expect(await verify({ type: "email_change", email: first, token: code })).toMatchObject(expired);
    await change(person, "");
    const late = parseMail(await waitForMail(second));
    expect(await verify({ type: "email_change", token_hash: late.token })).toMatchObject(expired);
    expect(await securityOf(person)).toMatchObject({ email: null, pending_email: null });
  });

  test("that was removed is notified, and earlier mails to it are invalid", async () => {
    const person = await newReachable();
    await env.DB.prepare(
      "INSERT INTO mailed_tokens (hash, code_hash, user_id, type, email, expires_at) VALUES (?, 'x', ?, 'recovery', ?, ?)",
    )
      .bind(crypto.randomUUID(), person.id, person.email, Date.now() + 60_000)
      .run();
    expect((await change(person, "")).status).toBe(200);
    expect((await tokensOf(person.id)).results).toEqual([]);
    expect(await securityOf(person)).toMatchObject({ email: null, pending_email: null });
    expect((await waitForMail(person.email, 2)).subject).toBe(
      "Lisolo\u00a0: votre adresse de récupération a été retirée",
    );
  });

  test("has a limited number of mails: nobody's mailbox is flooded", async () => {
    const person = await prove(await makePerson());
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await change(person, newAddress())).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const email = newAddress();
    const others: number[] = [];
    for (let n = 0; n < 5; n++) others.push((await change(await prove(await makePerson()), email)).status);
    expect(others).toEqual([200, 200, 200, 200, 429]);
  });

  test("and a password that are changed together are both changed, or neither", async () => {
    const person = await prove(await makePerson());
    const email = newAddress();
    const changeBoth = (password: string) =>
      call("PUT", "/api/auth/user", { token: person.token, body: { password, email } });
    const signIn = (password: string) =>
      call("POST", "/api/auth/token?grant_type=password", { body: { phone: person.phone, password } });
    const bucket = `mail_by_user:${person.id}`;
    expect(await changeBoth(testPassword)).toMatchObject({ status: 422, body: { error_code: "same_password" } });
    expect(await env.DB.prepare("SELECT * FROM rate_limits WHERE key = ?").bind(bucket).first()).toBeNull();
    await drainBucket("mail_by_user", person.id);
    expect(await changeBoth("Nouveau2026")).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
    expect((await signIn(testPassword)).status).toBe(200);
    expect(await securityOf(person)).toMatchObject({ email: null, pending_email: null });
    await env.DB.prepare("DELETE FROM rate_limits WHERE key = ?").bind(bucket).run();
    emptyBuckets.clear();
    expect((await changeBoth("Nouveau2026")).status).toBe(200);
    expect((await signIn("Nouveau2026")).status).toBe(200);
    expect(await securityOf(person)).toMatchObject({ email: null, pending_email: email });
  });

  test("must be a valid address", async () => {
    const person = await prove(await makePerson());
    for (const email of [
      "ana",
      "ana@",
      "@x.test",
      "a b@x.test",
      "ana@x.test\r\nbcc: b@x.test",
      `${"a".repeat(250)}@x.test`,
    ]) {
      expect(await change(person, email)).toMatchObject({ status: 400, body: { error_code: "validation_failed" } });
    }
  });
});
