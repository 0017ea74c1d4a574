import type { ConversationId, Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds } from "#contract/limits/push.ts";
import { summaryNotificationTag } from "#contract/push.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { DeviceSender } from "./device-sender.ts";
import { areCountedCalls, createSummaryPayload, toHandledPayload } from "./payloads.ts";
import { type PendingMessages, pushSendingMs } from "./pending-messages.ts";
import type { ShownSummaries } from "./shown-summaries.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";
import { toRetryDelayMs } from "./wake-up.ts";

/** Unread messages of a conversation that arrived during quiet hours. */
export type HeldMessages = { entry: InboxEntry; pending: PendingMessages };

type SummaryPusherPorts = {
  ctx: DurableObjectState;
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings">;
  sockets: Pick<SocketRegistry, "findConnection">;
  subscriptions: SubscriptionTable;
  shownSummaries: ShownSummaries;
  sender: DeviceSender;
  findUnread(conversation: ConversationId): InboxEntry | undefined;
  /** Time at which a device is due, undefined if it has shown the messages in the foreground. */
  findDueAt(device: PushSubscription, pending: PendingMessages, now: number): number | undefined;
  /** Records the newest message of a conversation that devices know. */
  onKnown(entry: InboxEntry, known: ReadonlyMap<Uuid, number>, times: { pushedAt?: number }): void;
  /** Called when a summary was sent, or failed. */
  onDone(): void;
};

const conversationsMin = 2; // messages of one conversation are pushed as usual

/** Pushes one summary of the messages that arrived during quiet hours, if they are in several conversations. */
export class SummaryPusher {
  readonly #ports: SummaryPusherPorts;

  constructor(ports: SummaryPusherPorts) {
    this.#ports = ports;
  }

  /**
   * Pushes the summary to the devices that are due. Returns the conversations that wait for it, and when to look again;
   * undefined if no device waits for a summary.
   */
  advance(
    held: readonly HeldMessages[],
    now: number,
  ): { conversations: ReadonlySet<ConversationId>; nextAt: number } | undefined {
    if (held.length < conversationsMin) return undefined;
    const dueAt = this.#listDueTimes(held, now);
    if (dueAt.size === 0) return undefined;
    const conversations = new Set(held.map(({ entry }) => entry.conversation));
    if (held.some(({ pending }) => pending.isSending)) return { conversations, nextAt: now + pushSendingMs };
    const due = [...dueAt].flatMap(([device, at]) => (at <= now ? [device] : []));
    if (due.length === 0) return { conversations, nextAt: Math.min(...dueAt.values()) };
    for (const { pending } of held) pending.isSending = true;
    this.#ports.ctx.waitUntil(this.#push(held, due, now));
    return { conversations, nextAt: now + pushSendingMs };
  }

  /** Tags of the notifications that a conversation's own replaces on a device: a summary that announces no other. */
  listReplacedTags(session: Uuid, conversation: ConversationId): string[] {
    const isLast =
      this.#ports.shownSummaries.has(session, conversation) && this.#listAnnounced(session, conversation).length === 0;
    return isLast ? [summaryNotificationTag] : [];
  }

  /** Takes a conversation off the summaries of devices that show its own notification now. */
  handleShown(conversation: ConversationId, sessions: Iterable<Uuid>): void {
    const { ctx, shownSummaries, subscriptions } = this.#ports;
    for (const session of sessions) {
      const device = subscriptions.find(session);
      if (!device || !shownSummaries.has(session, conversation)) continue;
      shownSummaries.delete(session, conversation);
      if (this.#listAnnounced(session).length === 0) shownSummaries.set(session, []);
      else ctx.waitUntil(this.update(device).catch((error: unknown) => logError("a summary was not updated", error)));
    }
  }

  /** Silently updates the summary on a closed device to what is unread of it. Tried once. */
  async update(device: PushSubscription): Promise<void> {
    const { env, user, sockets, sender, shownSummaries } = this.#ports;
    const { session } = device;
    const createPayload = () => {
      if (sockets.findConnection(session)) return undefined;
      const announced = this.#listAnnounced(session);
      const times = { sentAt: Date.now(), isAlerting: false };
      const payload = createSummaryPayload(user, device, this.#toTotals(announced), times);
      if (announced.length > 0) return payload;
      shownSummaries.set(session, []);
      return toHandledPayload(payload, "read");
    };
    const topic = hashPushTopic(env, user, summaryNotificationTag);
    await sender.send(device, createPayload, { lifetimeSeconds: pushLifetimeSeconds, topic, urgency: "low" });
  }

  /** Unread conversations of a device's summary, except one. */
  #listAnnounced(session: Uuid, except?: ConversationId): InboxEntry[] {
    const { shownSummaries, findUnread } = this.#ports;
    return shownSummaries
      .list(session)
      .flatMap((conversation) => (conversation === except ? [] : (findUnread(conversation) ?? [])));
  }

  #toTotals(entries: readonly InboxEntry[]) {
    return {
      count: entries.reduce((sum, { unread }) => sum + unread, 0),
      conversations: entries.length,
      areMissedCalls: entries.every((entry) => areCountedCalls(this.#ports.inbox.settings, entry)),
    };
  }

  /** When each device that waits for any of the messages is due. */
  #listDueTimes(held: readonly HeldMessages[], now: number): Map<PushSubscription, number> {
    const { subscriptions, findDueAt } = this.#ports;
    return new Map(
      subscriptions.all.flatMap((device) => {
        const waiting = held.filter(({ entry, pending }) => this.#isWaiting(device, entry, pending, now));
        const times = waiting.map(({ pending }) => findDueAt(device, pending, now) ?? now);
        return waiting.length > 0 ? [[device, Math.max(...times)] as const] : [];
      }),
    );
  }

  /** Whether a device has neither been notified of the messages nor shown them in the foreground. */
  #isWaiting(device: PushSubscription, entry: InboxEntry, pending: PendingMessages, now: number): boolean {
    const isNew = (entry.pushMark?.heads[device.session] ?? 0) < entry.head && device.savedAt <= pending.lastAt;
    return isNew && this.#ports.findDueAt(device, pending, now) !== undefined;
  }

  async #push(held: readonly HeldMessages[], devices: readonly PushSubscription[], now: number): Promise<void> {
    try {
      await Promise.all(devices.map((device) => this.#pushTo(device, held, now)));
    } catch (error) {
      logError("a summary of messages could not be recorded", error);
    }
    for (const { pending } of held) pending.isSending = false;
    this.#ports.onDone();
  }

  async #pushTo(device: PushSubscription, held: readonly HeldMessages[], now: number): Promise<void> {
    const { env, user, inbox, sender, shownSummaries, findUnread, onKnown } = this.#ports;
    const options = { lifetimeSeconds: pushLifetimeSeconds, topic: hashPushTopic(env, user, summaryNotificationTag) };
    const isAlerting = inbox.settings.messages.sound || inbox.settings.groups.sound;
    let known: readonly InboxEntry[] = [];
    const createPayload = () => {
      known = held.flatMap(({ entry: { conversation }, pending }) => {
        const entry = findUnread(conversation);
        return entry && this.#isWaiting(device, entry, pending, Date.now()) ? [entry] : [];
      });
      if (known.length === 0) return undefined;
      return createSummaryPayload(user, device, this.#toTotals(known), { sentAt: Date.now(), isAlerting });
    };
    const result = await sender.send(device, createPayload, options);
    if (result.type === "retry") {
      const retryAt = Date.now() + toRetryDelayMs(result, Date.now() - now);
      for (const { pending } of held) pending.retryAt.set(device.session, retryAt);
      return;
    }
    const times = result.type === "delivered" ? { pushedAt: now } : {};
    const conversations = known.map(({ conversation }) => conversation);
    if (result.type === "delivered") shownSummaries.set(device.session, conversations);
    for (const entry of known) {
      const current = inbox.find(entry.conversation);
      if (current) onKnown(current, new Map([[device.session, entry.head]]), times);
    }
  }
}
