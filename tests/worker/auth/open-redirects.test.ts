import { expect, test } from "vitest";
import { makeCaptchaToken, phoneOf } from "#tests/support/people/people.ts";
import { parseMail, readMails } from "#tests/worker/support/mailbox.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/**
 * Nobody is redirected to an address injected by a header, a parameter or a path. Allowed addresses: redirects.test.ts.
 */

const slipped = {
  "x-forwarded-host": "evil.test",
  "x-forwarded-proto": "http",
  "x-forwarded-server": "evil.test",
  "x-forwarded-for": "203.0.113.1",
  "x-original-url": "/evil",
  "x-rewrite-url": "https://evil.test/",
  "x-host": "evil.test",
  forwarded: "host=evil.test;proto=http",
  referer: "https://evil.test/",
};

const names = ["redirect_to", "redirect", "next", "url", "return_to", "continue", "site_url"];
const evil = ["https://evil.test/", "//evil.test", "/\\evil.test", "https:evil.test", `${site.origin}@evil.test/`];

const ownOnly = (location: string | null) => expect(new URL(location ?? "none:", site.origin).origin).toBe(site.origin);

test.each(["/api/auth/callback", "/api/auth/callback?state=none&code=x"])(
  "%s redirects to the product's own page, whatever other target was named",
  async (path) => {
    for (const name of names) {
      for (const target of evil) {
        const address = new URL(path, site.origin);
        address.searchParams.set(name, target);
        const response = await site.fetch(address.href, { headers: slipped, redirect: "manual" });
        expect({ name, place: target, status: response.status }).toEqual({ name, place: target, status: 302 });
        ownOnly(response.headers.get("location"));
        expect(response.headers.get("location")).not.toContain("evil");
      }
    }
  },
);

test("a mail links to the site that requested it, whatever the request's headers say", async () => {
  const person = await makePerson();
  const email = "ana@elsewhere.example";
  const headers = { ...slipped, "accept-language": "fr" };
  expect((await call("PUT", "/api/auth/user", { token: person.token, body: { email }, headers })).status).toBe(200);
  const confirmation = async () => (await readMails(email))[0];
  await expect.poll(confirmation).toBeDefined();
  const first = await confirmation();
  if (!first) throw new Error("no mail");
  ownOnly(parseMail(first).link.href);
  const token_hash = parseMail(first).token;
  expect((await call("POST", "/api/auth/verify", { body: { type: "email_change", token_hash } })).status).toBe(200);

  for (const target of evil) {
    const body = {
      email,
      gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, { action: "recover", subject: email }) },
    };
    const path = `/api/auth/recover?redirect_to=${encodeURIComponent(target)}`;
    const kept = (await readMails(email)).length;
    const answer = await call("POST", path, { body, headers });
    if (answer.status === 429) break; // no more mails to it for now
    expect(answer.status).toBe(200);
    await expect.poll(async () => (await readMails(email)).length).toBe(kept + 1);
  }
  const mails = await readMails(email);
  expect(mails.length).toBeGreaterThan(2);
  for (const mail of mails) {
    ownOnly(parseMail(mail).link.href);
    expect(mail.text + mail.html).not.toContain("evil");
  }
});

test.each([
  "GET /api/auth/user",
  "GET /api/nothing",
  "POST /api/auth/token?grant_type=password",
  "GET /api/auth/authorize?provider=none&code_challenge=x",
])("%s does not repeat values injected in a header", async (route) => {
  const [method = "", path = ""] = route.split(" ");
  const body = { phone: phoneOf(2_550), password: "x" };
  const answer = await call(method, path, { headers: slipped, ...(method === "POST" ? { body } : {}) });
  expect(JSON.stringify([answer.body, ...answer.headers])).not.toContain("evil");
});
