import { FactorReset } from "../../contract/security";
import { openDb } from "../db/client";
import { createRoutes } from "../lib/app";
import { authenticate, authenticateHalfway } from "../lib/authenticate";
import { operation } from "../lib/operation";
import { limitSession } from "../lib/rate-limit";
import { refuse } from "../lib/refusal";
import { resetMail } from "../mail/warnings";
import { deviceOf } from "./device-name";
import { cancelReset, startReset } from "./factor-reset";
import { notify, notifyByMail } from "./notices";
import { findStanding } from "./opening";

/** For whoever has nothing left to show as their second step. */
export const factorResetRoutes = createRoutes()
  .post(
    "/factors/reset",
    operation({
      tag: "auth",
      summary:
        "Ask, in a session that owes its second step, that it be taken away after three days. Asked again, it tells when; after it was stopped one waits before asking again",
      ok: { status: 200, body: FactorReset },
      refusals: ["reset_not_possible", "reset_paused", "forbidden_origin"],
    }),
    authenticateHalfway,
    limitSession("step_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      const standing = await findStanding(c, session);
      if (!standing?.awaits) return refuse(c, "reset_not_possible");
      const started = await startReset(openDb(c.env), user);
      if (!started.ok) return refuse(c, "reset_paused", started);
      const { isNew, started_at, due_at } = started;
      if (isNew) {
        // The session that asked shows nothing yet: everybody else's devices are told.
        notify(c, user, { event: "reset_started", session: null, device: deviceOf(c), due_at });
        notifyByMail(c, user, (to, language) => resetMail(to, language, due_at));
      }
      return c.json({ started_at, due_at }, 200);
    },
  )
  .delete(
    "/factors/reset",
    operation({
      tag: "auth",
      summary: "Keep the second step: ends the wait for its being taken away, if there is one",
      ok: { status: 204, body: null },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      if (await cancelReset(openDb(c.env), user)) {
        notify(c, user, { event: "reset_cancelled", session, device: deviceOf(c) });
      }
      return c.body(null, 204);
    },
  );
