import type { ConversationId, Uuid } from "#contract/ids.ts";
import { presenceStaleMs } from "#contract/limits/people.ts";
import { pushForegroundWaitMs, pushPauseMs } from "#contract/limits/push.ts";
import { findQuietEnd, isQuiet } from "#contract/settings/quiet-hours.ts";
import { logError } from "#worker/lib/log.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import { noPushMark } from "#worker/objects/user-channel/inbox/push-mark.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { toConfirmWaitMs } from "./confirm-wait.ts";
import type { DeviceSender } from "./device-sender.ts";
import { MessageSender } from "./message-sender.ts";
import { toNotableEntry } from "./notable-messages.ts";
import {
  createPending,
  findUnread,
  isNewsFor,
  listUnread,
  mergeHeads,
  type PendingMessages,
  pushLifetimeMs,
  pushSendingMs,
  toHeadOf,
  toPauseEnd,
} from "./pending-messages.ts";
import type { ShownSummaries } from "./shown-summaries.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";
import { type HeldMessages, SummaryPusher } from "./summary-pusher.ts";
import { type SharedAlarm, WakeUp } from "./wake-up.ts";

type MessagePusherPorts = {
  ctx: DurableObjectState;
  alarm: SharedAlarm;
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings" | "flush" | "writePushMark">;
  relations: Pick<RelationTable, "findName" | "isBlocked">;
  sockets: Pick<SocketRegistry, "findConnection" | "lastForegroundAt">;
  subscriptions: SubscriptionTable;
  shownSummaries: ShownSummaries;
  sender: DeviceSender;
};

/**
 * Pushes new messages to the devices that do not show them: at once to a device without a socket, after
 * `pushBackgroundWaitMs` to a connected one in the background, after `pushConfirmMs` to one in the foreground whose
 * socket stays silent, and after `pushForegroundWaitMs` while any device of the person is in the foreground. Later
 * messages of a conversation share pushes. Every decision looks at the current inbox, so a push of read, muted or
 * deleted messages is not sent. No message is pushed during quiet hours; at their end those of several conversations
 * share one push.
 *
 * A row whose devices are all pushed at once is written after the push, with a mark of what they know; if this instance
 * dies before, the conversation repeats its notice. Otherwise an alarm is set in the same synchronous run as the write
 * of the row, the mark is written after the push, and a next instance finds messages without a mark. A device that got
 * a push twice shows one notification, because they have the same topic and tag.
 */
export class MessagePusher {
  readonly #ports: MessagePusherPorts;
  readonly #pending = new Map<ConversationId, PendingMessages>();
  readonly #wakeUp: WakeUp;
  readonly #sender: MessageSender;
  readonly #summary: SummaryPusher;
  /** Time of the last push to each device, by session. */
  readonly #pushedAt = new Map<Uuid, number>();
  #isRecovered = false;

  constructor(ports: MessagePusherPorts) {
    this.#ports = ports;
    this.#wakeUp = new WakeUp(ports.alarm, () => this.#run());
    this.#summary = new SummaryPusher({
      ...ports,
      findUnread: (conversation) => findUnread(this.#ports, conversation),
      findDueAt: (device, pending, now) => this.findDueAt(device, pending, now),
      onKnown: (...args) => this.#writeMark(...args),
      onDone: () => this.#run(),
    });
    this.#sender = new MessageSender({ ...ports, summary: this.#summary });
  }

  /**
   * Considers new unread messages of a conversation. Costs nothing for a person without subscriptions. Returns whether
   * their row is written together with the mark of a push, which needs `canHoldWrite`.
   */
  handleNewMessages(entry: InboxEntry, author: Uuid | undefined, canHoldWrite: boolean, now = Date.now()): boolean {
    const { conversation, sender } = entry;
    try {
      if (this.#ports.subscriptions.all.length === 0) return false;
      this.#recover(conversation);
      if (!toNotableEntry(entry, now)) return false;
      const pending = this.#pending.get(conversation) ?? createPending(now);
      pending.lastAt = now;
      pending.isHeld = isQuiet(this.#ports.inbox.settings, now);
      pending.author = author === undefined ? undefined : { number: sender, user: author };
      this.#pending.set(conversation, pending);
      this.#run(now, canHoldWrite ? pending : undefined);
      return pending.isWriteHeld;
    } catch (error) {
      logError("new messages could not be pushed", error); // they are in the inbox all the same
      return false;
    }
  }

  isWriteHeld(conversation: ConversationId): boolean {
    return this.#pending.get(conversation)?.isWriteHeld ?? false;
  }

  /** Sets an alarm for the pushes whose rows are being written before them. */
  handleFlush(now = Date.now()): void {
    for (const pending of this.#pending.values()) {
      if (pending.isWriteHeld) this.#ports.alarm.setAtLatest(now + pushSendingMs, now);
      pending.isWriteHeld = false;
    }
  }

  /** Records that devices show a notification of a conversation's messages by a push of another kind. */
  recordShown(entry: InboxEntry, known: ReadonlyMap<Uuid, number>): void {
    if (known.size === 0) return;
    this.#writeMark(entry, known);
    this.#summary.handleShown(entry.conversation, known.keys());
  }

  /** Summaries of messages of quiet hours. */
  get summary(): Pick<SummaryPusher, "update" | "listReplacedTags"> {
    return this.#summary;
  }

  /** Records that nobody is to be notified of the messages that arrived while the conversation was muted more. */
  handleUnmuted(entry: InboxEntry): void {
    const devices = this.#ports.subscriptions.all;
    if (devices.length > 0 && entry.unread > 0) this.#writeMark(entry, new Map(devices.map(toHeadOf(entry))));
  }

  /**
   * Stores changed settings. If quiet hours end with them, or later or earlier than before, what was held back is
   * pushed at that moment.
   */
  handleSettings(store: () => void, now = Date.now()): void {
    const { inbox, subscriptions } = this.#ports;
    const wasQuiet = subscriptions.all.length > 0 && isQuiet(inbox.settings, now);
    if (wasQuiet) this.#recover(); // what arrived in the former quiet hours was held back
    store();
    if (wasQuiet) this.#run(now);
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
    for (const { conversation, at } of listUnread(this.#ports.ctx.storage.sql, Date.now() - pushLifetimeMs))
      if (conversation !== excluded)
        this.#pending.set(conversation, createPending(at, isQuiet(this.#ports.inbox.settings, at)));
  }

  /** Pushes what is due and arranges the next wake-up. `unwritten`: messages whose row may wait for their push. */
  #run(now = Date.now(), unwritten?: PendingMessages): void {
    const { inbox, subscriptions } = this.#ports;
    if (subscriptions.all.length === 0) this.#pending.clear();
    if (isQuiet(inbox.settings, now)) {
      this.#wakeUp.schedule(this.#pending.size > 0 ? findQuietEnd(inbox.settings, now) : undefined, now);
      return;
    }
    const summary = this.#summary.advance(this.#listHeld(), now);
    const times = [...this.#pending].flatMap(([conversation, pending]) => {
      if (summary?.conversations.has(conversation)) return [];
      const nextAt = this.#advance(conversation, pending, now, pending === unwritten);
      return nextAt === undefined ? [] : [nextAt];
    });
    if (summary) times.push(summary.nextAt);
    this.#wakeUp.schedule(times.length > 0 ? Math.min(...times) : undefined, now);
  }

  /** Pushes a conversation if it is due. Returns when to look again, undefined if nothing is left to do. */
  #advance(
    conversation: ConversationId,
    pending: PendingMessages,
    now: number,
    canHoldWrite: boolean,
  ): number | undefined {
    if (pending.isSending) return pending.isWriteHeld ? undefined : now + pushSendingMs;
    const entry = findUnread(this.#ports, conversation);
    if (!entry) {
      this.#pending.delete(conversation);
      return undefined;
    }
    const mark = entry.pushMark ?? noPushMark;
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
      this.#pending.delete(conversation);
      if (devices.length > 0) this.#writeMark(entry, new Map(devices.map(toHeadOf(entry))));
      return undefined;
    }
    const due = [...dueAt].flatMap(([device, at]) => (at <= now ? [device] : []));
    if (due.length > 0) {
      for (const { session } of due) this.#pushedAt.set(session, now);
      pending.isSending = true;
      pending.isWriteHeld = canHoldWrite && due.length === dueAt.size;
      this.#ports.ctx.waitUntil(this.#push(entry, pending, due, now));
      return pending.isWriteHeld ? undefined : now + pushSendingMs;
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
    return [...this.#pending].flatMap(([conversation, pending]) => {
      const entry = pending.isHeld ? findUnread(this.#ports, conversation) : undefined;
      return entry ? [{ entry, pending }] : [];
    });
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
    const { conversation } = entry;
    const { inbox } = this.#ports;
    try {
      const { known, shown, times } = await this.#sender.send(entry, pending, devices, now);
      const isWriteHeld = pending.isWriteHeld;
      pending.isWriteHeld = false;
      const current = inbox.find(conversation);
      if (current && known.size > 0) this.#writeMark(current, known, times);
      if (isWriteHeld) inbox.flush();
      this.#summary.handleShown(conversation, shown);
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
    const { inbox, subscriptions } = this.#ports;
    const mark = inbox.find(entry.conversation)?.pushMark ?? noPushMark;
    if (subscriptions.all.length > 0)
      inbox.writePushMark(entry.conversation, { ...mark, ...times, heads: mergeHeads(mark, known, subscriptions.all) });
  }
}
