import type { Uuid } from "#contract/ids.ts";
import { PushKey, PushSubscriptionBody, PushTestResult } from "#contract/push.ts";
import { openDb } from "#worker/db/client.ts";
import { assignEndpoint, deleteEndpointOfSession, isEndpointOfSession } from "#worker/db/push-endpoints.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { getPublicOrigin, requirePublicOrigin } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { isCurvePoint } from "#worker/lib/push/encryption.ts";
import { hashPushEndpoint, isAllowedEndpoint } from "#worker/lib/push/endpoints.ts";
import { findVapidKey } from "#worker/lib/push/vapid.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

/** Removes a subscription from a person's channel. If that fails, it is removed before the next push. */
const removeSubscription = async (env: Env, user: Uuid, session: Uuid): Promise<void> => {
  try {
    await withRetry(() => getUserChannelStub(env, user).removePushSubscription(session));
  } catch (error) {
    logError("a push subscription could not be removed from its channel", error);
  }
};

/** Push subscriptions of devices (contract/push.ts). */
export const pushRoutes = createRoutes()
  .get(
    "/push/key",
    describeOperation({
      tag: "people",
      summary: "Public key of the server (VAPID) for push subscriptions",
      ok: { status: 200, body: PushKey },
      refusals: ["push_unavailable"],
    }),
    authenticate,
    async (c) => {
      const key = await findVapidKey(c.env);
      return key === undefined ? refuse(c, "push_unavailable") : c.json({ key }, 200);
    },
  )
  .put(
    "/push/subscription",
    describeOperation({
      tag: "people",
      summary:
        "Save the push subscription of this session's device. An endpoint serves one account, the last that saved it",
      ok: { status: 204, body: null },
      refusals: [
        "invalid_input",
        "push_endpoint_refused",
        "push_unavailable",
        "public_url_missing",
        "forbidden_origin",
      ],
    }),
    authenticate,
    requirePublicOrigin,
    validate("json", PushSubscriptionBody),
    limitCaller("push_subscription_by_user"),
    async (c) => {
      const { user, session } = c.var.caller;
      const subscription = c.req.valid("json");
      const key = await findVapidKey(c.env);
      if (key === undefined) return refuse(c, "push_unavailable");
      if (!isAllowedEndpoint(c.env, subscription.endpoint)) return refuse(c, "push_endpoint_refused");
      if (subscription.key !== key || !(await isCurvePoint(subscription.p256dh))) return refuse(c, "invalid_input");
      const db = openDb(c.env);
      const endpointHash = hashPushEndpoint(c.env, subscription.endpoint);
      if (!(await isEndpointOfSession(db, endpointHash, session))) {
        const { isAssigned, former } = await assignEndpoint(db, endpointHash, session);
        if (former) await removeSubscription(c.env, former.user, former.session);
        if (!isAssigned) return refuse(c, "session_not_found");
      }
      const origin = getPublicOrigin(c);
      try {
        const channel = getUserChannelStub(c.env, user);
        const replaced = await channel.savePushSubscription(session, { ...subscription, origin });
        for (const other of replaced) await deleteEndpointOfSession(db, other);
      } catch (error) {
        logError("a push subscription could not be saved", error);
        return refuse(c, "unavailable");
      }
      return c.body(null, 204);
    },
  )
  .delete(
    "/push/subscription",
    describeOperation({
      tag: "people",
      summary: "Remove the push subscription of this session's device. Idempotent",
      ok: { status: 204, body: null },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    limitCaller("push_subscription_by_user"),
    async (c) => {
      const { user, session } = c.var.caller;
      await deleteEndpointOfSession(openDb(c.env), session);
      await removeSubscription(c.env, user, session);
      return c.body(null, 204);
    },
  )
  .post(
    "/push/test",
    describeOperation({
      tag: "people",
      summary: "Send a test notification to this session's device; the answer is that of its push service",
      ok: { status: 202, body: PushTestResult },
      refusals: ["push_not_subscribed", "push_unavailable", "forbidden_origin"],
    }),
    authenticate,
    limitCaller("push_test_by_user"),
    async (c) => {
      const { user, session } = c.var.caller;
      if ((await findVapidKey(c.env)) === undefined) return refuse(c, "push_unavailable");
      const result = await getUserChannelStub(c.env, user).sendTestPush(session);
      return result === null ? refuse(c, "push_not_subscribed") : c.json(result, 202);
    },
  );
