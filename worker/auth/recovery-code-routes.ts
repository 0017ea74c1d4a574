import { Session } from "../../contract/auth";
import { CodeProof, RecoveryCodes } from "../../contract/factors";
import { openDb } from "../db/client";
import { createRoutes } from "../lib/app";
import { authenticate, authenticateHalfway } from "../lib/authenticate";
import { operation } from "../lib/operation";
import { limitSession } from "../lib/rate-limit";
import { refuse } from "../lib/refusal";
import { validate } from "../lib/validate";
import { findMeans, requireProof } from "./assurance";
import { deviceOf } from "./device-name";
import { notify } from "./notices";
import { findStanding, prove } from "./opening";
import { findRecoveryCode, replaceRecoveryCodes } from "./recovery-codes";

export const recoveryCodeRoutes = createRoutes()
  .post(
    "/recovery-codes",
    operation({
      tag: "auth",
      summary: "Make ten recovery codes, each good once. They are told here only, and void all earlier ones",
      ok: { status: 200, body: RecoveryCodes },
      refusals: ["reauthentication_needed", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    requireProof,
    async (c) => {
      const { user, session } = c.var.caller;
      const codes = await replaceRecoveryCodes(openDb(c.env), c.env, user);
      notify(c, user, { event: "recovery_codes_made", session, device: deviceOf(c) });
      return c.json({ codes }, 200);
    },
  )
  .post(
    "/recovery-codes/verify",
    operation({
      tag: "auth",
      summary: "Show a recovery code: as the second step, or as a step-up. It works once",
      ok: { status: 200, body: Session },
      refusals: ["validation_failed", "mfa_verification_failed", "forbidden_origin"],
    }),
    authenticateHalfway,
    limitSession("recovery_code_by_session"),
    validate("json", CodeProof, "validation_failed"),
    async (c) => {
      const { user, session } = c.var.caller;
      const db = openDb(c.env);
      const [standing, means] = await Promise.all([findStanding(c, session), findMeans(db, user)]);
      if (!standing) return refuse(c, "session_not_found");
      // The paper that stood for the password does not stand for the second step too.
      const stoodForPassword = means.isAsked && standing.methods.startsWith("recovery_code");
      const found = stoodForPassword ? undefined : await findRecoveryCode(db, c.env, user, c.req.valid("json").code);
      const proved = found ? await prove(c, "recovery_code", found.ground) : "refused";
      if (typeof proved === "object") return c.json(proved, 200);
      return refuse(c, proved === "refused" ? "mfa_verification_failed" : proved);
    },
  );
