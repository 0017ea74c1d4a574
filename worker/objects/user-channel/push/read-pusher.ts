import type { ConversationId, Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds, pushReadWaitMs } from "#contract/limits/push.ts";
import type { Command } from "#contract/wire/commands.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { DeviceSender } from "./device-sender.ts";
import { createReadPayload } from "./payloads.ts";
import { findUnread, isNewsFor } from "./pending-messages.ts";
import type { ShownSummaries } from "./shown-summaries.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";
import type { SummaryPusher } from "./summary-pusher.ts";

type ReadPusherPorts = {
  ctx: DurableObjectState;
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings">;
  relations: Pick<RelationTable, "findName" | "isBlocked">;
  sockets: Pick<SocketRegistry, "findConnection">;
  subscriptions: SubscriptionTable;
  sender: DeviceSender;
  summary: Pick<SummaryPusher, "update">;
  shownSummaries: ShownSummaries;
};

const readingCommands: readonly Command["type"][] = ["mark", "clearHistory", "send"];
const readersMax = 32;
const readerMs = 10_000; // in which a device that reads without a socket closes its notification itself

/**
 * Takes messages that were read on one device off the notifications of closed ones: a silent push of low urgency
 * replaces a notification, and the device closes it soon. Only devices that were notified of the messages receive it.
 * What is read within `pushReadWaitMs` is one push for each conversation, also in quiet hours. It is tried once: a
 * device that misses it keeps the notification until the app is opened.
 */
export class ReadPusher {
  readonly #ports: ReadPusherPorts;
  /** Newest message that each device was notified of in conversations that were read, by session. */
  #waiting = new Map<Uuid, Map<ConversationId, number>>();
  /** Times at which sessions last read something without a socket. */
  readonly #readers = new BoundedMap<Uuid, number>(readersMax);

  constructor(ports: ReadPusherPorts) {
    this.#ports = ports;
  }

  /** Records a command of a session without a socket: a device that reads closes its notification itself. */
  recordCommand(type: Command["type"], session: Uuid): void {
    if (readingCommands.includes(type)) this.#readers.set(session, Date.now());
  }

  /** Considers a conversation that was read or cleared further. `seenBefore`: seq up to which it was before. */
  handleRead(entry: InboxEntry, seenBefore: number): void {
    const { conversation, pushMark, read, hidden, gone } = entry;
    if (!pushMark || gone) return;
    for (const device of this.#ports.subscriptions.all) {
      const head = pushMark.heads[device.session] ?? 0;
      if (head <= seenBefore || head > Math.max(read, hidden) || this.#isOpen(device)) continue;
      if (this.#waiting.size === 0) setTimeout(() => this.#run(), pushReadWaitMs);
      const heads = this.#waiting.get(device.session) ?? new Map<ConversationId, number>();
      this.#waiting.set(device.session, heads.set(conversation, head));
    }
  }

  /** Whether the device shows by itself what was read. */
  #isOpen({ session }: PushSubscription): boolean {
    const readAt = this.#readers.get(session) ?? 0;
    return this.#ports.sockets.findConnection(session) !== undefined || Date.now() - readAt < readerMs;
  }

  #run(): void {
    const { ctx, subscriptions } = this.#ports;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [session, heads] of waiting) {
      const device = subscriptions.find(session);
      if (!device || this.#isOpen(device)) continue;
      ctx.waitUntil(this.#push(device, heads).catch((error: unknown) => logError("reading was not pushed", error)));
    }
  }

  async #push(device: PushSubscription, heads: ReadonlyMap<ConversationId, number>): Promise<void> {
    const { summary, shownSummaries } = this.#ports;
    const summarised = [...heads.keys()].filter((conversation) => shownSummaries.has(device.session, conversation));
    for (const conversation of summarised) shownSummaries.delete(device.session, conversation);
    const own = [...heads].filter(([conversation]) => !summarised.includes(conversation));
    await Promise.all([
      ...own.map(([conversation, head]) => this.#replace(device, conversation, head)),
      ...(summarised.length > 0 ? [summary.update(device)] : []),
    ]);
  }

  async #replace(device: PushSubscription, conversation: ConversationId, head: number): Promise<void> {
    const { env, user, inbox, relations, sender } = this.#ports;
    const recipient = { user, settings: inbox.settings, findName: (other: Uuid) => relations.findName(other) };
    const topic = hashPushTopic(env, user, conversation); // a push of the messages that still waits is replaced
    const createPayload = () => {
      const current = inbox.find(conversation);
      const unread = findUnread(this.#ports, conversation);
      // A later push has replaced the notification, or is about to.
      const isOutdated = current?.pushMark?.heads[device.session] !== head || (unread && isNewsFor(head, unread));
      return !current || isOutdated ? undefined : createReadPayload(recipient, current, device);
    };
    await sender.send(device, createPayload, { lifetimeSeconds: pushLifetimeSeconds, topic, urgency: "low" });
  }
}
