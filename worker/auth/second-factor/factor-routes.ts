import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Enrolled, Enrolment, FactorChallenge, FactorProof, FactorRemoved } from "#contract/auth/factors.ts";
import { Uuid } from "#contract/ids.ts";
import { ceremonySeconds } from "#contract/limits/authentication.ts";
import { insertCeremony } from "#worker/auth/passkeys/ceremonies.ts";
import { findAccount } from "#worker/auth/queries.ts";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { readDeviceName } from "#worker/auth/sessions/device-name.ts";
import { acceptFactor } from "#worker/auth/sessions/open-session.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate, authenticateAllowingPending } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { toAddressKey } from "#worker/lib/limits/client-limits.ts";
import { limitSession, type RateLimitName, returnToken, takeTokens } from "#worker/lib/limits/rate-limit.ts";
import { requireReauthentication, revokeOtherReauthentications } from "./assurance.ts";
import {
  deleteFactor,
  findFactor,
  hasOpenChallenge,
  insertFactor,
  redeemTotpStep,
  unsealTotpSecret,
} from "./factors.ts";
import { toCodeAppPreconditions } from "./preconditions.ts";
import { findReauthenticationExpiry } from "./reauthentication.ts";
import { findTotpStep, toEnrolment } from "./totp.ts";

const FactorIdParam = v.object({ id: Uuid });

/** Buckets charged for a wrong code: those of the person for a pending session, that of the session for a full one. */
const listFailureBuckets = (c: AppContext, awaits: boolean): (readonly [RateLimitName, string])[] => {
  const { user, session } = c.var.caller;
  if (!awaits) return [["totp_failure_by_session", session]];
  return [
    ["totp_failure_by_user_and_address", `${user} ${toAddressKey(c)}`],
    ["totp_failure_by_user", user],
  ];
};

/** Code app (TOTP) routes in the wire format of the public GoTrue API (SPEC.md §7). */
export const factorRoutes = createRoutes()
  .post(
    "/factors",
    describeOperation({
      tag: "auth",
      summary: "Add a code app. It becomes active with its first correct code and replaces one that never did",
      ok: { status: 200, body: Enrolled },
      refusals: ["validation_failed", "reauthentication_needed", "too_many_enrolled_mfa_factors", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    requireReauthentication,
    validate("json", Enrolment, "validation_failed"),
    async (c) => {
      const db = openDb(c.env);
      const user = await findAccount(db, c.var.caller.user);
      if (!user) return refuse(c, "session_not_found");
      const enrolment = c.req.valid("json");
      const added = await insertFactor(c.env, db, user.id, enrolment.friendly_name);
      if (!added) return refuse(c, "too_many_enrolled_mfa_factors");
      const { id, friendly_name, secret } = added;
      const totp = toEnrolment(secret, user.phone, enrolment.issuer);
      return c.json({ id, type: "totp" as const, friendly_name, totp }, 200);
    },
  )
  .delete(
    "/factors/:id",
    describeOperation({
      tag: "auth",
      summary: "Remove a code app. Recovery codes stay, because they also replace a lost password",
      ok: { status: 200, body: FactorRemoved },
      refusals: ["invalid_input", "reauthentication_needed", "mfa_factor_not_found", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("param", FactorIdParam),
    async (c) => {
      const { caller } = c.var;
      const db = openDb(c.env);
      const factor = await findFactor(db, caller, c.req.valid("param").id);
      if (!factor) return refuse(c, "mfa_factor_not_found");
      if (factor.is_verified && (await findReauthenticationExpiry(db, caller, Date.now())) === null) {
        return refuse(c, "reauthentication_needed");
      }
      const wasDeleted = await deleteFactor(db, factor.id);
      if (wasDeleted && factor.is_verified) {
        sendSecurityNotice(c, caller.user, {
          event: "factor_removed",
          session: caller.session,
          device: readDeviceName(c),
        });
      }
      return c.json({ id: factor.id }, 200);
    },
  )
  .post(
    "/factors/:id/challenge",
    describeOperation({
      tag: "auth",
      summary: "Create a challenge for a code, to be answered by `verify` within five minutes",
      ok: { status: 200, body: FactorChallenge },
      refusals: ["invalid_input", "mfa_factor_not_found", "forbidden_origin"],
    }),
    authenticateAllowingPending,
    limitSession("step_by_session"),
    validate("param", FactorIdParam),
    async (c) => {
      const { user, session } = c.var.caller;
      const db = openDb(c.env);
      const factor = await findFactor(db, c.var.caller, c.req.valid("param").id);
      if (!factor) return refuse(c, "mfa_factor_not_found");
      const now = Date.now();
      const enrolment = { kind: "totp", user_id: user, session_id: session, factor_id: factor.id } as const;
      const id = await insertCeremony(db, enrolment, "", now);
      return c.json({ id, type: "totp" as const, expires_at: Math.floor(now / 1_000) + ceremonySeconds }, 200);
    },
  )
  .post(
    "/factors/:id/verify",
    describeOperation({
      tag: "auth",
      summary:
        "Verify a code: as the second factor, as reauthentication, or, after a recent one, to activate a new code app. Each code works once",
      ok: { status: 200, body: Session },
      refusals: [
        "validation_failed",
        "reauthentication_needed",
        "mfa_factor_not_found",
        "mfa_challenge_expired",
        "mfa_verification_failed",
        "forbidden_origin",
      ],
    }),
    authenticateAllowingPending,
    validate("param", FactorIdParam, "validation_failed"),
    validate("json", FactorProof, "validation_failed"),
    async (c) => {
      const { caller } = c.var;
      const { challenge_id, code } = c.req.valid("json");
      const db = openDb(c.env);
      const factor = await findFactor(db, caller, c.req.valid("param").id);
      if (!factor) return refuse(c, "mfa_factor_not_found");
      // The reauthentication at enrolment does not count once it has expired; otherwise it would never end.
      if (!factor.is_verified && (await findReauthenticationExpiry(db, caller, Date.now())) === null) {
        return refuse(c, "reauthentication_needed");
      }
      if (!(await hasOpenChallenge(db, caller, factor.id, challenge_id))) return refuse(c, "mfa_challenge_expired");
      const failures = listFailureBuckets(c, factor.awaits);
      const attempts = factor.awaits ? ([["totp_by_user", caller.user]] as const) : [];
      const taken = await takeTokens(db, [...failures, ...attempts]);
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      const step = findTotpStep(await unsealTotpSecret(c.env, db, factor), code, Date.now());
      if (step === undefined || !(await redeemTotpStep(db, caller, factor, challenge_id, step))) {
        return refuse(c, "mfa_verification_failed");
      }
      for (const [name, key] of failures) await returnToken(db, key, name);
      if (!factor.is_verified) {
        await revokeOtherReauthentications(db, caller);
        sendSecurityNotice(c, caller.user, {
          event: "factor_added",
          session: caller.session,
          device: readDeviceName(c),
        });
      }
      const session = await acceptFactor(c, "totp", toCodeAppPreconditions(factor.id));
      if (typeof session === "object") return c.json(session, 200);
      return refuse(c, session === "refused" ? "mfa_verification_failed" : session);
    },
  );
