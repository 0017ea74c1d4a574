import type { Session } from "#contract/auth/auth.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { startForgingProvider } from "#tests/support/identity/forging-provider.ts";
import { OAuthBrowser } from "#tests/support/identity/oauth-browser.ts";
import {
  callSite,
  makeCaptchaToken,
  makePerson,
  type Person,
  phoneOf,
  testPassword,
} from "#tests/support/people/people.ts";
import {
  addCodeApp,
  authorize,
  exchangeCode,
  linkIdentity,
  logInAtProvider,
  makeVerifier,
  requestIdentityLink,
  runSignInFlow,
  type Social,
  startSocialServer,
} from "#tests/support/people/social-sign-in.ts";

let social: Social;
let forging: Awaited<ReturnType<typeof startForgingProvider>>;
/** Address where nothing listens. */
const gone = { setting: { id: "gone", name: "Gone", issuer: "http://127.0.0.1:9", client_id: "x" }, secret: "x" };

test.beforeAll(async () => {
  forging = await startForgingProvider("forge");
  social = await startSocialServer([forging, gone]);
});
test.afterAll(() => Promise.all([social.stop(), forging.stop()]));

const errorOf = (answer: { body: unknown }): string => (answer.body as { error_code: string }).error_code;
const codeOf = (back: URL): string => back.searchParams.get("code") ?? "";
const identitiesOf = async ({ token }: Pick<Person, "token">) => {
  const { body } = await callSite(social.site, "GET", "/api/auth/user", { token });
  return (body as { identities: { id: string; provider: string; identity_data: object }[] }).identities;
};
const login = () => `${social.site.origin}/login`;
const makeQuery = (more: Record<string, string> = {}) => ({
  provider: "kivu",
  redirect_to: login(),
  code_challenge: makeVerifier().code_challenge,
  code_challenge_method: "s256",
  ...more,
});
const signUp = async (n: number, identity: { auth_code: string; code_verifier: string }) =>
  callSite(social.site, "POST", "/api/auth/signup", {
    body: {
      phone: phoneOf(n),
      password: testPassword,
      identity,
      gotrue_meta_security: {
        captcha_token: await makeCaptchaToken(social.site, { action: "sign_up", subject: phoneOf(n) }),
      },
    },
  });

test("a linked account signs in, and an unlinked one is recognised as unknown", async () => {
  const ana = await makePerson(social.site, 9_420);
  const linked = await linkIdentity(social.site, ana.token, "kivu", "wire-ana");
  expect(linked.status).toBe(200);
  expect(await identitiesOf(ana)).toMatchObject([
    { provider: "kivu", identity_data: { sub: "wire-ana", email: "wire-ana@example.org", name: "wire-ana Kabila" } },
  ]);
  // Linking continues the session that requested it: the returned token belongs to the same session.
  const { access_token } = linked.body as { access_token: string };
  const sessions = await callSite(social.site, "GET", "/api/auth/sessions", { token: access_token });
  expect((sessions.body as { devices: object[] }).devices).toHaveLength(1);

  const signedIn = await exchangeCode(social.site, await runSignInFlow(social.site, "kivu", "wire-ana"));
  expect(signedIn).toMatchObject({ status: 200, body: { user: { id: ana.id } } });

  // The same name and address at another provider belong to an unknown person.
  const other = await exchangeCode(social.site, await runSignInFlow(social.site, "congo", "wire-ana"));
  expect([other.status, errorOf(other)]).toEqual([422, "phone_needed"]);
});

test("an unknown person registers with the code, once, and only with its verifier", async () => {
  const { code, code_verifier } = await runSignInFlow(social.site, "kivu", "newcomer");
  const identity = { auth_code: code, code_verifier };
  const needed = await exchangeCode(social.site, { code, code_verifier });
  expect(needed).toMatchObject({ status: 422, body: { error_code: "phone_needed", name: "newcomer Kabila" } });
  expect(errorOf(await signUp(9_421, { ...identity, code_verifier: "x".repeat(43) }))).toBe("bad_code_verifier");

  const answers = await Promise.all([signUp(9_421, identity), signUp(9_422, identity), signUp(9_423, identity)]);
  const [made, ...refused] = [...answers].sort((a, b) => a.status - b.status);
  expect(made).toMatchObject({ status: 200, body: { user: { identities: [{ provider: "kivu" }] } } });
  for (const answer of refused) expect(["identity_already_exists", "flow_state_not_found"]).toContain(errorOf(answer));
  // A refused person does not get a partial account.
  const { user } = (made as { body: Session }).body;
  for (const n of [9_421, 9_422, 9_423].filter((n) => phoneOf(n) !== user.phone)) {
    const body = { phone: phoneOf(n), password: testPassword };
    const answer = await callSite(social.site, "POST", "/api/auth/token?grant_type=password", { body });
    expect(errorOf(answer)).toBe("invalid_credentials");
  }
  expect(errorOf(await exchangeCode(social.site, { code, code_verifier }))).toBe("flow_state_not_found");
  const again = await exchangeCode(social.site, await runSignInFlow(social.site, "kivu", "newcomer"));
  expect(again.body).toMatchObject({ user: { id: user.id } });
});

test("the second factor is still required after a provider's sign-in, and nothing else is allowed before it", async () => {
  const ana = await makePerson(social.site, 9_424);
  const { token } = ana;
  await linkIdentity(social.site, token, "kivu", "careful");
  await addCodeApp(social.site, token);

  const halfway = await exchangeCode(social.site, await runSignInFlow(social.site, "kivu", "careful"));
  expect(halfway).toMatchObject({ status: 200, body: { awaits: ["totp"] } });
  const { access_token } = halfway.body as { access_token: string };
  for (const path of ["/api/conversations", "/api/auth/sessions"]) {
    const answer = await callSite(social.site, "GET", path, { token: access_token });
    expect([answer.status, errorOf(answer)]).toEqual([401, "insufficient_aal"]);
  }
  const linking = await requestIdentityLink(social.site, access_token, "congo", makeVerifier().code_challenge);
  expect(errorOf(linking)).toBe("insufficient_aal");
});

test("a code creates one session, however many requests use it at once", async () => {
  const ana = await makePerson(social.site, 9_425);
  await linkIdentity(social.site, ana.token, "kivu", "once");
  const came = await runSignInFlow(social.site, "kivu", "once");
  const answers = await Promise.all(Array.from({ length: 6 }, () => exchangeCode(social.site, came)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(errorOf(answer)).toBe("flow_state_not_found");
  }
  expect(errorOf(await exchangeCode(social.site, came))).toBe("flow_state_not_found");
});

test("a code without its verifier is refused, and stays valid for its owner", async () => {
  const ana = await makePerson(social.site, 9_426);
  await linkIdentity(social.site, ana.token, "kivu", "stolen");
  const came = await runSignInFlow(social.site, "kivu", "stolen");
  for (const code_verifier of [makeVerifier().code_verifier, "", came.code]) {
    const answer = await exchangeCode(social.site, { code: came.code, code_verifier });
    expect([answer.status, errorOf(answer)]).toEqual([400, "bad_code_verifier"]);
  }
  expect((await exchangeCode(social.site, came)).status).toBe(200);
});

test("a callback works once, and only with a state that was issued", async () => {
  const { location } = await authorize(social.site, makeQuery());
  const callback = await new OAuthBrowser().logIn(location, social.site.origin, "stateful");
  const lead = async (url: string | URL): Promise<URL> => {
    const answer = await fetch(url, { redirect: "manual" });
    expect(answer.status).toBe(302);
    return new URL(answer.headers.get("location") ?? "");
  };
  const wrong = new URL(callback);
  wrong.searchParams.set("state", "x".repeat(43));
  const none = new URL(callback);
  none.searchParams.delete("state");
  for (const url of [wrong, none]) {
    const back = await lead(url);
    expect([back.origin + back.pathname, back.searchParams.get("error_code")]).toEqual([
      login(),
      "flow_state_not_found",
    ]);
  }
  expect(codeOf(await lead(callback))).not.toBe("");
  const again = await lead(callback);
  expect([codeOf(again), again.searchParams.get("error_code")]).toEqual(["", "flow_state_not_found"]);
});

test("cancelling at the provider redirects back without a code, with the standard error codes", async () => {
  const { location } = await authorize(social.site, makeQuery());
  const callback = await new OAuthBrowser().cancel(location, social.site.origin);
  const answer = await fetch(callback, { redirect: "manual" });
  const back = new URL(answer.headers.get("location") ?? "");
  expect(back.origin + back.pathname).toBe(login());
  expect(Object.fromEntries(back.searchParams)).toEqual({
    error: "access_denied",
    error_code: "access_denied",
    error_description: "Not allowed at the provider",
  });
});

test("a sign-in redirects to the product's own addresses only, and is refused before any redirect", async () => {
  const { origin } = social.site;
  const { host } = new URL(origin);
  const foreign = [
    "https://evil.example/",
    "//evil.example/",
    "https:evil.example",
    `${origin}.evil.example/`,
    `${origin}@evil.example/`,
    `https://${host}/login`,
    "\\\\evil.example\\login",
    "javascript:alert(1)",
    "data:text/html,x",
    "/\\evil.example",
    `${origin}\u0000.evil.example`,
  ];
  for (const redirect_to of foreign) {
    const answer = await authorize(social.site, makeQuery({ redirect_to }));
    expect([answer.status, errorOf(answer), answer.location], redirect_to).toEqual([400, "validation_failed", ""]);
  }
  expect((await authorize(social.site, makeQuery({ redirect_to: "/app/profile" }))).status).toBe(302);
});

test("a flow without PKCE, or to an unknown provider, does not start", async () => {
  const { code_challenge: _, ...bare } = makeQuery();
  for (const query of [bare, makeQuery({ code_challenge_method: "plain" }), makeQuery({ code_challenge: "short" })]) {
    const answer = await authorize(social.site, query);
    expect([answer.status, errorOf(answer)]).toEqual([400, "validation_failed"]);
  }
  const unknown = await authorize(social.site, makeQuery({ provider: "nobody" }));
  expect([unknown.status, errorOf(unknown)]).toEqual([422, "oauth_provider_not_supported"]);
});

test("a provider that is down is reported as unavailable", async () => {
  const { status, location } = await authorize(social.site, makeQuery({ provider: "gone" }));
  const back = new URL(location);
  expect([status, back.pathname, back.searchParams.get("error_code")]).toEqual([302, "/login", "unavailable"]);
  const ana = await makePerson(social.site, 9_427);
  const linking = await requestIdentityLink(social.site, ana.token, "gone", makeVerifier().code_challenge);
  expect([linking.status, errorOf(linking)]).toEqual([503, "unavailable"]);
});

test("a forged or invalid token is refused", async () => {
  const come = async () => {
    const { location } = await authorize(social.site, makeQuery({ provider: "forge" }));
    return (await logInAtProvider(social.site, location, "")).searchParams;
  };
  expect((await come()).get("code")).not.toBeNull();
  const hourAgo = Math.floor(Date.now() / 1_000) - 3_600;
  const forgeries = {
    "another nonce": { claims: { nonce: "replayed" } },
    "no nonce": { claims: { nonce: undefined } },
    "another audience": { claims: { aud: "another-client" } },
    "many audiences, none authorized": { claims: { aud: ["lisolo-forge", "other"], azp: "other" } },
    "another issuer": { claims: { iss: "https://accounts.example" } },
    "run out": { claims: { iat: hourAgo - 60, exp: hourAgo } },
    "nobody named": { claims: { sub: undefined } },
    "signed by somebody": { isSignedBySomebody: true },
    unsigned: { isUnsigned: true },
  } as const;
  for (const [name, forgery] of Object.entries(forgeries)) {
    forging.forge(forgery as Parameters<typeof forging.forge>[0]);
    const response = await come();
    expect([response.get("code"), response.get("error_code")], name).toEqual([null, "bad_oauth_callback"]);
  }
  forging.forge({});
  expect((await come()).get("code")).not.toBeNull();
});

test("linking needs a fresh proof, a valid session, and the client that requested it", async () => {
  const ana = await makePerson(social.site, 9_428);
  const { code_verifier, code_challenge } = makeVerifier();
  expect(errorOf(await requestIdentityLink(social.site, undefined, "kivu", code_challenge))).toBe("no_authorization");

  // A person who signed in at a provider has shown no factor of their own.
  await linkIdentity(social.site, ana.token, "kivu", "linker");
  const { body } = await exchangeCode(social.site, await runSignInFlow(social.site, "kivu", "linker"));
  const { access_token: weak } = body as { access_token: string };
  expect(errorOf(await requestIdentityLink(social.site, weak, "congo", code_challenge))).toBe(
    "reauthentication_needed",
  );
  const [identity] = await identitiesOf(ana);
  const unlink = (token: string, id = identity?.id) =>
    callSite(social.site, "DELETE", `/api/auth/user/identities/${id}`, { token });
  expect(errorOf(await unlink(weak))).toBe("reauthentication_needed");

  // Another person completes the flow that Ana's client started: their account is not linked to hers before her own
  // client shows the verifier.
  const begun = await requestIdentityLink(social.site, ana.token, "congo", code_challenge);
  const led = await logInAtProvider(social.site, (begun.body as { url: string }).url, "victim");
  expect(
    errorOf(await exchangeCode(social.site, { code: codeOf(led), code_verifier: makeVerifier().code_verifier })),
  ).toBe("bad_code_verifier");
  expect(await identitiesOf(ana)).toHaveLength(1);

  // It is never linked after the requesting session ended.
  await callSite(social.site, "POST", "/api/auth/logout?scope=local", { token: ana.token });
  expect(errorOf(await exchangeCode(social.site, { code: codeOf(led), code_verifier }))).toBe("session_not_found");
  expect(await identitiesOf({ token: weak })).toHaveLength(1);
});

test("an account at a provider is linked to one person at a time, who alone can unlink it", async () => {
  const [ana, ben] = [await makePerson(social.site, 9_429), await makePerson(social.site, 9_430)];
  expect((await linkIdentity(social.site, ana.token, "kivu", "shared")).status).toBe(200);
  const { code_challenge } = makeVerifier();
  const begun = await requestIdentityLink(social.site, ben.token, "kivu", code_challenge);
  const back = await logInAtProvider(social.site, (begun.body as { url: string }).url, "shared");
  expect([codeOf(back), back.searchParams.get("error_code")]).toEqual(["", "identity_already_exists"]);

  const [identity] = await identitiesOf(ana);
  const unlink = (token: string) =>
    callSite(social.site, "DELETE", `/api/auth/user/identities/${identity?.id}`, { token });
  const foreign = await unlink(ben.token);
  expect([foreign.status, errorOf(foreign)]).toEqual([404, "identity_not_found"]);
  expect(await identitiesOf(ana)).toHaveLength(1);
  expect((await unlink(ana.token)).status).toBe(200);
  expect(await identitiesOf(ana)).toEqual([]);
  expect(errorOf(await unlink(ana.token))).toBe("identity_not_found");
  expect(errorOf(await exchangeCode(social.site, await runSignInFlow(social.site, "kivu", "shared")))).toBe(
    "phone_needed",
  );
  expect((await linkIdentity(social.site, ben.token, "kivu", "shared")).status).toBe(200);
});
