import * as v from "valibot";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { Uuid } from "#contract/ids.ts";
import { authCodeSeconds, oauthFlowSeconds } from "#contract/limits/authentication.ts";
import { requestApi } from "#lib/http/api.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { getSession, type OpenedSession } from "#lib/session/session.ts";
import { openSession } from "#lib/session/sign-in.ts";
import { savePendingRegistration } from "./pending-registration.ts";

/**
 * Signs in with another identity provider, and links one to the account. The page navigates to the provider's. The
 * callback URL contains a code that is useless without the verifier stored in this browser (PKCE, RFC 7636). Each
 * function throws `ApiRequestError`.
 */

/** Started flow. All tabs share it, because an installed app may return in another one. */
const OAuthFlow = v.object({ provider: v.string(), verifier: v.string(), user: v.nullable(Uuid), at: v.number() });
type OAuthFlow = v.InferOutput<typeof OAuthFlow>;

const flowStorageKey = "oauth";
const flowMaxMs = (oauthFlowSeconds + authCodeSeconds) * 1_000;

const storeOrFail = (store: () => void): void => {
  try {
    store();
  } catch {
    // Without storage the flow cannot be completed in this browser.
    throw new ApiRequestError("unavailable", 0);
  }
};

const saveFlow = (flow: Omit<OAuthFlow, "at">): void =>
  storeOrFail(() =>
    localStorage.setItem(flowStorageKey, JSON.stringify({ ...flow, at: Date.now() } satisfies OAuthFlow)),
  );

/** Reads and deletes the latest started flow. */
const consumeFlow = (): OAuthFlow | undefined => {
  try {
    const parsed = v.safeParse(OAuthFlow, JSON.parse(localStorage.getItem(flowStorageKey) ?? "null"));
    localStorage.removeItem(flowStorageKey);
    return parsed.success && Date.now() - parsed.output.at < flowMaxMs ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** Starts a flow that returns to `path`; returns the query of the authorization request. */
const startFlow = async (provider: string, path: string, user: Uuid | null): Promise<URLSearchParams> => {
  const verifier = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  saveFlow({ provider, verifier, user });
  return new URLSearchParams({
    provider,
    redirect_to: location.origin + path,
    code_challenge: toBase64url(new Uint8Array(digest)),
    code_challenge_method: "s256",
  });
};

/** Navigates to a provider to sign in or register. Returns to the log-in page, which calls `finishProviderSignIn`. */
export const startProviderSignIn = async (provider: string): Promise<void> => {
  location.assign(`/api/auth/authorize?${await startFlow(provider, "/login", null)}`);
};

const AuthorizationUrl = v.object({ url: v.pipe(v.string(), v.url(), v.regex(/^https?:/)) });

/**
 * Navigates to a provider to link its account. Returns to the current page, which calls `finishProviderLinking`. Needs
 * a recent authentication (`reauthentication_needed`).
 */
export const startProviderLinking = async (provider: string): Promise<void> => {
  const query = await startFlow(provider, location.pathname, getSession()?.userId ?? null);
  query.set("skip_http_redirect", "true");
  const { url } = parseResponse(
    AuthorizationUrl,
    await requestApi("GET", `/api/auth/user/identities/authorize?${query}`),
  );
  location.assign(url);
};

/** Needs a recent authentication. */
export const unlinkIdentity = async (id: Uuid): Promise<void> => {
  await requestApi("DELETE", `/api/auth/user/identities/${id}`);
};

/** Whether the URL contains the result of a provider flow. */
export const hasOAuthCallback = (): boolean => {
  const query = new URLSearchParams(location.search);
  return query.has("code") || query.has("error");
};

const callbackParameters = ["code", "error", "error_code", "error_description"];

/**
 * Reads the callback parameters and removes them from the URL, so that neither a reload nor back navigation repeats
 * them.
 */
const consumeCallback = (): { code: string } | { error: ErrorCode | "cancelled" } | undefined => {
  if (!hasOAuthCallback()) return undefined;
  const url = new URL(location.href);
  const [code, error, errorCode] = ["code", "error", "error_code"].map((name) => url.searchParams.get(name));
  for (const name of callbackParameters) url.searchParams.delete(name);
  history.replaceState(history.state, "", url.pathname + url.search + url.hash);
  if (code) return { code };
  if (error === "access_denied") return { error: "cancelled" };
  return { error: isErrorCode(errorCode) ? errorCode : "bad_oauth_callback" };
};

/** Exchanges the callback's code for a session; "cancelled" if the person aborted at the provider. */
const finishFlow = async (user: Uuid | null): Promise<{ opened: OpenedSession } | "cancelled" | undefined> => {
  const callback = consumeCallback();
  if (!callback) return undefined;
  const flow = consumeFlow();
  if ("error" in callback) {
    if (callback.error === "cancelled") return "cancelled";
    throw new ApiRequestError(callback.error, 400);
  }
  if (!flow || flow.user !== user) throw new ApiRequestError("bad_code_verifier", 400);
  const identity = { auth_code: callback.code, code_verifier: flow.verifier };
  try {
    return { opened: await openSession("/api/auth/token?grant_type=pkce", identity) };
  } catch (error) {
    if (error instanceof ApiRequestError && error.code === "phone_needed") {
      const body = v.safeParse(v.object({ name: v.string() }), error.body);
      const name = body.success ? body.output.name : null;
      storeOrFail(() => savePendingRegistration({ provider: flow.provider, name, identity }));
    }
    throw error;
  }
};

/**
 * Result of signing in with a provider, reported once on the log-in page; undefined without a callback. If the server
 * answers `phone_needed`, registration continues with the saved identity (src/lib/factors/pending-registration.ts).
 */
export const finishProviderSignIn = async (): Promise<OpenedSession | "cancelled" | undefined> => {
  const result = await finishFlow(null);
  return typeof result === "object" ? result.opened : result;
};

/** Result of linking, reported once on the page it started from; undefined without a callback. */
export const finishProviderLinking = async (): Promise<"linked" | "cancelled" | undefined> => {
  const result = await finishFlow(getSession()?.userId ?? null);
  return typeof result === "object" ? "linked" : result;
};
