import type { Uuid } from "#contract/ids.ts";
import { pushTestLifetimeSeconds } from "#contract/limits.ts";
import type { PushTestResult } from "#contract/push.ts";
import type { NewPushSubscription } from "#worker/objects/rpc.ts";
import { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { DeviceSender } from "./device-sender.ts";
import { MarkTable } from "./mark-table.ts";
import { MessagePusher } from "./message-pusher.ts";
import { createTestPayload } from "./payloads.ts";
import { SubscriptionTable } from "./subscription-table.ts";

type PushNotificationPorts = {
  ctx: DurableObjectState;
  env: Env;
  user: Uuid;
  inbox: InboxFeed;
  sockets: SocketRegistry;
};

/** Push subscriptions of one person's devices, and what is pushed to them. */
export class PushNotifications {
  readonly #user: Uuid;
  readonly #subscriptions: SubscriptionTable;
  readonly #sender: DeviceSender;

  /** Pushes new messages. */
  readonly messages: MessagePusher;

  constructor({ ctx, env, user, inbox, sockets }: PushNotificationPorts) {
    this.#user = user;
    const subscriptions = new SubscriptionTable(ctx.storage.sql);
    const sender = new DeviceSender(env, subscriptions);
    const marks = new MarkTable(ctx.storage.sql);
    const relations = new RelationTable(ctx.storage.sql, user);
    this.#subscriptions = subscriptions;
    this.#sender = sender;
    this.messages = new MessagePusher({ ctx, env, user, inbox, relations, sockets, subscriptions, marks, sender });
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
    const createPayload = () => createTestPayload(this.#user, subscription, Date.now());
    const { type } = await this.#sender.send(subscription, createPayload, { lifetimeSeconds: pushTestLifetimeSeconds });
    if (type === "delivered") return { status: "sent" };
    // A subscription that its push service did not know for the first time is kept for another attempt.
    const isKnown = type !== "gone" && this.#subscriptions.find(session)?.goneAt === null;
    return { status: isKnown ? "failed" : "gone" };
  }
}
