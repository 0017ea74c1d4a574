import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { createUuid } from "#contract/ids.ts";
import type { Person } from "#tests/support/people/people.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";
import { issueAuthCode } from "#worker/auth/providers/auth-codes.ts";
import { insertIdentity } from "#worker/auth/providers/identities.ts";
import { findProviderSetting, listPublicProviders } from "#worker/auth/providers/providers.ts";
import { openDb } from "#worker/db/client.ts";

const code_verifier = "a-verifier-that-only-the-client-knows-0123456789";
const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");

/** Account at a provider and the code it returned; `link` links it in that person's session. */
const comeBack = async (subject: string, link?: Person, expiresInMs = 60_000) => {
  const session = link && (JSON.parse(atob(link.token.split(".")[1] ?? "")) as { sid: string }).sid;
  const auth_code = await issueAuthCode(openDb(env), {
    method: "oauth",
    user_id: link?.id ?? null,
    session_id: session ?? null,
    provider: "kivu",
    subject,
    email: null,
    name: "Amina",
    code_challenge,
    expires_at: Date.now() + expiresInMs,
  });
  return { auth_code, code_verifier };
};
const newSubject = () => createUuid();
const linkTo = (person: Person, subject: string) =>
  insertIdentity(openDb(env), person.id, { provider: "kivu", subject, email: null, name: null });
const trade = (body: object) => call("POST", "/api/auth/token?grant_type=pkce", { body });
const errorOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;

test("a code creates one session, though eight requests use it at the same moment", async () => {
  const [ana, subject] = [await makePerson(), newSubject()];
  await linkTo(ana, subject);
  const came = await comeBack(subject);
  const answers = await Promise.all(Array.from({ length: 8 }, () => trade(came)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 404)]);
});

test("a provider account is linked to one person, though eight request it at the same moment", async () => {
  const subject = newSubject();
  const people = await Promise.all(Array.from({ length: 8 }, () => makePerson()));
  const codes = await Promise.all(people.map((person) => comeBack(subject, person)));
  const answers = await Promise.all(codes.map(trade));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.map(errorOf).filter((code) => code === "identity_already_exists")).toHaveLength(7);
});

test("an expired code is refused, and no other grant type accepts one", async () => {
  const [ana, subject] = [await makePerson(), newSubject()];
  await linkTo(ana, subject);
  expect(errorOf(await trade(await comeBack(subject, undefined, -1)))).toBe("flow_state_not_found");
  const came = await comeBack(subject);
  for (const grant of ["password", "refresh_token"]) {
    const answer = await call("POST", `/api/auth/token?grant_type=${grant}`, { body: came });
    expect(answer.status, grant).toBe(400);
  }
  expect((await trade(came)).status).toBe(200);
});

test("deleting an account deletes its provider links, and a pending code for it is invalid", async () => {
  const [ana, subject] = [await makePerson(), newSubject()];
  await linkTo(ana, subject);
  const came = await comeBack(subject);
  await call("DELETE", "/api/account", { token: ana.token, body: { user_id: ana.id } });
  expect(errorOf(await trade(came))).toBe("phone_needed");
});

test("a provider's sign-in is one factor, which permits no change of sign-in methods", async () => {
  const [ana, subject] = [await makePerson(), newSubject()];
  await linkTo(ana, subject);
  const { body } = await trade(await comeBack(subject));
  const { access_token: token } = body as Session;
  const claims = JSON.parse(atob(token.split(".")[1] ?? "")) as object;
  expect(claims).toMatchObject({ aal: "aal1", amr: [{ method: "oauth" }] });
  const refused = await call("PUT", "/api/auth/user", { token, body: { password: "Nouveau2026" } });
  expect(errorOf(refused)).toBe("reauthentication_needed");
});

const kivu = { id: "kivu", name: "Kivu", issuer: "https://id.kivu.example", client_id: "lisolo" };
const settings = (providers: unknown, secrets: unknown = {}) => ({
  OIDC_PROVIDERS: typeof providers === "string" ? providers : JSON.stringify(providers),
  OIDC_SECRETS: typeof secrets === "string" ? secrets : JSON.stringify(secrets),
});

afterEach(() => vi.restoreAllMocks());

test("providers are offered as configured, and their secrets are never revealed", () => {
  const env = settings([kivu, { ...kivu, id: "here", issuer: "http://localhost:9000" }], { kivu: "hush" });
  expect(listPublicProviders(env)).toEqual([
    { id: "kivu", name: "Kivu" },
    { id: "here", name: "Kivu" },
  ]);
  expect(findProviderSetting(env, "kivu")).toMatchObject({ secret: "hush", scopes: "openid profile email" });
  expect(findProviderSetting(env, "here")?.secret).toBeUndefined();
  expect(listPublicProviders({})).toEqual([]);
});

test("a broken configuration offers none, and the log names the broken setting without its value", () => {
  const errorLog = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const broken = {
    "OIDC_PROVIDERS is not valid JSON": settings("[{hush"),
    "OIDC_PROVIDERS is wrong at 0.issuer": settings([{ ...kivu, issuer: "http://id.hush.example" }]),
    "OIDC_PROVIDERS is wrong at 1.client_id": settings([kivu, { ...kivu, id: "other", client_id: " " }]),
    "OIDC_PROVIDERS is wrong at 0.id": settings([{ ...kivu, id: "Hush!" }]),
    "OIDC_PROVIDERS is wrong at 0.client_secret": settings([{ ...kivu, client_secret: "hush" }]),
    "no two of the same id": settings([kivu, kivu]),
    "OIDC_SECRETS is not valid JSON": settings([kivu], "hush"),
    "OIDC_SECRETS is wrong at kivu": settings([kivu], { kivu: "" }),
  };
  for (const [complaint, env] of Object.entries(broken)) {
    errorLog.mockClear();
    expect(listPublicProviders(env), complaint).toEqual([]);
    expect(errorLog.mock.calls.flat().join(" "), complaint).toContain(complaint);
    expect(errorLog.mock.calls.flat().join(" ")).not.toContain("hush");
  }
});
