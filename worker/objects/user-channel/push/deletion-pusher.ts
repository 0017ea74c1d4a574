import type { Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds } from "#contract/limits/push.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { DeviceSender } from "./device-sender.ts";
import { createDeletedMessagePayload, getPreviewLevel } from "./payloads.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";

type DeletionPusherPorts = {
  ctx: DurableObjectState;
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings">;
  relations: { findName(user: Uuid): string | undefined };
  sockets: Pick<SocketRegistry, "findConnection">;
  subscriptions: SubscriptionTable;
  sender: DeviceSender;
};

/**
 * Takes the text of a deleted message off the notifications of closed devices, by a silent push that replaces it.
 * Devices with a socket do that themselves. It is tried once: a device that misses it keeps the text until the app is
 * opened.
 */
export class DeletionPusher {
  readonly #ports: DeletionPusherPorts;

  constructor(ports: DeletionPusherPorts) {
    this.#ports = ports;
  }

  /**
   * Considers messages that were deleted. Only the newest one that a device was notified of stands in its notification,
   * and only until it is read: then a push would announce a message that the person knows.
   */
  handleDeletions(entry: InboxEntry, deleted: readonly number[]): void {
    const { ctx, inbox, sockets, subscriptions } = this.#ports;
    const heads = entry.pushMark?.heads;
    if (!heads || entry.gone || getPreviewLevel(inbox.settings, entry) !== "text") return;
    const unread = deleted.filter((seq) => seq > Math.max(entry.read, entry.hidden));
    const devices = subscriptions.all.filter(
      ({ session }) => unread.includes(heads[session] ?? 0) && !sockets.findConnection(session),
    );
    if (devices.length > 0)
      ctx.waitUntil(this.#push(entry, devices).catch((error: unknown) => logError("a deletion was not pushed", error)));
  }

  async #push({ conversation, pushMark }: InboxEntry, devices: readonly PushSubscription[]): Promise<void> {
    const { env, user, inbox, relations, sender } = this.#ports;
    const options = { lifetimeSeconds: pushLifetimeSeconds, topic: hashPushTopic(env, user, conversation) };
    const recipient = { user, settings: inbox.settings, findName: (other: Uuid) => relations.findName(other) };
    const pushTo = (device: PushSubscription) => {
      const createPayload = () => {
        const current = inbox.find(conversation);
        // A later push has replaced the notification, or is about to.
        const isOutdated = current?.pushMark?.heads[device.session] !== pushMark?.heads[device.session];
        return !current || isOutdated ? undefined : createDeletedMessagePayload(recipient, current, device, Date.now());
      };
      return sender.send(device, createPayload, options);
    };
    await Promise.all(devices.map(pushTo));
  }
}
