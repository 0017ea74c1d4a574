import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Uuid } from "#contract/ids.ts";
import { pushTestLifetimeSeconds } from "#contract/limits/push.ts";
import type { Relation } from "#contract/people.ts";
import type { PushTestResult } from "#contract/push.ts";
import { logError } from "#worker/lib/log.ts";
import { findVapidKey } from "#worker/lib/push/vapid.ts";
import type { InvitationNotice, NewPushSubscription } from "#worker/objects/rpc/user-channel-rpc.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { CallPusher, type RingingCallSource } from "./call-pusher.ts";
import { DeletionPusher } from "./deletion-pusher.ts";
import { DeviceSender } from "./device-sender.ts";
import { MessagePusher } from "./message-pusher.ts";
import { NoticePusher } from "./notices/notice-pusher.ts";
import { createTestPayload } from "./payloads.ts";
import { ReactionPusher } from "./reactions/reaction-pusher.ts";
import { ReadPusher } from "./read-pusher.ts";
import { RingTable } from "./ring-table.ts";
import { ShownSummaries } from "./shown-summaries.ts";
import { SubscriptionTable } from "./subscription-table.ts";
import { SharedAlarm } from "./wake-up.ts";

type PushNotificationPorts = {
  ctx: DurableObjectState;
  env: Env;
  user: Uuid;
  meta: KeyValues;
  inbox: InboxFeed;
  sockets: SocketRegistry;
  callRegistry: RingingCallSource;
};

/** Push subscriptions of one person's devices, and what is pushed to them. */
export class PushNotifications {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #user: Uuid;
  readonly #subscriptions: SubscriptionTable;
  readonly #sender: DeviceSender;
  readonly #alarm: SharedAlarm;

  /** Pushes new messages. */
  readonly messages: MessagePusher;
  /** Pushes ringing calls. */
  readonly calls: CallPusher;
  /** Takes deleted messages off notifications. */
  readonly deletions: DeletionPusher;
  /** Takes read messages off notifications. */
  readonly reads: ReadPusher;
  /** Pushes reactions to this person's messages. */
  readonly reactions: ReactionPusher;
  readonly #shownSummaries: ShownSummaries;
  readonly #notices: NoticePusher;
  readonly #relations: RelationTable;

  constructor({ ctx, env, user, meta, inbox, sockets, callRegistry }: PushNotificationPorts) {
    this.#ctx = ctx;
    this.#env = env;
    this.#user = user;
    this.#alarm = new SharedAlarm(ctx);
    const subscriptions = new SubscriptionTable(ctx.storage.sql);
    const sender = new DeviceSender(env, subscriptions);
    const relations = new RelationTable(ctx.storage.sql, user);
    this.#subscriptions = subscriptions;
    this.#sender = sender;
    const common = { ctx, alarm: this.#alarm, env, user, inbox, relations, sockets, subscriptions, sender };
    const shownSummaries = new ShownSummaries(meta);
    this.#shownSummaries = shownSummaries;
    this.messages = new MessagePusher({ ...common, shownSummaries });
    this.deletions = new DeletionPusher(common);
    this.reads = new ReadPusher({ ...common, shownSummaries, summary: this.messages.summary });
    this.reactions = new ReactionPusher({ ...common, meta });
    this.#relations = relations;
    this.#notices = new NoticePusher({
      ...common,
      meta,
      findDueAt: (device, pending, now) => this.messages.findDueAt(device, pending, now),
    });
    this.calls = new CallPusher({
      ...common,
      rings: new RingTable(ctx.storage.sql),
      callRegistry,
      messages: this.messages,
    });
  }

  /**
   * Considers new unread messages of a conversation. A missed call first replaces the ring on devices that received it.
   * Returns whether the row is written together with the mark of a push.
   */
  handleNewMessages(entry: InboxEntry, author: Uuid | undefined, canHoldWrite: boolean): boolean {
    const replaceRing = this.calls.handleLogEntry(entry);
    if (!replaceRing) return this.messages.handleNewMessages(entry, author, canHoldWrite);
    const pushAll = async () => {
      await replaceRing;
      this.messages.handleNewMessages(entry, author, false);
    };
    this.#ctx.waitUntil(pushAll().catch((error: unknown) => logError("a missed call could not be pushed", error)));
    return false;
  }

  /**
   * Stores changed relations, and considers the contact requests among them, and invitations to groups, that this
   * person had not received before. `invitations`: all open ones, undefined if they have not changed.
   */
  handleRequests(
    relations: readonly Relation[],
    invitations: readonly InvitationNotice[] | undefined,
    store: () => void,
  ): void {
    const requests = relations.filter(({ state, blocked, request_id, profile }) => {
      const isReceived = state === "received" && !blocked;
      return isReceived && this.#relations.find(profile.id)?.request_id !== request_id;
    });
    const invitedUpTo = this.#relations.find(this.#user)?.since ?? 0;
    store();
    this.#notices.handleRequests(requests);
    if (invitations) this.#notices.handleInvitations(invitations, invitedUpTo);
  }

  /** Stores changed settings, and pushes what waits for the end of quiet hours if they end with that. */
  handleSettings(store: () => void): void {
    this.messages.handleSettings(store);
    this.#notices.runAlarm();
  }

  handleSecurityNotice(notice: SecurityNotice): void {
    this.#notices.handleSecurityNotice(notice);
  }

  /** Records that a device came to the foreground, where it closes the summary and shows reactions in their chats. */
  handleDeviceEntered(session: Uuid): void {
    this.#shownSummaries.set(session, []);
    this.reactions.forgetAll();
  }

  /** Considers again what waits, after a device left the foreground. */
  handleDeviceLeft(): void {
    this.messages.handleDeviceLeft();
    this.#notices.runAlarm();
  }

  /** Continues after a wait, or after the death of an instance. */
  runAlarm(): void {
    this.#alarm.handleAlarm();
    this.messages.runAlarm();
    this.calls.runAlarm();
    this.#notices.runAlarm();
    this.reactions.runAlarm();
  }

  /** Saves a session's subscription. Returns the sessions whose subscriptions exceed the limit and were removed. */
  saveSubscription(session: Uuid, subscription: NewPushSubscription): Uuid[] {
    return this.#subscriptions.save(session, subscription);
  }

  removeSubscriptions(sessions: readonly Uuid[] | "all"): void {
    this.#subscriptions.delete(sessions);
  }

  /** Whether a session's subscription was made with a former key of this server, so that no push can reach it. */
  async hasFormerKey(session: Uuid): Promise<boolean> {
    const subscription = this.#subscriptions.find(session);
    const key = subscription && (await findVapidKey(this.#env));
    return key !== undefined && subscription?.key !== key;
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
