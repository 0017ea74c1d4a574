import { SettingsChange, VersionedSettings } from "#contract/settings/settings.ts";
import { openDb } from "#worker/db/client.ts";
import { pushUpdatesAbout } from "#worker/lib/contact-updates.ts";
import { createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { changesProfile, getUserSettings, updateUserSettings } from "./queries.ts";
import { deliverSettings } from "./settings-delivery.ts";

/** Settings routes: synchronised across a person's devices. */
export const settingsRoutes = createRoutes()
  .get(
    "/settings",
    describeOperation({
      tag: "people",
      summary: "Own settings and their version",
      ok: { status: 200, body: VersionedSettings },
    }),
    authenticate,
    async (c) => c.json(await getUserSettings(openDb(c.env), c.var.caller.user), 200),
  )
  .patch(
    "/settings",
    describeOperation({
      tag: "people",
      summary:
        "Change some of one's own settings. The response confirms that they are in force; otherwise repeat the request",
      ok: { status: 200, body: VersionedSettings },
      refusals: ["invalid_input", "forbidden_origin", "unavailable"],
    }),
    authenticate,
    validate("json", SettingsChange),
    limitCaller("settings_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const change = c.req.valid("json");
      if (changesProfile(change)) {
        const taken = await takeToken(openDb(c.env), me, "profile_change_by_user");
        if (!taken.ok) return refuse(c, "rate_limited", taken);
      }
      const changed = await updateUserSettings(openDb(c.env), me, change);
      if (changesProfile(change)) {
        runAfterResponse(c.executionCtx, "push a changed profile", pushUpdatesAbout(c.env, me));
      }
      try {
        await deliverSettings(c.env, me, changed);
      } catch (error) {
        logError("settings could not be delivered and wait for the next socket", error);
        return refuse(c, "unavailable");
      }
      return c.json(changed, 200);
    },
  );
