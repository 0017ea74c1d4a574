import { createMiddleware } from "hono/factory";
import * as v from "valibot";
import { codeChallengeMethods } from "#contract/auth/sign-in.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { Uuid } from "#contract/ids.ts";
import { authCodeSeconds, oauthRegistrationSeconds } from "#contract/limits/authentication.ts";
import { requireReauthentication } from "#worker/auth/second-factor/assurance.ts";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { readDeviceName } from "#worker/auth/sessions/device-name.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, type AppEnv, type Caller, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import {
  findPublicOrigin,
  getPublicOrigin,
  logMissingPublicUrl,
  requirePublicOrigin,
} from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitClient } from "#worker/lib/limits/client-limits.ts";
import { limitSession } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { issueAuthCode } from "./auth-codes.ts";
import { deleteIdentity, findIdentityOwner, isFullSession, type ProviderIdentity } from "./identities.ts";
import { consumeOauthFlow, insertOauthFlow, type OauthFlow } from "./oauth-flows.ts";
import {
  buildAuthorizationUrl,
  createFlowSecrets,
  fetchProviderAccount,
  IdentityUnprovenError,
  ProviderUnavailableError,
} from "./provider-client.ts";
import { findProviderSetting, type ProviderSetting } from "./providers.ts";
import { findRedirect } from "./redirects.ts";

/**
 * Sign-in by other providers (OpenID Connect). A flow starts with the code challenge of a verifier that only the client
 * knows, and ends with a code that is worthless without that verifier. No cookie is therefore needed: somebody led
 * through a flow that an attacker started gets a code they cannot use, and is neither signed in nor linked.
 */
const AuthorizeQuery = v.object({
  provider: v.pipe(v.string(), v.maxLength(40)),
  redirect_to: v.optional(v.pipe(v.string(), v.maxLength(2_048))),
  scopes: v.optional(v.pipe(v.string(), v.maxLength(500), v.regex(/^[\x21\x23-\x5b\x5d-\x7e ]*$/)), ""), // RFC 6749 §3.3
  code_challenge: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  code_challenge_method: v.picklist(codeChallengeMethods),
});
type AuthorizeQuery = v.InferOutput<typeof AuthorizeQuery>;

const toLoginPage = (c: AppContext): URL => new URL("/login", getPublicOrigin(c));
const toCallbackUrl = (c: AppContext): string => new URL("/api/auth/callback", getPublicOrigin(c)).href;

/**
 * Middleware of the two routes that a browser navigates to: redirects to a page that reports the missing configuration.
 */
const requirePublicOriginOrRedirect = createMiddleware<AppEnv>(async (c, next) => {
  if (findPublicOrigin(c) !== undefined) return next();
  logMissingPublicUrl();
  return c.redirect("/login?error=temporarily_unavailable&error_code=public_url_missing", 302);
});

type RedirectError = { error: string; code: ErrorCode | "access_denied"; description: string };

/**
 * Redirects with the parameter names of the public GoTrue API. The provider's own text is not forwarded, because
 * anybody can craft such a URL.
 */
const redirectWithError = (c: AppContext, to: URL, { error, code, description }: RedirectError) => {
  for (const [name, value] of Object.entries({ error, error_code: code, error_description: description })) {
    to.searchParams.set(name, value);
  }
  return c.redirect(to.href, 302);
};

const providerUnavailable = {
  error: "temporarily_unavailable",
  code: "unavailable",
  description: "The provider cannot be reached",
} as const satisfies RedirectError;
const identityUnproven = {
  error: "server_error",
  code: "bad_oauth_callback",
  description: "The provider did not prove who this is",
} as const satisfies RedirectError;
const flowEnded = {
  error: "invalid_request",
  code: "flow_state_not_found",
  description: "This way to the provider has ended, or never began",
} as const satisfies RedirectError;

/** Stores a flow and returns the provider's authorization URL, or undefined if the provider cannot be reached. */
const startOauthFlow = async (
  c: AppContext,
  provider: ProviderSetting,
  { code_challenge, scopes }: AuthorizeQuery,
  redirect_to: URL,
  caller?: Caller,
): Promise<URL | undefined> => {
  const secrets = createFlowSecrets();
  try {
    const url = await buildAuthorizationUrl(provider, secrets, toCallbackUrl(c), scopes);
    await insertOauthFlow(openDb(c.env), secrets, {
      provider: provider.id,
      redirect_to: redirect_to.href,
      code_challenge,
      user_id: caller?.user ?? null,
      session_id: caller?.session ?? null,
    });
    return url;
  } catch (error) {
    if (error instanceof ProviderUnavailableError) return undefined;
    throw error;
  }
};

const toCodeExpiry = (seconds: number): number => Date.now() + seconds * 1_000;

/** Ends a flow after the provider has proved the identity: issues a code, or returns the reason for its refusal. */
const finishOauthFlow = async (
  c: AppContext,
  flow: OauthFlow,
  identity: ProviderIdentity,
): Promise<{ code: string } | RedirectError> => {
  const db = openDb(c.env);
  const { user_id, session_id, code_challenge } = flow;
  const owner = await findIdentityOwner(db, identity);
  if (user_id !== null) {
    if (session_id === null || !(await isFullSession(db, session_id, user_id))) {
      return { error: "access_denied", code: "session_not_found", description: "The session that asked has ended" };
    }
    if (owner !== undefined && owner.user_id !== user_id) {
      return { error: "invalid_request", code: "identity_already_exists", description: "Identity is already linked" };
    }
  }
  const isUnlinked = user_id === null && owner === undefined;
  const expires_at = toCodeExpiry(isUnlinked ? oauthRegistrationSeconds : authCodeSeconds);
  return {
    code: await issueAuthCode(db, { ...identity, method: "oauth", user_id, session_id, code_challenge, expires_at }),
  };
};

export const oauthRoutes = createRoutes()
  .get(
    "/authorize",
    describeOperation({
      tag: "auth",
      summary: "Redirect to another provider for sign-in; requires PKCE",
      isPublic: true,
      ok: { status: 302, body: null },
      refusals: ["validation_failed", "oauth_provider_not_supported"],
    }),
    requirePublicOriginOrRedirect,
    limitClient("oauth_by_address"),
    validate("query", AuthorizeQuery, "validation_failed"),
    async (c) => {
      const query = c.req.valid("query");
      const to = query.redirect_to === undefined ? toLoginPage(c) : findRedirect(c, query.redirect_to);
      if (!to) return refuse(c, "validation_failed", { msg: "redirect_to: not acceptable" });
      const provider = findProviderSetting(c.env, query.provider);
      if (!provider) return refuse(c, "oauth_provider_not_supported");
      const url = await startOauthFlow(c, provider, query, to);
      return url ? c.redirect(url.href, 302) : redirectWithError(c, to, providerUnavailable);
    },
  )
  .get(
    "/callback",
    describeOperation({
      tag: "auth",
      summary: "Redirect target of a provider; redirects on with a code or an error",
      isPublic: true,
      ok: { status: 302, body: null },
    }),
    requirePublicOriginOrRedirect,
    limitClient("oauth_by_address"),
    async (c) => {
      const address = new URL(c.req.url);
      const flow = await consumeOauthFlow(openDb(c.env), address.searchParams.get("state") ?? "");
      if (!flow) return redirectWithError(c, toLoginPage(c), flowEnded);
      const to = new URL(flow.redirect_to);
      if (flow.isOver) return redirectWithError(c, to, flowEnded);
      const error = address.searchParams.get("error");
      if (error === "access_denied") {
        return redirectWithError(c, to, { error, code: "access_denied", description: "Not allowed at the provider" });
      }
      const provider = findProviderSetting(c.env, flow.provider);
      if (error !== null || !provider)
        return redirectWithError(c, to, error === providerUnavailable.error ? providerUnavailable : identityUnproven);
      try {
        const account = await fetchProviderAccount(provider, flow, address);
        const result = await finishOauthFlow(c, flow, { ...account, provider: provider.id });
        if ("error" in result) return redirectWithError(c, to, result);
        to.searchParams.set("code", result.code);
        return c.redirect(to.href, 302);
      } catch (failure) {
        if (failure instanceof IdentityUnprovenError) return redirectWithError(c, to, identityUnproven);
        if (!(failure instanceof ProviderUnavailableError)) logError("an OAuth callback failed", failure);
        return redirectWithError(c, to, providerUnavailable);
      }
    },
  )
  .get(
    "/user/identities/authorize",
    describeOperation({
      tag: "auth",
      summary: "URL for linking an account at another provider to one's own",
      ok: { status: 200, body: v.object({ url: v.string() }) },
      refusals: [
        "validation_failed",
        "oauth_provider_not_supported",
        "reauthentication_needed",
        "unavailable",
        "public_url_missing",
      ],
    }),
    authenticate,
    requirePublicOrigin,
    limitSession("security_by_session"),
    validate("query", AuthorizeQuery, "validation_failed"),
    requireReauthentication,
    async (c) => {
      const query = c.req.valid("query");
      const to = query.redirect_to === undefined ? toLoginPage(c) : findRedirect(c, query.redirect_to);
      if (!to) return refuse(c, "validation_failed", { msg: "redirect_to: not acceptable" });
      const provider = findProviderSetting(c.env, query.provider);
      if (!provider) return refuse(c, "oauth_provider_not_supported");
      const url = await startOauthFlow(c, provider, query, to, c.var.caller);
      return url ? c.json({ url: url.href }, 200) : refuse(c, "unavailable", { msg: providerUnavailable.description });
    },
  )
  .delete(
    "/user/identities/:id",
    describeOperation({
      tag: "auth",
      summary: "Unlink an account at another provider",
      ok: { status: 200, body: v.object({}) },
      refusals: ["invalid_input", "identity_not_found", "reauthentication_needed", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("param", v.object({ id: Uuid })),
    requireReauthentication,
    async (c) => {
      const { user, session } = c.var.caller;
      if (!(await deleteIdentity(openDb(c.env), user, c.req.valid("param").id))) return refuse(c, "identity_not_found");
      sendSecurityNotice(c, user, { event: "identity_unlinked", session, device: readDeviceName(c) });
      return c.json({}, 200);
    },
  );
