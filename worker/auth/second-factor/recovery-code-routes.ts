import { Session } from "#contract/auth/auth.ts";
import { CodeProof, RecoveryCodes } from "#contract/auth/factors.ts";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { readDeviceName } from "#worker/auth/sessions/device-name.ts";
import { acceptFactor, findSessionState } from "#worker/auth/sessions/open-session.ts";
import { openDb } from "#worker/db/client.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate, authenticateAllowingPending } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitSession } from "#worker/lib/limits/rate-limit.ts";
import { findSecondFactors, requireReauthentication } from "./assurance.ts";
import { findRecoveryCode, replaceRecoveryCodes } from "./recovery-codes.ts";

export const recoveryCodeRoutes = createRoutes()
  .post(
    "/recovery-codes",
    describeOperation({
      tag: "auth",
      summary: "Create ten recovery codes, each valid once. They are shown only here and replace all earlier ones",
      ok: { status: 200, body: RecoveryCodes },
      refusals: ["reauthentication_needed", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    requireReauthentication,
    async (c) => {
      const { user, session } = c.var.caller;
      const codes = await replaceRecoveryCodes(openDb(c.env), c.env, user);
      sendSecurityNotice(c, user, { event: "recovery_codes_made", session, device: readDeviceName(c) });
      return c.json({ codes }, 200);
    },
  )
  .post(
    "/recovery-codes/verify",
    describeOperation({
      tag: "auth",
      summary: "Use a recovery code: as the second factor or as reauthentication. Each code works once",
      ok: { status: 200, body: Session },
      refusals: ["validation_failed", "mfa_verification_failed", "forbidden_origin"],
    }),
    authenticateAllowingPending,
    limitSession("recovery_code_by_session"),
    validate("json", CodeProof, "validation_failed"),
    async (c) => {
      const { user, session } = c.var.caller;
      const db = openDb(c.env);
      const [state, secondFactors] = await Promise.all([findSessionState(c, session), findSecondFactors(db, user)]);
      if (!state) return refuse(c, "session_not_found");
      // A recovery code that replaced the password cannot also be the second factor.
      const replacedPassword = secondFactors.isRequired && state.methods.startsWith("recovery_code");
      const recoveryCode = replacedPassword
        ? undefined
        : await findRecoveryCode(db, c.env, [user], c.req.valid("json").code);
      const result = recoveryCode ? await acceptFactor(c, "recovery_code", recoveryCode.ground) : "refused";
      if (typeof result === "object") return c.json(result, 200);
      return refuse(c, result === "refused" ? "mfa_verification_failed" : result);
    },
  );
