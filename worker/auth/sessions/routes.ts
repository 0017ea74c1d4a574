import * as v from "valibot";
import { AuthUser, Session } from "#contract/auth/auth.ts";
import { PasswordProof } from "#contract/auth/factors.ts";
import { Security, SignedInDevice, UserChange } from "#contract/auth/security.ts";
import { isAcceptablePassword } from "#contract/auth/sign-in.ts";
import { Uuid } from "#contract/ids.ts";
import { isCommonPassword } from "#worker/auth/common-passwords.ts";
import { checkOwnPassword } from "#worker/auth/password-check.ts";
import { hashPassword, verifyPassword } from "#worker/auth/passwords.ts";
import { listPublicProviders } from "#worker/auth/providers/providers.ts";
import { findAccount, findOwnCredentials, toAuthUser, updateUsername } from "#worker/auth/queries.ts";
import { setRecoveryAddress, takeMailLimits } from "#worker/auth/recovery/recovery-address.ts";
import { findSecondFactors } from "#worker/auth/second-factor/assurance.ts";
import { toPasswordPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import { findReauthenticationExpiry } from "#worker/auth/second-factor/reauthentication.ts";
import { mailSecurityNotice, sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { listDevices, readSecurityOverview } from "#worker/auth/security-overview.ts";
import { openDb } from "#worker/db/client.ts";
import { pushUpdatesAbout } from "#worker/lib/contact-updates.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate, isSessionLive } from "#worker/lib/http/authenticate.ts";
import { clearBrowserCache, clearSessionCookies } from "#worker/lib/http/cookies.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { findPublicOrigin, logMissingPublicUrl } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitSession, type RateLimitResult, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { createPasswordChangeMail } from "#worker/mail/warnings.ts";
import { closeSockets } from "./close-sockets.ts";
import { readDeviceName } from "./device-name.ts";
import { acceptFactor, usesCookies } from "./open-session.ts";
import { changePassword, revokeSessions } from "./sessions.ts";

const DeviceList = v.object({ devices: v.array(SignedInDevice) });

type PasswordHashes = { from: string; to: string };
type LimitRefusal = Extract<RateLimitResult, { ok: false }>;

/**
 * Validates a new password. Returns the hashes of the current and the new one, or the reason for a refusal. Writes
 * nothing.
 */
const preparePasswordChange = async (
  c: AppContext,
  password: string,
): Promise<
  PasswordHashes | LimitRefusal | "weak_password" | "common_password" | "same_password" | "session_not_found"
> => {
  if (!isAcceptablePassword(password)) return "weak_password";
  if (isCommonPassword(password)) return "common_password";
  const db = openDb(c.env);
  const credentials = await findOwnCredentials(db, c.var.caller.user);
  if (!credentials) return "session_not_found";
  const takeHashToken = () => takeToken(db, c.var.caller.session, "password_change_by_session");
  let taken = await takeHashToken();
  if (!taken.ok) return taken;
  if (await verifyPassword(c.env, password, credentials.password_hash)) return "same_password";
  taken = await takeHashToken();
  return taken.ok ? { from: credentials.password_hash, to: await hashPassword(c.env, password) } : taken;
};

/** Sets a new password and ends all other sessions. Returns false if another device changed the password meanwhile. */
const setPassword = async (c: AppContext, hashes: PasswordHashes): Promise<boolean> => {
  const { user, session } = c.var.caller;
  const ended = await changePassword(openDb(c.env), c.var.caller, hashes, Date.now());
  if (!ended) return false;
  runAfterResponse(c.executionCtx, "close sockets after a password change", closeSockets(c.env, user, ended));
  sendSecurityNotice(c, user, { event: "password_changed", session, device: readDeviceName(c) });
  mailSecurityNotice(c, user, createPasswordChangeMail);
  return true;
};

export const sessionRoutes = createRoutes()
  .get(
    "/security",
    describeOperation({
      tag: "auth",
      summary: "Security settings: factors, passkeys, recovery, providers, devices",
      ok: { status: 200, body: Security },
    }),
    authenticate,
    async (c) => {
      const security = await readSecurityOverview(openDb(c.env), c.var.caller, Date.now());
      return c.json({ ...security, providers: listPublicProviders(c.env) } satisfies Security, 200);
    },
  )
  .get(
    "/sessions",
    describeOperation({
      tag: "auth",
      summary: "Signed-in devices, most recently used first",
      ok: { status: 200, body: DeviceList },
    }),
    authenticate,
    async (c) => c.json({ devices: await listDevices(openDb(c.env), c.var.caller, Date.now()) }, 200),
  )
  .delete(
    "/sessions/:id",
    describeOperation({
      tag: "auth",
      summary: "Sign out one of one's own devices; its sockets close",
      ok: { status: 204, body: null },
      refusals: ["invalid_input", "not_found", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("param", v.object({ id: Uuid })),
    async (c) => {
      const { user, session } = c.var.caller;
      const ended = await revokeSessions(openDb(c.env), user, { only: c.req.valid("param").id });
      if (ended.length === 0) return refuse(c, "not_found");
      await closeSockets(c.env, user, ended);
      if (ended.includes(session)) {
        if (usesCookies(c)) clearSessionCookies(c);
        clearBrowserCache(c);
      }
      return c.body(null, 204);
    },
  )
  .delete(
    "/sessions",
    describeOperation({
      tag: "auth",
      summary: "Sign out all one's other devices; their sockets close",
      ok: { status: 204, body: null },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      await closeSockets(c.env, user, await revokeSessions(openDb(c.env), user, { allBut: session }));
      return c.body(null, 204);
    },
  )
  .post(
    "/proof",
    describeOperation({
      tag: "auth",
      summary: "Reauthenticate with the password; refused where a second factor is required",
      ok: { status: 200, body: Session },
      refusals: ["validation_failed", "invalid_credentials", "reauthentication_needed", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("json", PasswordProof, "validation_failed"),
    async (c) => {
      const { user } = c.var.caller;
      const db = openDb(c.env);
      if ((await findSecondFactors(db, user)).isRequired) return refuse(c, "reauthentication_needed");
      const credentials = await findOwnCredentials(db, user);
      if (!credentials) return refuse(c, "session_not_found");
      const account = { id: user, password_hash: credentials.password_hash };
      const checked = await checkOwnPassword(c, account, c.req.valid("json").password);
      if (checked.outcome === "limited") return refuse(c, "rate_limited", checked);
      if (checked.outcome === "incorrect") return refuse(c, "invalid_credentials");
      const session = await acceptFactor(c, "password", toPasswordPreconditions({ user_id: user, ...checked }));
      if (typeof session === "object") return c.json(session, 200);
      return refuse(c, session === "refused" ? "reauthentication_needed" : session);
    },
  )
  .put(
    "/user",
    describeOperation({
      tag: "auth",
      summary: "Change the password, which signs out all other devices, the recovery address, or the name",
      ok: { status: 200, body: AuthUser },
      refusals: [
        "validation_failed",
        "reauthentication_needed",
        "weak_password",
        "common_password",
        "invalid_name",
        "mixed_name",
        "reserved_name",
        "same_password",
        "public_url_missing",
        "forbidden_origin",
      ],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("json", UserChange, "validation_failed"),
    async (c) => {
      const { password, email, data } = c.req.valid("json");
      const db = openDb(c.env);
      const needsReauthentication = password !== undefined || email !== undefined;
      if (needsReauthentication && (await findReauthenticationExpiry(db, c.var.caller, Date.now())) === null) {
        return refuse(c, "reauthentication_needed");
      }
      if (email && findPublicOrigin(c) === undefined) {
        logMissingPublicUrl();
        return refuse(c, "public_url_missing");
      }
      // All checks run before anything is written, so that password and address change together or not at all.
      const hashes = password === undefined ? undefined : await preparePasswordChange(c, password);
      if (typeof hashes === "string") return refuse(c, hashes);
      if (hashes && "ok" in hashes) return refuse(c, "rate_limited", hashes);
      const taken = email === undefined ? undefined : await takeMailLimits(c, email);
      if (taken?.ok === false) return refuse(c, "rate_limited", taken);
      if (data?.username !== undefined) {
        const changed = await updateUsername(db, c.var.caller.user, data.username);
        if (!changed.ok) return refuse(c, "rate_limited", changed);
        runAfterResponse(c.executionCtx, "push a changed name", pushUpdatesAbout(c.env, c.var.caller.user));
      }
      if (hashes && !(await setPassword(c, hashes))) {
        const isLive = await isSessionLive(db, c.var.caller.session);
        return refuse(c, isLive ? "reauthentication_needed" : "session_not_found");
      }
      if (email !== undefined) await setRecoveryAddress(c, email);
      const user = await findAccount(db, c.var.caller.user);
      return user ? c.json(toAuthUser(user), 200) : refuse(c, "session_not_found");
    },
  );
