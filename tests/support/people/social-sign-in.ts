import { createHash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import type { Enrolled, FactorChallenge } from "#contract/auth/factors.ts";
import { totpStepSeconds } from "#contract/limits/authentication.ts";
import { type IdentityProvider, startIdentityProvider, toSettings } from "#tests/support/identity/identity-provider.ts";
import { OAuthBrowser } from "#tests/support/identity/oauth-browser.ts";
import { findFreePort, type Server, startServer } from "#tests/support/server/server.ts";
import { type Answer, callSite, type Site } from "./people.ts";

/** The product with two real identity providers on this machine. */
export type Social = { server: Server; site: Site; providers: IdentityProvider[]; stop(): Promise<void> };

export const startSocialServer = async (more: Pick<IdentityProvider, "setting" | "secret">[] = []): Promise<Social> => {
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  const providers = await Promise.all([
    startIdentityProvider(origin, "kivu", "Kivu"),
    startIdentityProvider(origin, "congo", "Congo Télécom"),
  ]);
  const server = await startServer({ port, vars: toSettings([...providers, ...more]) });
  return {
    server,
    site: { origin, fetch },
    providers,
    stop: async () => {
      await server.stop();
      await Promise.all(providers.map((provider) => provider.stop()));
    },
  };
};

/**
 * PKCE values of a client that starts a sign-in at a provider: the secret verifier and the public challenge (RFC 7636).
 */
export const makeVerifier = () => {
  const code_verifier = randomBytes(32).toString("base64url");
  const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
  return { code_verifier, code_challenge };
};

/** Requests `GET /authorize` and returns its redirect. */
export const authorize = async (site: Site, query: Record<string, string>): Promise<Answer & { location: string }> => {
  const answer = await callSite(site, "GET", `/api/auth/authorize?${new URLSearchParams(query)}`);
  return { ...answer, location: answer.headers.get("location") ?? "" };
};

export type ProviderReturn = { code: string; code_verifier: string; back: URL };

/** Logs in at a provider's page and returns the address the product redirects to. */
export const logInAtProvider = async (site: Site, page: string, login: string): Promise<URL> => {
  const callback = await new OAuthBrowser().logIn(page, site.origin, login);
  const led = await site.fetch(callback, { redirect: "manual" });
  return new URL(led.headers.get("location") ?? "about:blank");
};

/** Runs the complete sign-in of a client at a provider. */
export const runSignInFlow = async (site: Site, provider: string, login: string): Promise<ProviderReturn> => {
  const { code_verifier, code_challenge } = makeVerifier();
  const { location } = await authorize(site, {
    provider,
    redirect_to: `${site.origin}/login`,
    code_challenge,
    code_challenge_method: "s256",
  });
  const back = await logInAtProvider(site, location, login);
  return { code: back.searchParams.get("code") ?? "", code_verifier, back };
};

export const exchangeCode = (site: Site, { code, code_verifier }: Omit<ProviderReturn, "back">): Promise<Answer> =>
  callSite(site, "POST", "/api/auth/token?grant_type=pkce", { body: { auth_code: code, code_verifier } });

/** Requests the address at which a person links an account of a provider. */
export const requestIdentityLink = (site: Site, token: string | undefined, provider: string, code_challenge: string) =>
  callSite(
    site,
    "GET",
    `/api/auth/user/identities/authorize?${new URLSearchParams({
      provider,
      redirect_to: `${site.origin}/app/profile`,
      code_challenge,
      code_challenge_method: "s256",
      skip_http_redirect: "true",
    })}`,
    { token },
  );

/** Links a provider's account to a person's account. */
export const linkIdentity = async (site: Site, token: string, provider: string, login: string): Promise<Answer> => {
  const { code_verifier, code_challenge } = makeVerifier();
  const { body } = await requestIdentityLink(site, token, provider, code_challenge);
  const back = await logInAtProvider(site, (body as { url: string }).url, login);
  return exchangeCode(site, { code: back.searchParams.get("code") ?? "", code_verifier });
};

/** Adds a code app to a person's account, which requires its codes from then on. */
export const addCodeApp = async (site: Site, token: string): Promise<{ next: () => string }> => {
  const enrolled = await callSite(site, "POST", "/api/auth/factors", { token, body: { factor_type: "totp" } });
  const { id, totp } = enrolled.body as Enrolled;
  const app = new TOTP({ secret: Secret.fromBase32(totp.secret) });
  const asked = await callSite(site, "POST", `/api/auth/factors/${id}/challenge`, { token });
  const now = Date.now();
  const body = { challenge_id: (asked.body as FactorChallenge).id, code: app.generate({ timestamp: now }) };
  const verified = await callSite(site, "POST", `/api/auth/factors/${id}/verify`, { token, body });
  if (verified.status !== 200) throw new Error(`no code app: ${JSON.stringify(verified.body)}`);
  // A later code than the one just used. Codes are accepted before their half minute too.
  return { next: () => app.generate({ timestamp: Math.max(Date.now(), now + totpStepSeconds * 1_000) }) };
};
