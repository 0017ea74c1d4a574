import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import {
  presenceStaleMs,
  pushForegroundWaitMs,
  pushLifetimeSeconds,
  pushPauseMs,
  pushSoundPauseMs,
} from "#contract/limits.ts";
import { findQuietEnd, isQuiet } from "#contract/settings/quiet-hours.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { toConfirmWaitMs } from "./confirm-wait.ts";
import type { DeviceSender } from "./device-sender.ts";
import type { MarkTable } from "./mark-table.ts";
import { toNotableEntry } from "./notable-messages.ts";
import { createMessagePayload } from "./payloads.ts";
import { createPending, getPushTimes, type PendingMessages, pushSendingMs, toPauseEnd } from "./pending-messages.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";
import { type HeldMessages, SummaryPusher } from "./summary-pusher.ts";
import { type SharedAlarm, toRetryDelayMs, WakeUp } from "./wake-up.ts";

type MessagePusherPorts = {
  ctx: DurableObjectState;
  alarm: SharedAlarm;
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings">;
  relations: Pick<RelationTable, "findName" | "isBlocked">;
  sockets: Pick<SocketRegistry, "findConnection" | "lastForegroundAt">;
  subscriptions: SubscriptionTable;
  marks: MarkTable;
  sender: DeviceSender;
};

const lifetimeMs = pushLifetimeSeconds * 1_000;
/** Conversations with unread messages since a time. A row read costs a thousandth of a row written, so it has no index. */
const unreadQuery = `SELECT conversation, at FROM inbox
  WHERE unread > 0 AND at > ? AND gone = 0 AND (muted = 0 OR muted_until < at OR muted_except_mentions = 1)`;

/**
 * Pushes new messages to the devices that do not show them: at once to a device without a socket, after
 * `pushBackgroundWaitMs` to a connected one in the background, after `pushConfirmMs` to one in the foreground whose socket
 * stays silent, and after `pushForegroundWaitMs` while any device of the person is in the foreground. Later messages of a
 * conversation share pushes. Every decision looks at the current inbox, so a push of read, muted or deleted messages is
 * not sent. Nothing is pushed during quiet hours; at their end the messages of several conversations share one push.
 *
 * An alarm is set in the same synchronous run as the write of the row, and a mark is written after the push. If this
 * instance dies in between, the next one finds messages without a mark and pushes them again; a device that got both
 * shows one, because they have the same topic and tag.
 */
export class MessagePusher {
  readonly #ports: MessagePusherPorts;
  readonly #pending = new Map<ConversationId, PendingMessages>();
  readonly #wakeUp: WakeUp;
  readonly #summary: SummaryPusher;
  /** Time of the last push to each device, by session. */
  readonly #pushedAt = new Map<Uuid, number>();
  #isRecovered = false;

  constructor(ports: MessagePusherPorts) {
    this.#ports = ports;
    this.#wakeUp = new WakeUp(ports.alarm, () => this.#run());
    this.#summary = new SummaryPusher({
      ...ports,
      findUnread: (conversation) => this.#findUnread(conversation),
      findDueAt: (device, pending, now) => this.findDueAt(device, pending, now),
      onKnown: (...args) => this.#writeMark(...args),
      onDone: () => this.#run(),
    });
  }

  /** Considers new unread messages of a conversation. Costs nothing for a person without subscriptions. */
  handleNewMessages(entry: InboxEntry, author: Uuid | undefined, now = Date.now()): void {
    const { conversation, sender } = entry;
    try {
      if (this.#ports.subscriptions.all.length === 0) return;
      this.#recover(conversation);
      if (!toNotableEntry(entry, now)) return;
      const pending = this.#pending.get(conversation) ?? createPending(now);
      pending.lastAt = now;
      pending.author = author === undefined ? undefined : { number: sender, user: author };
      this.#pending.set(conversation, pending);
      this.#run(now);
    } catch (error) {
      logError("new messages could not be pushed", error); // they are in the inbox all the same
    }
  }

  /** Records that devices were notified of a conversation's messages by a push of another kind. */
  recordNotified(entry: InboxEntry, known: ReadonlyMap<Uuid, number>): void {
    if (known.size > 0) this.#writeMark(entry, known);
  }

  /** Records that nobody is to be notified of the messages that arrived while the conversation was muted more. */
  handleUnmuted(entry: InboxEntry): void {
    const devices = this.#ports.subscriptions.all;
    if (devices.length > 0 && entry.unread > 0) this.#writeMark(entry, new Map(devices.map(toHeadOf(entry))));
  }

  /** Continues after a wait, or after the death of an instance. */
  runAlarm(): void {
    if (this.#ports.subscriptions.all.length === 0) return;
    this.#recover();
    this.#run();
  }

  /** Looks again at what waited for the person to read it on a device in the foreground. */
  handleDeviceLeft(): void {
    if (this.#pending.size > 0) this.#run();
  }

  /**
   * Finds messages that a previous instance may not have pushed, except in a conversation with new ones. Those that
   * arrived during a timed mute are not pushed when it has ended.
   */
  #recover(excluded?: ConversationId): void {
    if (this.#isRecovered) return;
    this.#isRecovered = true;
    const rows = this.#ports.ctx.storage.sql
      .exec<{ conversation: ConversationId; at: number }>(unreadQuery, Date.now() - lifetimeMs)
      .toArray();
    for (const { conversation, at } of rows)
      if (conversation !== excluded) this.#pending.set(conversation, createPending(at));
  }

  /** Pushes what is due and arranges to be woken for the rest. */
  #run(now = Date.now()): void {
    const { inbox, subscriptions } = this.#ports;
    if (subscriptions.all.length === 0) this.#pending.clear();
    if (isQuiet(inbox.settings, now)) {
      this.#wakeUp.schedule(this.#pending.size > 0 ? findQuietEnd(inbox.settings, now) : undefined, now);
      return;
    }
    const summary = this.#summary.advance(this.#listHeld(), now);
    const times = [...this.#pending].flatMap(([conversation, pending]) => {
      if (summary?.conversations.has(conversation)) return [];
      const nextAt = this.#advance(conversation, pending, now);
      return nextAt === undefined ? [] : [nextAt];
    });
    if (summary) times.push(summary.nextAt);
    this.#wakeUp.schedule(times.length > 0 ? Math.min(...times) : undefined, now);
  }

  /** Pushes a conversation if it is due. Returns when to look again, undefined if nothing is left to do. */
  #advance(conversation: ConversationId, pending: PendingMessages, now: number): number | undefined {
    if (pending.isSending) return now + pushSendingMs;
    const entry = this.#findUnread(conversation);
    if (!entry) return this.#finish(conversation);
    const mark = this.#ports.marks.find(entry);
    pending.before ??= mark;
    const devices = this.#ports.subscriptions.all.filter(
      ({ session, savedAt }) => isNewsFor(mark.heads[session] ?? 0, entry) && savedAt <= pending.lastAt,
    );
    const dueAt = new Map<PushSubscription, number>();
    for (const device of devices) {
      const at = this.findDueAt(device, pending, now);
      if (at !== undefined) dueAt.set(device, Math.max(at, this.#toPauseEnd(device, pending, now)));
    }
    if (dueAt.size === 0) {
      if (devices.length > 0) this.#writeMark(entry, new Map(devices.map(toHeadOf(entry))));
      return this.#finish(conversation);
    }
    const due = [...dueAt].flatMap(([device, at]) => (at <= now ? [device] : []));
    if (due.length > 0) {
      for (const { session } of due) this.#pushedAt.set(session, now);
      pending.isSending = true;
      this.#ports.ctx.waitUntil(this.#push(entry, pending, due, now));
      return now + pushSendingMs;
    }
    return Math.min(...dueAt.values());
  }

  /** Time from which a device may be pushed again, after the pauses of the conversation and of the device. */
  #toPauseEnd({ session }: PushSubscription, pending: PendingMessages, now: number): number {
    const pushedAt = this.#pushedAt.get(session) ?? 0;
    return Math.max(toPauseEnd(pending, session, now), Math.min(pushedAt, now) + pushPauseMs);
  }

  /** Messages that arrived during quiet hours, which are over. */
  #listHeld(): HeldMessages[] {
    const { settings } = this.#ports.inbox;
    return [...this.#pending].flatMap(([conversation, pending]) => {
      const entry = isQuiet(settings, pending.lastAt) ? this.#findUnread(conversation) : undefined;
      return entry ? [{ entry, pending }] : [];
    });
  }

  #finish(conversation: ConversationId): undefined {
    this.#pending.delete(conversation);
  }

  /** The row of a conversation with unread messages that the person wants to be notified of. */
  #findUnread(conversation: ConversationId): InboxEntry | undefined {
    const { inbox, relations, user } = this.#ports;
    const entry = inbox.find(conversation);
    const other = otherMember(conversation, user);
    return !entry || (other !== undefined && relations.isBlocked(other))
      ? undefined
      : toNotableEntry(entry, Date.now());
  }

  /** Time at which a device is due, undefined if it has shown the messages in the foreground. */
  findDueAt(
    { session }: PushSubscription,
    { firstAt, lastAt, retryAt }: PendingMessages,
    now: number,
  ): number | undefined {
    const { sockets } = this.#ports;
    const connection = sockets.findConnection(session);
    const seenAt = connection?.seenAt ?? 0;
    if (seenAt > lastAt) return undefined;
    const hasForegroundDevice = sockets.lastForegroundAt() >= now - presenceStaleMs;
    const waitMs = hasForegroundDevice ? pushForegroundWaitMs : toConfirmWaitMs(connection);
    // A device that was in the foreground after the first message has shown that one.
    const since = seenAt > firstAt ? lastAt : firstAt;
    return Math.max(Math.min(since, now) + waitMs, retryAt.get(session) ?? 0);
  }

  async #push(
    entry: InboxEntry,
    pending: PendingMessages,
    devices: readonly PushSubscription[],
    now: number,
  ): Promise<void> {
    const { conversation, kind } = entry;
    const { env, user, inbox, relations, marks, sender } = this.#ports;
    const { sound } = inbox.settings[kind === "group" ? "groups" : "messages"];
    const lifetimeSeconds = Math.max(1, pushLifetimeSeconds - Math.floor((now - pending.lastAt) / 1_000));
    const options = { lifetimeSeconds, topic: hashPushTopic(env, user, conversation) };
    const known = new Map<Uuid, number>();
    const times: { pushedAt?: number; soundedAt?: number } = {};
    const findAuthor = ({ sender }: InboxEntry) =>
      pending.author?.number === sender ? relations.findName(pending.author.user) : undefined;
    const recipient = { user, settings: inbox.settings, findName: (other: Uuid) => relations.findName(other) };
    const pushTo = async (device: PushSubscription): Promise<void> => {
      let { head } = entry;
      const { soundedAt } = getPushTimes(pending, device.session);
      const isAlerting = sound && now - soundedAt >= pushSoundPauseMs;
      const createPayload = () => {
        const current = this.#findUnread(conversation);
        if (!current || !isNewsFor(marks.find(current).heads[device.session] ?? 0, current)) return undefined;
        head = current.head;
        return createMessagePayload(recipient, current, findAuthor(current), device, {
          sentAt: Date.now(),
          isAlerting,
        });
      };
      const result = await sender.send(device, createPayload, options);
      if (result.type === "delivered") {
        pending.pushes.set(device.session, { pushedAt: now, soundedAt: isAlerting ? now : soundedAt });
        times.pushedAt = now;
        if (isAlerting) times.soundedAt = now;
      }
      const nextAt = Date.now() + toRetryDelayMs(result, Date.now() - pending.firstAt);
      if (result.type === "retry" && nextAt < pending.lastAt + lifetimeMs) pending.retryAt.set(device.session, nextAt);
      else if (result.type !== "dropped") known.set(device.session, head);
    };
    try {
      await Promise.all(devices.map(pushTo));
      const current = inbox.find(conversation);
      if (current && known.size > 0) this.#writeMark(current, known, times);
    } catch (error) {
      logError("a push could not be recorded", error);
    }
    pending.isSending = false;
    this.#run();
  }

  /** Adds what devices know to the mark of a conversation, without devices whose subscription has ended. */
  #writeMark(
    entry: InboxEntry,
    known: ReadonlyMap<Uuid, number>,
    times: Partial<Record<"pushedAt" | "soundedAt", number>> = {},
  ): void {
    const { marks, subscriptions } = this.#ports;
    const mark = marks.find(entry);
    const sessions = subscriptions.all.map(({ session }) => session);
    if (sessions.length === 0) return;
    const heads = sessions.map((session): [Uuid, number] => [
      session,
      Math.max(mark.heads[session] ?? 0, known.get(session) ?? 0),
    ]);
    marks.write(entry, { ...mark, ...times, heads: Object.fromEntries(heads.filter(([, head]) => head > 0)) });
  }
}

const toHeadOf =
  ({ head }: InboxEntry) =>
  ({ session }: PushSubscription): [Uuid, number] => [session, head];

/**
 * Whether a device that was notified up to a message has to be notified again. If only a deleted message follows, the
 * notification it shows is still right.
 */
const isNewsFor = (known: number, { head, preview }: InboxEntry): boolean =>
  known < (preview?.type === "deleted" && known > 0 ? head - 1 : head);
