import * as oidc from "openid-client";
import * as v from "valibot";
import { emailMaxLength } from "#contract/limits/authentication.ts";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { DisplayName } from "#contract/names/display-names.ts";
import type { ProviderSetting } from "./providers.ts";

/** OpenID Connect client (Core 1.0 §3.1): authorization code flow with PKCE, state and nonce. */

const timeoutSeconds = 8;
const discoveryMs = 10 * 60_000; // how long an isolate caches a provider's discovery document

/** The provider cannot be reached or its response is malformed. */
export class ProviderUnavailableError extends Error {
  override name = "ProviderUnavailable";
}

/**
 * Client authentication by Basic, the default of a provider that names no method (OpenID Connect Discovery 1.0 §3), or
 * by POST. Without a secret this is a public client.
 */
const createClientAuth = (secret: string | undefined): oidc.ClientAuth => {
  if (secret === undefined) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
};

/** Discovers a provider. Token signatures are verified even when the token came directly from the provider. */
const discoverProvider = ({ issuer, client_id, secret }: ProviderSetting): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(issuer), client_id, undefined, createClientAuth(secret), {
    timeout: timeoutSeconds,
    execute: [oidc.enableNonRepudiationChecks, ...(issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [])],
  });

const discoveredClients = new Map<string, { client: oidc.Configuration; until: number }>();

/** Loggable description of a failure. The provider's own message is omitted because it may contain personal data. */
const describeProviderError = (error: unknown): string =>
  error instanceof Error ? `${error.name} ${"code" in error ? String(error.code) : ""}`.trim() : "unknown";

const getClient = async (provider: ProviderSetting): Promise<oidc.Configuration> => {
  const key = JSON.stringify([provider.id, provider.issuer, provider.client_id, provider.secret]);
  const cached = discoveredClients.get(key);
  if (cached && cached.until > Date.now()) return cached.client;
  try {
    const client = await discoverProvider(provider);
    discoveredClients.set(key, { client, until: Date.now() + discoveryMs });
    return client;
  } catch (error) {
    console.warn(`discovery of the provider ${provider.id} failed: ${describeProviderError(error)}`);
    throw new ProviderUnavailableError(provider.id);
  }
};

/** Secrets of one OAuth flow, stored until it ends. */
export type FlowSecrets = { state: string; nonce: string; verifier: string };

export const createFlowSecrets = (): FlowSecrets => ({
  state: oidc.randomState(),
  nonce: oidc.randomNonce(),
  verifier: oidc.randomPKCECodeVerifier(),
});

const joinScopes = (...scopes: string[]): string =>
  [...new Set(["openid", ...scopes.join(" ").split(/\s+/)])].join(" ").trim();

/** Authorization URL at the provider. Throws `ProviderUnavailableError`. */
export const buildAuthorizationUrl = async (
  provider: ProviderSetting,
  { state, nonce, verifier }: FlowSecrets,
  redirect_uri: string,
  scopes: string,
): Promise<URL> =>
  oidc.buildAuthorizationUrl(await getClient(provider), {
    redirect_uri,
    scope: joinScopes(provider.scopes, scopes),
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });

export type ProviderAccount = { subject: string; email: string | null; name: string | null };

const ProviderClaims = v.object({
  name: v.fallback(v.optional(v.string()), undefined),
  email: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(emailMaxLength), v.email())), undefined),
});

/** Validated display name from a provider, used as a suggestion; null if it is invalid here. */
const toSuggestedName = (name: string | undefined): string | null => {
  const parsed = v.safeParse(DisplayName, name?.slice(0, displayNameMaxLength));
  return parsed.success ? parsed.output : null;
};

/**
 * Fetches name and e-mail from the userinfo endpoint, because many providers omit them from the token. A failure only
 * loses a suggestion.
 */
const fetchMissingClaims = async (
  provider: ProviderSetting,
  client: oidc.Configuration,
  token: string,
  subject: string,
) => {
  if (!client.serverMetadata().userinfo_endpoint) return {};
  try {
    return await oidc.fetchUserInfo(client, token, subject);
  } catch (error) {
    console.warn(`the userinfo request to the provider ${provider.id} failed: ${describeProviderError(error)}`);
    return {};
  }
};

/** The provider's response does not prove an identity. */
export class IdentityUnprovenError extends Error {
  override name = "ProviderRefused";
}

/**
 * Error codes of an outage. `undefined`: the connection failed. The last two come from a proxy in front of a provider
 * that is down, or from a server that is no provider.
 */
const outageCodes: unknown[] = [
  undefined,
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
];

const isProviderOutage = (error: unknown): boolean =>
  outageCodes.includes(error instanceof Error && "code" in error ? error.code : undefined);

/**
 * Account of the person who came back to `address`. The library checks state, issuer, audience, nonce, times and
 * signature. Throws `ProviderUnavailableError` or `IdentityUnprovenError`.
 */
export const fetchProviderAccount = async (
  provider: ProviderSetting,
  { state, nonce, verifier }: FlowSecrets,
  address: URL,
): Promise<ProviderAccount> => {
  const client = await getClient(provider);
  const tokens = await oidc
    .authorizationCodeGrant(client, address, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    .catch((error: unknown) => {
      console.warn(`the code exchange with the provider ${provider.id} failed: ${describeProviderError(error)}`);
      throw isProviderOutage(error)
        ? new ProviderUnavailableError(provider.id)
        : new IdentityUnprovenError(provider.id);
    });
  const claims = tokens.claims();
  if (!claims) throw new IdentityUnprovenError(provider.id);
  const { sub: subject } = claims;
  const tokenClaims = v.parse(ProviderClaims, claims);
  const profile =
    tokenClaims.name && tokenClaims.email
      ? tokenClaims
      : {
          ...v.parse(ProviderClaims, await fetchMissingClaims(provider, client, tokens.access_token, subject)),
          ...tokenClaims,
        };
  return { subject, email: profile.email ?? null, name: toSuggestedName(profile.name) };
};
