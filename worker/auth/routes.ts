import { getCookie } from "hono/cookie";
import * as v from "valibot";
import { AuthUser, personHeader, Session } from "#contract/auth/auth.ts";
import { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import {
  Challenge,
  grantTypes,
  PasswordGrant,
  PkceGrant,
  RefreshGrant,
  SignOut,
  SignUp,
} from "#contract/auth/sign-in.ts";
import type { Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import { findSessionEnd } from "#worker/db/ended-sessions.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticateAllowingPending, authenticateToken, findAccessToken } from "#worker/lib/http/authenticate.ts";
import { clearBrowserCache, clearSessionCookies, refreshCookie } from "#worker/lib/http/cookies.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { takeClientToken } from "#worker/lib/limits/client-limits.ts";
import { requireHashTurn } from "#worker/lib/limits/hashing-limit.ts";
import { takeToken } from "#worker/lib/limits/rate-limit.ts";
import { isVerifiableNumber } from "#worker/lib/number-adapters.ts";
import { isCommonPassword } from "./common-passwords.ts";
import { passkeyRoutes } from "./passkeys/passkey-routes.ts";
import { checkSignInPassword } from "./password-check.ts";
import { hashPassword } from "./passwords.ts";
import { redeemProofOfWork, serveProofChallenge } from "./proof-of-work.ts";
import { exchangeAuthCode, findUnlinkedIdentity } from "./providers/code-grant.ts";
import { oauthRoutes } from "./providers/oauth-routes.ts";
import { findAccount, insertUser, isPhoneTaken, toAuthUser, toPendingUser } from "./queries.ts";
import { recoveryRoutes } from "./recovery/recovery-routes.ts";
import { factorResetRoutes } from "./second-factor/factor-reset-routes.ts";
import { factorRoutes } from "./second-factor/factor-routes.ts";
import { toPasswordPreconditions } from "./second-factor/preconditions.ts";
import { recoveryCodeRoutes } from "./second-factor/recovery-code-routes.ts";
import { sendSecurityNotice } from "./security-notices.ts";
import { closeSockets } from "./sessions/close-sockets.ts";
import {
  findSessionState,
  listMissingSteps,
  startFirstSession,
  startSession,
  toSession,
  usesCookies,
} from "./sessions/open-session.ts";
import { parseRefreshToken } from "./sessions/refresh-token.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { findSessionByRefreshToken, revokeSessions, rotateSession } from "./sessions/sessions.ts";

const respondToPasswordGrant = async (c: AppContext, grant: v.InferOutput<typeof PasswordGrant>) => {
  const db = openDb(c.env);
  const checked = await checkSignInPassword(c, grant);
  if (checked.outcome === "limited") return refuse(c, "rate_limited", checked);
  if (checked.outcome === "proof_needed") return refuse(c, "captcha_failed");
  const account = checked.outcome === "correct" ? await findAccount(db, checked.id) : undefined;
  if (checked.outcome === "incorrect" || !account) return refuse(c, "invalid_credentials");
  const session = await startSession(
    c,
    account,
    "password",
    toPasswordPreconditions({ user_id: account.id, ...checked }),
  );
  return session ? c.json(session, 200) : refuse(c, "invalid_credentials");
};

const respondToCodeGrant = async (c: AppContext, grant: v.InferOutput<typeof PkceGrant>) => {
  const taken = await takeClientToken(c, "oauth_by_address");
  if (!taken.ok) return refuse(c, "rate_limited", taken);
  const result = await exchangeAuthCode(c, grant);
  if ("session" in result) return c.json(result.session, 200);
  return refuse(c, result.refusal, result.name ? { more: { name: result.name } } : {});
};

const respondToRefreshGrant = async (c: AppContext, { refresh_token }: v.InferOutput<typeof RefreshGrant>) => {
  const presentedToken = refresh_token ?? (usesCookies(c) ? getCookie(c, refreshCookie) : undefined);
  const token = presentedToken === undefined ? undefined : parseRefreshToken(c.env, presentedToken);
  if (!token) return refuse(c, "refresh_token_not_found");
  const db = openDb(c.env);
  // The token is checked before any limit is taken or row written, so that knowing a session id costs its holder
  // nothing.
  const row = await findSessionByRefreshToken(c.env, db, token);
  const taken = row && (await takeToken(db, row.id, "refresh_by_session"));
  if (taken?.ok === false) return refuse(c, "rate_limited", taken);
  if (row && token.generation > row.generation)
    console.warn("a refresh token is newer than its session: the database was restored from an earlier copy");
  const rotation = row ? await rotateSession(c.env, db, row, token.generation) : ({ outcome: "unknown" } as const);
  if (rotation.outcome === "renewed") {
    const user = await findAccount(db, rotation.user);
    const { awaits, methods } = rotation.tokens;
    const missingSteps = awaits ? await listMissingSteps(db, { user_id: rotation.user, methods }) : undefined;
    if (user) return c.json(await toSession(c, user, rotation.tokens, missingSteps), 200);
  }
  if (usesCookies(c)) clearBrowserCache(c);
  const hasEndedNow = rotation.outcome === "reused" || rotation.outcome === "expired";
  const end = hasEndedNow ? undefined : await findSessionEnd(db, token.session);
  // The cookies stay, so that the app is told the reason too if the service worker or a first view asked before it.
  if (end !== undefined) return refuse(c, end === "revoked" ? "session_revoked" : "account_deleted");
  if (usesCookies(c)) clearSessionCookies(c);
  if (!hasEndedNow) return refuse(c, "refresh_token_not_found");
  await closeSockets(c.env, rotation.user, [rotation.session]);
  if (rotation.outcome === "expired") return refuse(c, "session_expired");
  console.warn("a refresh token was reused; its session was revoked");
  // No notice for a pending session: a holder of the password alone could push out the owner's other notices.
  if (row && !row.awaits) {
    sendSecurityNotice(c, rotation.user, { event: "session_reused", session: rotation.session, device: row.device });
  }
  return refuse(c, "refresh_token_already_used");
};

type SignOutCaller = { user: Uuid; session: Uuid; isPending: boolean };

/** Caller of a sign-out, identified by the access token, or by the refresh cookie if the access token has expired. */
const findSignOutCaller = async (c: AppContext): Promise<SignOutCaller | undefined> => {
  const db = openDb(c.env);
  const access = findAccessToken(c);
  const full = access === undefined ? undefined : await authenticateToken(c.env, db, access);
  const isPending = full === "insufficient_aal";
  const authenticated = access !== undefined && isPending ? await authenticateToken(c.env, db, access, true) : full;
  if (typeof authenticated === "object") return { ...authenticated.caller, isPending };
  const cookie = usesCookies(c) ? getCookie(c, refreshCookie) : undefined;
  const token = cookie === undefined ? undefined : parseRefreshToken(c.env, cookie);
  const row = token && (await findSessionByRefreshToken(c.env, db, token));
  return row && { user: row.user_id, session: row.id, isPending: row.awaits };
};

export const authRoutes = createRoutes()
  .post(
    "/challenge",
    describeOperation({
      tag: "auth",
      summary:
        "Proof-of-work challenge for sign-up, recovery or sign-in; valid once, for this phone number, handle or address",
      isPublic: true,
      ok: { status: 200, body: Challenge },
      refusals: ["validation_failed", "forbidden_origin"],
    }),
    validate("json", ChallengeRequest, "validation_failed"),
    async (c) => c.json(await serveProofChallenge(c, c.req.valid("json")), 200),
  )
  .post(
    "/signup",
    describeOperation({
      tag: "auth",
      summary:
        "Create an account with phone and password, and sign in. Where numbers can be verified, a held number is only claimed, and the answer is the same",
      isPublic: true,
      ok: { status: 200, body: Session },
      refusals: [
        "validation_failed",
        "weak_password",
        "common_password",
        "captcha_failed",
        "phone_exists",
        "flow_state_not_found",
        "bad_code_verifier",
        "identity_already_exists",
        "forbidden_origin",
      ],
    }),
    validate("json", SignUp, "validation_failed"),
    async (c) => {
      const { phone, password, data, identity, gotrue_meta_security: meta } = c.req.valid("json");
      if (isCommonPassword(password)) return refuse(c, "common_password");
      requireHashTurn(c.env);
      const db = openDb(c.env);
      const isProved = await redeemProofOfWork(c, meta?.captcha_token, { action: "sign_up", subject: phone });
      if (!isProved) return refuse(c, "captcha_failed");
      // Checked before the phone number, so that a caller without a valid code learns nothing about the number.
      const providerIdentity = identity && (await findUnlinkedIdentity(db, identity));
      if (typeof providerIdentity === "string") return refuse(c, providerIdentity);
      // In a deployment that verifies numbers, only the verification tells whether somebody has a number.
      const isClaim = isVerifiableNumber(c.env, phone);
      if (!isClaim && (await isPhoneTaken(db, phone))) return refuse(c, "phone_exists");
      const password_hash = await hashPassword(c.env, password);
      const user = await insertUser(db, {
        phone,
        username: data?.username,
        password_hash,
        identity: providerIdentity,
        isClaim,
      });
      if (!user)
        return refuse(c, !isClaim && (await isPhoneTaken(db, phone)) ? "phone_exists" : "identity_already_exists");
      return c.json(await startFirstSession(c, user), 200);
    },
  )
  .post(
    "/token",
    describeOperation({
      tag: "auth",
      summary:
        "Sign in with phone (or handle with its @) and password, or exchange a refresh token or an authorization code for a session",
      isPublic: true,
      ok: { status: 200, body: Session },
      refusals: [
        "validation_failed",
        "unsupported_grant_type",
        "invalid_credentials",
        "captcha_failed",
        "refresh_token_not_found",
        "refresh_token_already_used",
        "session_expired",
        "session_revoked",
        "account_deleted",
        "flow_state_not_found",
        "bad_code_verifier",
        "phone_needed",
        "identity_already_exists",
        "session_not_found",
        "forbidden_origin",
      ],
    }),
    validate("query", v.object({ grant_type: v.picklist(grantTypes) }), "unsupported_grant_type"),
    validate("json", v.union([PasswordGrant, PkceGrant, RefreshGrant]), "validation_failed"),
    async (c) => {
      const body = c.req.valid("json");
      if (c.req.valid("query").grant_type === "password") {
        return "phone" in body ? respondToPasswordGrant(c, body) : refuse(c, "validation_failed");
      }
      if (c.req.valid("query").grant_type === "pkce") {
        return "auth_code" in body ? respondToCodeGrant(c, body) : refuse(c, "validation_failed");
      }
      return respondToRefreshGrant(c, "refresh_token" in body ? body : {});
    },
  )
  .post(
    "/logout",
    describeOperation({
      tag: "auth",
      summary: "End this session, the others, or all of them; their sockets close",
      ok: { status: 204, body: null },
      refusals: ["forbidden_origin"],
    }),
    validate("query", SignOut),
    async (c) => {
      const caller = await findSignOutCaller(c);
      // Another person has signed in with this browser since then; their session continues.
      const person = c.req.header(personHeader);
      if (caller && person !== undefined && person !== caller.user) return refuse(c, "session_not_found");
      // A pending session can only end itself, whatever scope was requested.
      const scope = caller?.isPending ? "local" : c.req.valid("query").scope;
      if (scope !== "others") {
        if (usesCookies(c)) clearSessionCookies(c);
        clearBrowserCache(c);
      }
      if (!caller) return refuse(c, findAccessToken(c) === undefined ? "no_authorization" : "session_not_found");
      const { user, session } = caller;
      const selection = scope === "global" ? "all" : scope === "local" ? { only: session } : { allBut: session };
      const ended = await revokeSessions(openDb(c.env), user, selection);
      await closeSockets(c.env, user, scope === "global" ? "all" : ended);
      return c.body(null, 204);
    },
  )
  .get(
    "/.well-known/jwks.json",
    describeOperation({
      tag: "auth",
      summary: "JSON Web Key Set by which clients of the public GoTrue API verify tokens locally",
      isPublic: true,
      ok: { status: 200, body: v.object({ keys: v.array(v.object({ kid: v.string() })) }) },
    }),
    // Tokens are signed with Ed25519, which those clients do not support. Without a key they call `/user` instead.
    (c) => c.json({ keys: [] }, 200),
  )
  .get(
    "/user",
    describeOperation({ tag: "auth", summary: "The signed-in user", ok: { status: 200, body: AuthUser } }),
    authenticateAllowingPending,
    async (c) => {
      const { user: id, session } = c.var.caller;
      const [user, state] = await Promise.all([findAccount(openDb(c.env), id), findSessionState(c, session)]);
      if (!user || !state) return refuse(c, "session_not_found");
      return c.json(state.awaits ? toPendingUser(user) : toAuthUser(user), 200);
    },
  )
  .route("/", sessionRoutes)
  .route("/", recoveryRoutes)
  .route("/", factorResetRoutes)
  .route("/", factorRoutes)
  .route("/", recoveryCodeRoutes)
  .route("/", passkeyRoutes)
  .route("/", oauthRoutes);
