import { FactorReset } from "#contract/auth/security.ts";
import { mailSecurityNotice, sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { readDeviceName } from "#worker/auth/sessions/device-name.ts";
import { findSessionState } from "#worker/auth/sessions/open-session.ts";
import { openDb } from "#worker/db/client.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate, authenticateAllowingPending } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { limitSession } from "#worker/lib/limits/rate-limit.ts";
import { createFactorResetMail } from "#worker/mail/warnings.ts";
import { cancelFactorReset, startFactorReset } from "./factor-reset.ts";

/** Routes to remove the second factor of an account whose owner has lost all of them. */
export const factorResetRoutes = createRoutes()
  .post(
    "/factors/reset",
    describeOperation({
      tag: "auth",
      summary:
        "Request, in a pending session, that the second factor be removed after three days. Repeated requests return the date; after a cancellation a pause applies",
      ok: { status: 200, body: FactorReset },
      refusals: ["reset_not_possible", "reset_paused", "forbidden_origin"],
    }),
    authenticateAllowingPending,
    limitSession("step_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      const state = await findSessionState(c, session);
      if (!state?.awaits) return refuse(c, "reset_not_possible");
      const reset = await startFactorReset(openDb(c.env), user);
      if (!reset.ok) return refuse(c, "reset_paused", reset);
      const { isNew, started_at, due_at } = reset;
      if (isNew) {
        // The requesting session is pending and shows no notices; all other devices are notified.
        sendSecurityNotice(c, user, { event: "reset_started", session: null, device: readDeviceName(c), due_at });
        mailSecurityNotice(c, user, (to, language) => createFactorResetMail(to, language, due_at));
      }
      return c.json({ started_at, due_at }, 200);
    },
  )
  .delete(
    "/factors/reset",
    describeOperation({
      tag: "auth",
      summary: "Keep the second factor: cancels its removal, if one is pending",
      ok: { status: 204, body: null },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      if (await cancelFactorReset(openDb(c.env), user)) {
        sendSecurityNotice(c, user, { event: "reset_cancelled", session, device: readDeviceName(c) });
      }
      return c.body(null, 204);
    },
  );
