import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { makeCaptchaToken, type Person } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { type Mail, parseMail, readMails } from "#tests/worker/support/mailbox.ts";
import {
  call,
  cookieSite,
  drainBucket,
  makePerson,
  refillBuckets,
  site,
  toLimitKey,
} from "#tests/worker/support/site.ts";
import { replaceRecoveryCodes } from "#worker/auth/second-factor/recovery-codes.ts";
import { openDb } from "#worker/db/client.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";

let lastAddress = 0;
const newAddress = () => `person-${++lastAddress}@recovery.test`;

/** Person with a confirmed recovery address. */
const newReachable = async (): Promise<Person & { email: string }> => {
  const person = await makePerson();
  const email = newAddress();
  await env.DB.prepare("INSERT INTO account_security (user_id, email) VALUES (?, ?)").bind(person.id, email).run();
  return { ...person, email };
};

const proof = async (purpose: ChallengeRequest) => ({
  gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, purpose) },
});
const mailProof = (email: string) => proof({ action: "recover", subject: email });
const codeProof = (phone: string) => proof({ action: "recover_by_code", subject: phone });
let lastHost = 0;
/** Each request comes from another network, so that no wide limit applies. */
const post = (path: string, body: object, headers = {}) => {
  const host = ++lastHost;
  return call("POST", path, {
    body,
    headers: { "cf-connecting-ip": `10.${64 + (host >> 8)}.${host & 255}.7`, ...headers },
  });
};
const recover = async (email: string, more: object = {}, query = "", headers = {}) =>
  post(`/api/auth/recover${query}`, { email, ...(await mailProof(email)), ...more }, headers);
const verify = (body: object, headers = {}) => post("/api/auth/verify", body, headers);

const newestTo = async (email: string, n = 1): Promise<Mail> => {
  await waitUntil(async () => (await readMails(email)).length >= n);
  return (await readMails(email))[0] as Mail;
};
const askFor = async (email: string) => {
  const before = (await readMails(email)).length;
  expect((await recover(email)).status).toBe(200);
  return parseMail(await newestTo(email, before + 1));
};
const ageTokens = (email: string) =>
  env.DB.prepare("UPDATE mailed_tokens SET expires_at = 1 WHERE email = ?").bind(email).run();

const expired = { status: 403, body: { error_code: "otp_expired" } };
const wrong = { status: 400, body: { error_code: "invalid_credentials" } };

/** Comparable parts of an answer, without values that are always different. */
const seen = ({ status, headers, body }: Awaited<ReturnType<typeof call>>) => ({
  status,
  body,
  headers: [...headers].filter(([name]) => name !== "date" && name !== "cf-ray"),
});

describe("requesting a recovery mail", () => {
  test("sends a link and a code in the language of the requester, with their lifetime", async () => {
    const { email } = await newReachable();
    await recover(email, {}, "", { "accept-language": "pt-PT,pt;q=0.9" });
    const { subject, text, html } = await newestTo(email);
    expect(subject).toBe("Lisolo: uma nova palavra-passe");
    expect(text).toMatch(/60 minutos/);
    expect(text).toMatch(/ignore/);
    expect(html).toContain('<html lang="pt">');
    expect(html).not.toMatch(/<img|<script|src=/);
    const { link, token, code } = parseMail({ subject, text, html, to: email });
    expect(link.origin + link.pathname).toBe("https://lisolo.test/recover");
    expect(link.search).toBe("");
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(code).toMatch(/^\d{8}$/);
  });

  test("has the same answer whether or not the address exists, and writes to nobody else", async () => {
    const { email } = await newReachable();
    const unknown = newAddress();
    expect(seen(await recover(unknown))).toEqual(seen(await recover(email)));
    await newestTo(email);
    expect(await readMails(unknown)).toEqual([]);
  });

  test("counts for the typed address, known or not, in any letter case", async () => {
    const { email } = await newReachable();
    const unknown = newAddress();
    for (const address of [email, unknown]) {
      const answers = [];
      for (let n = 0; n < 5; n++) answers.push(await recover(n % 2 ? address.toUpperCase() : address));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
      expect(Number(answers[4]?.headers.get("retry-after"))).toBeGreaterThan(600);
    }
  });

  test("needs a proof of work, valid once", async () => {
    const { email } = await newReachable();
    const refused = { status: 400, body: { error_code: "captcha_failed" } };
    expect(await recover(email, { gotrue_meta_security: {} })).toMatchObject(refused);
    expect(await recover(email, { gotrue_meta_security: { captcha_token: "e30=" } })).toMatchObject(refused);
    const used = await mailProof(email);
    expect((await recover(email, used)).status).toBe(200);
    expect(await recover(email, used)).toMatchObject(refused);
    expect(await recover(newAddress(), used)).toMatchObject(refused);
  });

  test("stores neither token nor code, and invalidates earlier mails", async () => {
    const { email } = await newReachable();
    const first = await askFor(email);
    const rows = JSON.stringify(
      (await env.DB.prepare("SELECT * FROM mailed_tokens WHERE email = ?").bind(email).all()).results,
    );
    expect(rows).not.toContain(first.token);
    expect(rows).not.toContain(first.code);
    const second = await askFor(email);
    expect(await verify({ type: "recovery", token_hash: first.token })).toMatchObject(expired);
    expect(await verify({ type: "recovery", email, token: first.code })).toMatchObject(expired);
    expect((await verify({ type: "recovery", token_hash: second.token })).status).toBe(200);
  });

  test("links to the product's own page, whatever target is named", async () => {
    const places = [
      "https://evil.test/",
      "//evil.test",
      "https://lisolo.test.evil.test/",
      "javascript:alert(1)",
      "/app",
    ];
    for (const target of places) {
      const { email } = await newReachable();
      const challenge = { code_challenge: "a".repeat(43), code_challenge_method: "s256" };
      await recover(email, challenge, `?${new URLSearchParams({ redirect_to: target })}`);
      const mail = await newestTo(email);
      expect(parseMail(mail).link.href).toMatch(/^https:\/\/lisolo\.test\/recover#token=/);
      expect(mail.text + mail.html).not.toContain("evil");
    }
  });
});

describe("using a recovery mail", () => {
  test.each(["link", "code"])("signs in by its %s, once, however many use it at once", async (by) => {
    const { email, id } = await newReachable();
    const { token, code } = await askFor(email);
    const body = { type: "recovery", ...(by === "link" ? { token_hash: token } : { email, token: code }) };
    const answers = await Promise.all(Array.from({ length: 6 }, () => verify(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
    const session = answers.find(({ status }) => status === 200)?.body as Session;
    expect(session.user).toMatchObject({ id, email });
    expect(await verify({ type: "recovery", token_hash: token })).toMatchObject(expired);
    expect(await verify({ type: "recovery", email, token: code })).toMatchObject(expired);
  });

  test("accepts common ways to write the code", async () => {
    const { email } = await newReachable();
    const { code } = await askFor(email);
    const typed = ` ${code.slice(0, 4)} ${code.slice(4)}`;
    expect((await verify({ type: "recovery", email: email.toUpperCase(), token: typed })).status).toBe(200);
  });

  test("lets the new session set a password without the old one, and ends the others", async () => {
    const person = await newReachable();
    const { token } = await askFor(person.email);
    const { body } = await verify({ type: "recovery", token_hash: token });
    const { access_token } = body as Session;
    const changed = await call("PUT", "/api/auth/user", { token: access_token, body: { password: "Nouveau2026" } });
    expect(changed.status).toBe(200);
    expect((await call("GET", "/api/auth/user", { token: access_token })).status).toBe(200);
    expect((await call("GET", "/api/auth/user", { token: person.token })).status).toBe(401);
    const signIn = (password: string) =>
      call("POST", "/api/auth/token?grant_type=password", { body: { phone: person.phone, password } });
    expect((await signIn("Nouveau2026")).status).toBe(200);
    expect(await signIn(person.password)).toMatchObject(wrong);
  });

  test("notifies the recovery address of the new password, because the other devices are signed out", async () => {
    const person = await newReachable();
    const { token } = await askFor(person.email);
    const { body } = await verify({ type: "recovery", token_hash: token });
    const changed = await call("PUT", "/api/auth/user", {
      token: (body as Session).access_token,
      headers: { "accept-language": "pt" },
      body: { password: "Nouveau2026" },
    });
    expect(changed.status).toBe(200);
    const { subject, text } = await newestTo(person.email, 2);
    expect(subject).toBe("Lisolo: a sua palavra-passe foi alterada");
    // The request may come from a stranger, so the owner also reads it in their own language.
    for (const words of ["Mot de passe oublié", "Forgot your password?"]) expect(text).toContain(words);
    expect(text).not.toMatch(/https?:|Nouveau2026/);
    expect(text).not.toContain(person.phone.slice(-6));
  });

  test("requires the second factor if one is enabled", async () => {
    const person = await newReachable();
    await env.DB.prepare(
      "INSERT INTO factors (id, user_id, friendly_name, secret, is_verified, created_at, updated_at) VALUES (?, ?, '', 'x', 1, 0, 0)",
    )
      .bind(crypto.randomUUID(), person.id)
      .run();
    const { token } = await askFor(person.email);
    const { status, body } = await verify({ type: "recovery", token_hash: token });
    expect({ status, body }).toMatchObject({ status: 200, body: { awaits: ["totp"] } });
    const halfway = { token: (body as Session).access_token };
    const owes = { status: 401, body: { error_code: "insufficient_aal" } };
    expect(await call("PUT", "/api/auth/user", { ...halfway, body: { password: "Nouveau2026" } })).toMatchObject(owes);
    expect(await call("GET", "/api/conversations", halfway)).toMatchObject(owes);
  });

  test("is invalid after an hour", async () => {
    const { email } = await newReachable();
    const { token, code } = await askFor(email);
    await ageTokens(email);
    expect(await verify({ type: "recovery", token_hash: token })).toMatchObject(expired);
    expect(await verify({ type: "recovery", email, token: code })).toMatchObject(expired);
  });

  test("refuses codes after five wrong ones, also simultaneous; the link still works", async () => {
    const { email } = await newReachable();
    const { token, code } = await askFor(email);
    const guess = (n: number) => String((Number(code) + n) % 10 ** 8).padStart(8, "0");
    const guesses = Array.from({ length: 8 }, (_, n) => verify({ type: "recovery", email, token: guess(n + 1) }));
    for (const answer of await Promise.all(guesses)) expect(answer).toMatchObject(expired);
    expect(await verify({ type: "recovery", email, token: code })).toMatchObject(expired);
    expect((await verify({ type: "recovery", token_hash: token })).status).toBe(200);
  });

  test("has the same answer for every invalid input", async () => {
    const { email } = await newReachable();
    const { token, code } = await askFor(email);
    const bodies = [
      { type: "recovery", email: newAddress(), token: code },
      { type: "recovery", email, token: "00000000" === code ? "1" : "00000000" },
      { type: "recovery", email, token: "" },
      { type: "recovery", token_hash: "x".repeat(43) },
      { type: "recovery", token_hash: "" },
      { type: "email_change", token_hash: token },
      { type: "email_change", email, token: code },
      { type: "recovery", token: code },
      { type: "recovery" },
    ];
    const first = seen(await verify(bodies[0] ?? {}));
    expect(first).toMatchObject(expired);
    for (const body of bodies.slice(1)) expect(seen(await verify(body))).toEqual(first);
    expect((await verify({ type: "recovery", token_hash: token })).status).toBe(200);
  });

  test("causes the same queries whether or not the address exists", async () => {
    const { email } = await newReachable();
    await askFor(email);
    const count = async (address: string): Promise<number> => {
      let n = 0;
      const db = new Proxy(env.DB, {
        get: (target, name) => {
          const value = Reflect.get(target, name) as unknown;
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (name === "prepare" || name === "batch") n++;
            return Reflect.apply(value, target, args) as unknown;
          };
        },
      });
      const { findMailedTokenByCode: findByCode, insertRecoveryToken: insertRecovery } = await import(
        "#worker/auth/recovery/mailed-tokens.ts"
      );
      await findByCode(env, openDb({ ...env, DB: db }), "recovery", address, "12345678");
      await insertRecovery(env, openDb({ ...env, DB: db }), address, null);
      return n;
    };
    const known = await count(email);
    expect(known).toBeGreaterThan(3);
    expect(await count(newAddress())).toBe(known);
  });

  test("sets cookies for the product's pages, and none for other origins", async () => {
    const { email } = await newReachable();
    const { token } = await askFor(email);
    const forged = await verify(
      { type: "recovery", token_hash: token },
      { ...cookieSite, origin: "https://evil.test" },
    );
    expect(forged).toMatchObject({ status: 403, body: { error_code: "forbidden_origin" } });
    const { body, headers } = await verify({ type: "recovery", token_hash: token }, cookieSite);
    expect(body).toMatchObject({ access_token: "", refresh_token: "" });
    expect(headers.getSetCookie()).toHaveLength(3); // the device's counts as the third
  });
});

test("a link prefetched by GET sends no token, and stays valid", async () => {
  const { email } = await newReachable();
  const { link, token } = await askFor(email);
  expect(link.href).toBe(`https://lisolo.test/recover#token=${token}&type=recovery`);
  for (const query of ["", `?${new URLSearchParams({ token, type: "recovery" })}`]) {
    expect((await call("GET", `/api/auth/verify${query}`)).status).toBe(405);
  }
  expect((await verify({ type: "recovery", token_hash: token })).status).toBe(200);
});

test("wrong tokens from an address do not block a right one from there", async () => {
  const { email } = await newReachable();
  const { token } = await askFor(email);
  await drainBucket("verify_by_address", toLimitKey("local"));
  const answer = (token_hash: string) => call("POST", "/api/auth/verify", { body: { type: "recovery", token_hash } });
  expect((await answer("none")).status).toBe(429);
  expect((await answer(token)).status).toBe(200);
  await refillBuckets("verify_by_address");
});

describe("a recovery code instead of the password", () => {
  const byCode = async (phone: string, code: string, more: object = {}, headers = {}) =>
    post("/api/auth/recover/code", { phone, code, ...(await codeProof(phone)), ...more }, headers);

  test("signs in once, and allows a new password", async () => {
    const person = await makePerson();
    const [code = ""] = await replaceRecoveryCodes(openDb(env), env, person.id);
    const tries = await Promise.all(Array.from({ length: 4 }, () => byCode(person.phone, code)));
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const { access_token } = (tries.find(({ status }) => status === 200)?.body ?? {}) as Session;
    const changed = await call("PUT", "/api/auth/user", { token: access_token, body: { password: "Nouveau2026" } });
    expect(changed.status).toBe(200);
  });

  test("is refused alike for a wrong code, another person's code and an unknown number", async () => {
    const [person, other] = [await makePerson(), await makePerson()];
    const [code = ""] = await replaceRecoveryCodes(openDb(env), env, other.id);
    const first = seen(await byCode(person.phone, code));
    expect(first).toMatchObject(wrong);
    expect(seen(await byCode(person.phone, "wrong"))).toEqual(first);
    expect(seen(await byCode("+243810099998", code))).toEqual(first);
  });

  test("needs a proof of work, and counts for the typed number and the network", async () => {
    const person = await makePerson();
    const [code = ""] = await replaceRecoveryCodes(openDb(env), env, person.id);
    const refused = await byCode(person.phone, code, { gotrue_meta_security: {} });
    expect(refused).toMatchObject({ status: 400, body: { error_code: "captcha_failed" } });
    for (const phone of [person.phone, "+243810099997"]) {
      const address = "203.0.113.71";
      await drainBucket("recover_by_phone_and_address", hashLimitKey(env, `${phone} ${address}`));
      expect(await byCode(phone, code, {}, { "cf-connecting-ip": address })).toMatchObject({
        status: 429,
        body: { error_code: "rate_limited" },
      });
    }
  });

  test("does not replace the second factor too", async () => {
    const person = await makePerson();
    const [code = "", second = ""] = await replaceRecoveryCodes(openDb(env), env, person.id);
    await env.DB.prepare(
      "INSERT INTO factors (id, user_id, friendly_name, secret, is_verified, created_at, updated_at) VALUES (?, ?, '', 'x', 1, 0, 0)",
    )
      .bind(crypto.randomUUID(), person.id)
      .run();
    const { body } = await byCode(person.phone, code);
    expect(body).toMatchObject({ awaits: ["totp"] });
    const { access_token: token } = body as Session;
    const more = await call("POST", "/api/auth/recovery-codes/verify", { token, body: { code: second } });
    expect(more).toMatchObject({ status: 422, body: { error_code: "mfa_verification_failed" } });
  });
});
