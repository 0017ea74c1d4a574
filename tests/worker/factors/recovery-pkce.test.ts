import { env } from "cloudflare:workers";
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { makeCaptchaToken } from "#tests/support/people/people.ts";
import { parseMail, readMails } from "#tests/worker/support/mailbox.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

const REDIRECT_URLS = "https://app.test/reset";
let lastAddress = 0;

/** Client that requested a mail with PKCE, and the content of the mail. */
const begin = async (redirect_to = "https://app.test/reset?from=mail") => {
  const { id } = await makePerson();
  const email = `person-${++lastAddress}@pkce.test`;
  await env.DB.prepare("INSERT INTO account_security (user_id, email) VALUES (?, ?)").bind(id, email).run();
  const verifier = randomBytes(32).toString("base64url");
  const body = {
    email,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "s256",
    gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, { action: "recover", subject: email }) },
  };
  const headers = { "cf-connecting-ip": `10.8.0.${lastAddress}` };
  const query = new URLSearchParams({ redirect_to });
  const asked = await callWith({ REDIRECT_URLS }, "POST", `/api/auth/recover?${query}`, { body, headers });
  expect(asked).toMatchObject({ status: 200, body: {} });
  const [mail] = await readMails(email);
  if (!mail) throw new Error("no mail");
  return { id, email, verifier, ...parseMail(mail) };
};
/** The app's own page uses the link like this. */
const ask = (link: URL) => {
  const parameters = new URLSearchParams(link.hash.slice(1));
  const body = { token_hash: parameters.get("token"), redirect_to: parameters.get("redirect_to") };
  return callWith({ REDIRECT_URLS }, "POST", "/api/auth/verify/redirect", { body });
};
const open = async (link: URL): Promise<URL> => {
  const answer = await ask(link);
  expect(answer.status).toBe(200);
  return new URL((answer.body as { url: string }).url);
};
const expired = { status: 403, body: { error_code: "otp_expired" } };
const exchange = (auth_code: string | null, code_verifier: string) =>
  call("POST", "/api/auth/token?grant_type=pkce", { body: { auth_code, code_verifier } });

test("the mail leads back to the client that requested it, with a code that only it can exchange, once", async () => {
  const { id, link, token, verifier } = await begin();
  expect(link.origin + link.pathname + link.search).toBe("https://lisolo.test/recover");
  const back = await open(link);
  expect(back.origin + back.pathname).toBe("https://app.test/reset");
  expect(back.searchParams.get("from")).toBe("mail");
  expect(back.href).not.toContain(token);
  const code = back.searchParams.get("code");
  expect(await exchange(code, "x".repeat(43))).toMatchObject({
    status: 400,
    body: { error_code: "bad_code_verifier" },
  });
  const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(code, verifier)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  const session = answers.find(({ status }) => status === 200)?.body as Session;
  expect(session.user.id).toBe(id);
  const changed = await call("PUT", "/api/auth/user", {
    token: session.access_token,
    body: { password: "Nouveau2026" },
  });
  expect(changed.status).toBe(200);
});

test("a link whose answer was lost returns the same code again, and is invalid once the session exists", async () => {
  const { link, verifier } = await begin();
  const [scanned, again] = await Promise.all([open(link), open(link)]);
  expect(again.href).toBe(scanned.href);
  const back = await open(link);
  expect(back.href).toBe(scanned.href);
  expect((await exchange(back.searchParams.get("code"), verifier)).status).toBe(200);
  expect(await ask(link)).toMatchObject(expired);
});

test("once the link was opened, neither its token nor the mail's code is valid elsewhere", async () => {
  const { link, token, code, email } = await begin();
  await open(link);
  expect(await call("POST", "/api/auth/verify", { body: { type: "recovery", token_hash: token } })).toMatchObject(
    expired,
  );
  const typed = { type: "recovery", email, token: code };
  expect(await call("POST", "/api/auth/verify", { body: typed })).toMatchObject(expired);
});

test("a link with a changed target is refused, and a token for the product's page is no code for other clients", async () => {
  const { link, token } = await begin();
  const to = (redirect_to: string, token_hash = token) =>
    new URL(`https://lisolo.test/recover#${new URLSearchParams({ token: token_hash, redirect_to })}`);
  for (const target of ["https://evil.test/", "https://app.test/other", "https://app.test.evil.test/reset", "/app"]) {
    expect(await ask(to(target))).toMatchObject({ status: 400, body: { error_code: "validation_failed" } });
  }
  expect((await open(link)).searchParams.get("code")).not.toBeNull();
  const own = await begin("/recover");
  expect(await ask(to(REDIRECT_URLS, own.token))).toMatchObject(expired);
  const answer = await call("POST", "/api/auth/verify", { body: { type: "recovery", token_hash: own.token } });
  expect(answer.status).toBe(200);
});

test("the session opened by a code mailed for another client requires the second factor too", async () => {
  const { id, link, verifier } = await begin();
  await env.DB.prepare(
    "INSERT INTO factors (id, user_id, friendly_name, secret, is_verified, created_at, updated_at) VALUES (?, ?, '', 'x', 1, 0, 0)",
  )
    .bind(crypto.randomUUID(), id)
    .run();
  const code = (await open(link)).searchParams.get("code");
  expect(await exchange(code, verifier)).toMatchObject({ status: 200, body: { awaits: ["totp"] } });
});
