import { pushGoneRetryMs } from "#contract/limits/push.ts";
import type { PushPayload } from "#contract/push.ts";
import { openDb } from "#worker/db/client.ts";
import { deleteEndpointOfSession, isEndpointOfSession } from "#worker/db/push-endpoints.ts";
import { logWarning } from "#worker/lib/log.ts";
import { hashPushEndpoint } from "#worker/lib/push/endpoints.ts";
import { type PushOptions, type PushResult, sendPush } from "#worker/lib/push/push-sender.ts";
import { findVapidKey } from "#worker/lib/push/vapid.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";

/** Result of a push. `dropped`: there was nothing to send any more. */
export type DevicePushResult = PushResult | { type: "dropped" };

/** Sends pushes to a person's devices and deletes subscriptions that have ended. */
export class DeviceSender {
  readonly #env: Env;
  readonly #subscriptions: SubscriptionTable;

  constructor(env: Env, subscriptions: SubscriptionTable) {
    this.#env = env;
    this.#subscriptions = subscriptions;
  }

  /**
   * Sends a push, whose content is created last, so that it is up to date. `gone` means that the subscription is
   * deleted; an unknown one is first tried again after `pushGoneRetryMs`. Never throws.
   */
  async send(
    subscription: PushSubscription,
    createPayload: () => PushPayload | undefined,
    options: PushOptions,
  ): Promise<DevicePushResult> {
    try {
      // A device with a former key of this server subscribes again at its next start.
      if (subscription.key !== (await findVapidKey(this.#env))) return { type: "rejected" };
      if (!(await this.#isOwner(subscription))) {
        this.#subscriptions.deleteExpired(subscription);
        return { type: "gone" };
      }
      const payload = createPayload();
      if (!payload) return { type: "dropped" };
      return await this.#applyResult(subscription, await sendPush(this.#env, subscription, payload, options));
    } catch (error) {
      logWarning("a push could not be prepared", error);
      return { type: "retry", afterMs: undefined };
    }
  }

  /**
   * Whether the session still exists and has this endpoint, which another account on the device may have taken since.
   * The directory decides, because this object may have been unreachable when it happened.
   */
  #isOwner({ endpoint, session }: PushSubscription): Promise<boolean> {
    return isEndpointOfSession(openDb(this.#env), hashPushEndpoint(this.#env, endpoint), session);
  }

  async #applyResult(subscription: PushSubscription, result: PushResult, now = Date.now()): Promise<PushResult> {
    if (result.type === "delivered") this.#subscriptions.setGone(subscription, null);
    if (result.type !== "gone") return result;
    const goneForMs = now - (subscription.goneAt ?? now);
    if (subscription.goneAt !== null && goneForMs >= pushGoneRetryMs) {
      this.#subscriptions.deleteExpired(subscription);
      await deleteEndpointOfSession(openDb(this.#env), subscription.session);
      return result;
    }
    if (subscription.goneAt === null) this.#subscriptions.setGone(subscription, now);
    return { type: "retry", afterMs: Math.min(pushGoneRetryMs, pushGoneRetryMs - goneForMs) };
  }
}
