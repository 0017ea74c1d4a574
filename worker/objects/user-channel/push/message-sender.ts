import type { Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds, pushSoundPauseMs } from "#contract/limits/push.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { DeviceSender } from "./device-sender.ts";
import { createMessagePayload, type Recipient } from "./payloads.ts";
import {
  findUnread,
  getPushTimes,
  isNewsFor,
  type PendingMessages,
  type PushTimes,
  pushLifetimeMs,
} from "./pending-messages.ts";
import type { PushSubscription } from "./subscription-table.ts";
import type { SummaryPusher } from "./summary-pusher.ts";
import { toRetryDelayMs } from "./wake-up.ts";

type MessageSenderPorts = {
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings">;
  relations: Pick<RelationTable, "findName" | "isBlocked">;
  sender: DeviceSender;
  summary: Pick<SummaryPusher, "listReplacedTags">;
};

/** Result of sending: newest message that each device knows, devices that show it, and times for the mark. */
type SentMessages = { known: Map<Uuid, number>; shown: Uuid[]; times: Partial<PushTimes> };

/** Sends the unread messages of a conversation to devices that are due. */
export class MessageSender {
  readonly #ports: MessageSenderPorts;

  constructor(ports: MessageSenderPorts) {
    this.#ports = ports;
  }

  async send(
    entry: InboxEntry,
    pending: PendingMessages,
    devices: readonly PushSubscription[],
    now: number,
  ): Promise<SentMessages> {
    const { conversation, kind } = entry;
    const { env, user, inbox, sender } = this.#ports;
    const { sound } = inbox.settings[kind === "group" ? "groups" : "messages"];
    const lifetimeSeconds = Math.max(1, pushLifetimeSeconds - Math.floor((now - pending.lastAt) / 1_000));
    const options = { lifetimeSeconds, topic: hashPushTopic(env, user, conversation) };
    const sent: SentMessages = { known: new Map(), shown: [], times: {} };
    const pushTo = async (device: PushSubscription): Promise<void> => {
      let { head } = entry;
      const { soundedAt } = getPushTimes(pending, device.session);
      const isAlerting = sound && now - soundedAt >= pushSoundPauseMs;
      const createPayload = () => {
        const current = findUnread(this.#ports, conversation);
        if (!current || !isNewsFor(current.pushMark?.heads[device.session] ?? 0, current)) return undefined;
        head = current.head;
        return this.#createPayload(current, pending, device, isAlerting);
      };
      const result = await sender.send(device, createPayload, options);
      if (result.type === "delivered") {
        pending.pushes.set(device.session, { pushedAt: now, soundedAt: isAlerting ? now : soundedAt });
        sent.shown.push(device.session);
        sent.times.pushedAt = now;
        if (isAlerting) sent.times.soundedAt = now;
      }
      const nextAt = Date.now() + toRetryDelayMs(result, Date.now() - pending.firstAt);
      if (result.type === "retry" && nextAt < pending.lastAt + pushLifetimeMs)
        pending.retryAt.set(device.session, nextAt);
      else if (result.type !== "dropped") sent.known.set(device.session, head);
    };
    await Promise.all(devices.map(pushTo));
    return sent;
  }

  #createPayload(entry: InboxEntry, { author }: PendingMessages, device: PushSubscription, isAlerting: boolean) {
    const { user, inbox, relations, summary } = this.#ports;
    const recipient: Recipient = { user, settings: inbox.settings, findName: (other) => relations.findName(other) };
    const name = author?.number === entry.sender ? relations.findName(author.user) : undefined;
    const replaces = summary.listReplacedTags(device.session, entry.conversation);
    return createMessagePayload(recipient, entry, name, device, { sentAt: Date.now(), isAlerting, replaces });
  }
}
