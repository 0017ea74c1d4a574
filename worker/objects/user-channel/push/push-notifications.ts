import type { Uuid } from "#contract/ids.ts";
import { pushTestLifetimeSeconds } from "#contract/limits.ts";
import type { PushTestResult } from "#contract/push.ts";
import type { NewPushSubscription } from "#worker/objects/rpc.ts";
import { DeviceSender } from "./device-sender.ts";
import { createTestPayload } from "./payloads.ts";
import { SubscriptionTable } from "./subscription-table.ts";

type PushNotificationPorts = { ctx: DurableObjectState; env: Env; user: Uuid };

/** Push subscriptions of one person's devices, and what is pushed to them. */
export class PushNotifications {
  readonly #user: Uuid;
  readonly #subscriptions: SubscriptionTable;
  readonly #sender: DeviceSender;

  constructor({ ctx, env, user }: PushNotificationPorts) {
    this.#user = user;
    this.#subscriptions = new SubscriptionTable(ctx.storage.sql);
    this.#sender = new DeviceSender(env, this.#subscriptions);
  }

  /** Saves a session's subscription. Returns the sessions whose subscriptions exceed the limit and were removed. */
  saveSubscription(session: Uuid, subscription: NewPushSubscription): Uuid[] {
    return this.#subscriptions.save(session, subscription);
  }

  removeSubscriptions(sessions: readonly Uuid[] | "all"): void {
    this.#subscriptions.delete(sessions);
  }

  /** Sends a test push to the device of a session. Null if it has no subscription. */
  async sendTest(session: Uuid): Promise<PushTestResult | null> {
    const subscription = this.#subscriptions.find(session);
    if (!subscription) return null;
    const payload = createTestPayload(this.#user, subscription, Date.now());
    const { type } = await this.#sender.send(subscription, payload, { lifetimeSeconds: pushTestLifetimeSeconds });
    if (type === "delivered") return { status: "sent" };
    // A subscription that its push service did not know for the first time is kept for another attempt.
    const isKnown = type !== "gone" && this.#subscriptions.find(session)?.goneAt === null;
    return { status: isKnown ? "failed" : "gone" };
  }
}
