import { type Call, getRingEndsAt } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds } from "#contract/limits/push.ts";
import { isQuietForCalls } from "#contract/settings/quiet-hours.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { createCallEndedPayload, createCallPayload, createMissedCallPayload } from "./call-payloads.ts";
import { toConfirmWaitMs } from "./confirm-wait.ts";
import type { DeviceSender } from "./device-sender.ts";
import type { MessagePusher } from "./message-pusher.ts";
import type { Recipient } from "./payloads.ts";
import { type CallChange, createRing, type Ring, toEnding } from "./ring.ts";
import type { RingTable } from "./ring-table.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";
import { type SharedAlarm, toRetryDelayMs, WakeUp } from "./wake-up.ts";

/** Tells which call rings for the person, if any does. */
export type RingingCallSource = { findRinging(): Call | undefined };

type CallPusherPorts = {
  ctx: DurableObjectState;
  alarm: SharedAlarm;
  env: Env;
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "settings">;
  relations: Pick<RelationTable, "findName">;
  sockets: Pick<SocketRegistry, "findConnection">;
  subscriptions: SubscriptionTable;
  rings: RingTable;
  sender: DeviceSender;
  callRegistry: RingingCallSource;
  messages: Pick<MessagePusher, "recordShown" | "summary">;
};

const ringMinMs = 2_000; // a shorter ring would be over before anybody could take the phone
const sendingMs = 3_000; // after this time an alarm looks whether pushes were sent, in case this instance died
const logEntryWaitMs = 1_000; // the log entry of a missed call arrives with the end of the call or shortly after
const callEndedLifetimeSeconds = 60; // a ring that arrived has ended by itself by then
const handlersMax = 32;
const never = Number.POSITIVE_INFINITY;

/**
 * Rings on devices whose app is closed or in the background: at once on a device without a socket, after
 * `pushBackgroundWaitMs` on a connected one in the background, and after `pushConfirmMs` on one in the foreground whose
 * socket stays silent. When the call ends or is answered elsewhere, another push replaces the notification on the
 * devices that received the ring. Whether a call rings at all is decided by the `CallRegistry`, as for connected
 * devices, and by the person's quiet hours.
 *
 * A row records which devices received the ring, after the push. If this instance dies in between, the next one repeats
 * the push while the call rings; a device that got both shows one, because they are about the same call.
 */
export class CallPusher {
  readonly #ports: CallPusherPorts;
  /** Calls whose pushes are not done, by call. */
  readonly #rings = new Map<Uuid, Ring>();
  /** Sessions in which calls were answered or declined. */
  readonly #handlers = new BoundedMap<Uuid, Uuid>(handlersMax);
  readonly #wakeUp: WakeUp;

  constructor(ports: CallPusherPorts) {
    this.#ports = ports;
    this.#wakeUp = new WakeUp(ports.alarm, () => this.#run());
  }

  /** Records which session answers or declines a call: its device replaces the notification itself. */
  recordHandler(call: Uuid, session: Uuid | undefined): void {
    if (session !== undefined) this.#handlers.set(call, session);
  }

  /** Considers a new state of a call. Costs nothing for a person without subscriptions. */
  handleCallUpdate({ call, over }: CallChange, now = Date.now()): void {
    try {
      if (call.to !== this.#ports.user || this.#ports.subscriptions.all.length === 0) return;
      if (over || call.answered_at !== null) this.#end(call, over);
      else this.#start(call, now);
    } catch (error) {
      logError("a call could not be pushed", error); // it rings on connected devices all the same
    }
  }

  /**
   * Notifies the devices that received the ring of the missed call's log entry, the newest message of its conversation.
   * Returns undefined if no device did.
   */
  handleLogEntry(entry: InboxEntry): Promise<void> | undefined {
    const { conversation, preview } = entry;
    const isMissedCall = preview?.type === "call" && preview.status === "missed";
    if (!isMissedCall || this.#ports.subscriptions.all.length === 0) return undefined;
    const ring =
      this.#rings.get(preview.id) ??
      this.#recallRing({ call_id: preview.id, conversation, type: preview.kind, created_at: 0 });
    if (!ring || ring.sessions.size + ring.sending.size === 0) return undefined;
    ring.isOver = true;
    ring.isReplaced = true;
    const now = Date.now();
    this.#ports.alarm.setAtLatest(now + sendingMs, now); // it looks for unread messages in case this instance dies
    return this.#replaceByLogEntry(ring, entry);
  }

  /** Continues after a wait, or after the death of an instance. */
  runAlarm(): void {
    if (this.#ports.subscriptions.all.length === 0) return;
    const ringing = this.#ports.callRegistry.findRinging();
    if (ringing) this.#start(ringing, ringing.created_at);
    else this.#run();
  }

  #start(call: Call, startedAt: number): void {
    const { conversation, call_id } = call;
    if (isQuietForCalls(this.#ports.inbox.settings, startedAt)) return;
    const ring = this.#rings.get(call_id);
    if (ring) ring.call = call;
    else {
      for (const [id, earlier] of this.#rings) if (earlier.call.conversation === conversation) this.#rings.delete(id);
      const pushed = this.#ports.rings.find(conversation);
      this.#rings.set(call_id, createRing(call, startedAt, pushed?.call === call_id ? pushed.sessions : []));
    }
    this.#run();
  }

  #end(call: Call, over: CallChange["over"]): void {
    // An answer replaced the ring already, so the end of the talk concerns no notification.
    const hasTalked = over !== null && call.answered_at !== null;
    const ring = this.#rings.get(call.call_id) ?? (hasTalked ? undefined : this.#recallRing(call));
    if (!ring || ring.isOver) return;
    ring.isOver = true;
    this.#ports.ctx.waitUntil(this.#replaceByEnd(ring, over));
  }

  /**
   * A ring that a previous instance pushed. The end of the call and its log entry arrive one after the other, and one
   * of them replaces the ring.
   */
  #recallRing(call: Ring["call"]): Ring | undefined {
    const pushed = this.#ports.rings.find(call.conversation);
    if (pushed?.call !== call.call_id) return undefined;
    const ring = createRing(call, call.created_at, pushed.sessions);
    this.#rings.set(call.call_id, ring);
    return ring;
  }

  /** Pushes to the devices that are due and arranges to be woken for the rest. */
  #run(now = Date.now()): void {
    const times = [...this.#rings.values()].flatMap((ring) => this.#advance(ring, now) ?? []);
    this.#wakeUp.schedule(times.length > 0 ? Math.min(...times) : undefined, now);
  }

  /** Pushes a ring to the devices that are due. Returns when to look again, undefined if nothing is left to do. */
  #advance(ring: Ring, now: number): number | undefined {
    const { call, sending } = ring;
    if (ring.isOver || getRingEndsAt(call) - now < ringMinMs) return undefined;
    const times: number[] = [];
    for (const device of this.#ports.subscriptions.all) {
      const dueAt = this.#dueAt(device, ring, now);
      if (dueAt === undefined) continue;
      if (dueAt > now) times.push(dueAt);
      else this.#push(ring, device, now);
    }
    if (sending.size > 0) times.push(now + sendingMs);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Time at which a device is due, undefined if it has the ring, or shows the call in the foreground. */
  #dueAt({ session }: PushSubscription, ring: Ring, now: number): number | undefined {
    // While no device is known to ring, a push that waits for the phone is replaced by one that waits longer.
    const reached = ring.call.ring === "asleep" ? ring.longSessions : ring.sessions;
    if (reached.has(session) || ring.sending.has(session)) return undefined;
    const connection = this.#ports.sockets.findConnection(session);
    if (connection && connection.seenAt > ring.startedAt) return undefined;
    const waitMs = toConfirmWaitMs(connection);
    const retryAt = ring.retryAt.get(session) ?? 0;
    return retryAt === never ? undefined : Math.max(Math.min(ring.startedAt, now) + waitMs, retryAt);
  }

  #push(ring: Ring, device: PushSubscription, now: number): void {
    const send = async () => {
      try {
        await this.#sendRing(ring, device, now);
      } catch (error) {
        logError("a pushed call could not be recorded", error);
      }
      ring.sending.delete(device.session);
      this.#run();
    };
    const work = send();
    ring.sending.set(device.session, work);
    this.#ports.ctx.waitUntil(work);
  }

  async #sendRing(ring: Ring, device: PushSubscription, now: number): Promise<void> {
    const { env, user, inbox, rings, sender, callRegistry } = this.#ports;
    const { conversation, call_id } = ring.call;
    const isLong = ring.call.ring === "asleep";
    const expiresAt = getRingEndsAt(ring.call);
    const createPayload = () => {
      const sentAt = Date.now();
      if (callRegistry.findRinging()?.call_id !== call_id || expiresAt - sentAt < ringMinMs) return undefined;
      const times = { sentAt, expiresAt };
      return createCallPayload(this.#recipient, ring.call, device, {
        ...times,
        isAlerting: inbox.settings.calls.sound,
      });
    };
    const lifetimeSeconds = Math.floor((expiresAt - now) / 1_000);
    const topic = hashPushTopic(env, user, conversation, "calls");
    const result = await sender.send(device, createPayload, { lifetimeSeconds, topic });
    if (result.type === "retry") {
      const sentAt = Date.now();
      ring.retryAt.set(device.session, sentAt + toRetryDelayMs(result, sentAt - ring.startedAt));
    } else if (result.type === "delivered") {
      ring.sessions.add(device.session);
      if (isLong) ring.longSessions.add(device.session);
      rings.write(conversation, { call: call_id, sessions: [...ring.sessions] });
    } else ring.retryAt.set(device.session, never);
  }

  /** Replaces a ring that was answered or declined elsewhere, or that ended without a log entry for this person. */
  async #replaceByEnd(ring: Ring, over: CallChange["over"]): Promise<void> {
    const { env, user, sender } = this.#ports;
    const { call } = ring;
    await Promise.all(ring.sending.values());
    if (over?.status === "missed") await new Promise((resolve) => setTimeout(resolve, logEntryWaitMs));
    if (ring.isReplaced) return;
    const topic = hashPushTopic(env, user, call.conversation, "calls");
    const options = { lifetimeSeconds: callEndedLifetimeSeconds, topic };
    const replace = (device: PushSubscription) => {
      const createPayload = () =>
        ring.isReplaced ? undefined : createCallEndedPayload(this.#recipient, call, device, toEnding(over));
      return sender.send(device, createPayload, options);
    };
    await Promise.all(this.#listRungDevices(ring).map(replace));
    this.#forget(ring);
  }

  async #replaceByLogEntry(ring: Ring, entry: InboxEntry): Promise<void> {
    const { env, user, inbox, rings, sender, sockets, messages } = this.#ports;
    const { conversation } = entry;
    await Promise.all(ring.sending.values());
    const heads = new Map<Uuid, number>();
    // The push describes all unread messages, so it takes the place of earlier pushes of the conversation.
    const options = { lifetimeSeconds: pushLifetimeSeconds, topic: hashPushTopic(env, user, conversation) };
    const replace = async (device: PushSubscription): Promise<void> => {
      let { head } = entry;
      const createPayload = () => {
        const current = inbox.find(conversation);
        if (!current || current.gone || current.unread === 0)
          return createCallEndedPayload(this.#recipient, ring.call, device, "ended");
        head = current.head;
        const isConnected = sockets.findConnection(device.session) !== undefined;
        const replaces = messages.summary.listReplacedTags(device.session, conversation);
        const missedCall = { id: ring.call.call_id, isConnected, replaces };
        return createMissedCallPayload(this.#recipient, current, missedCall, device);
      };
      const { type } = await sender.send(device, createPayload, options);
      if (type === "delivered") heads.set(device.session, head);
    };
    try {
      await Promise.all(this.#listRungDevices(ring).map(replace));
      const current = inbox.find(conversation);
      if (current && heads.size > 0) messages.recordShown(current, heads);
      rings.delete(conversation, ring.call.call_id);
    } catch (error) {
      logError("a missed call could not be recorded", error);
    }
    this.#forget(ring);
  }

  #forget(ring: Ring): void {
    this.#rings.delete(ring.call.call_id);
  }

  /** Devices that received the ring, except those that show its end in the foreground. */
  #listRungDevices(ring: Ring): PushSubscription[] {
    const { subscriptions, sockets } = this.#ports;
    const handler = this.#handlers.get(ring.call.call_id);
    return subscriptions.all.filter(({ session }) => {
      const hasSeen = (sockets.findConnection(session)?.seenAt ?? 0) > ring.startedAt;
      return ring.sessions.has(session) && session !== handler && !hasSeen;
    });
  }

  get #recipient(): Recipient {
    const { user, inbox, relations } = this.#ports;
    return { user, settings: inbox.settings, findName: (other) => relations.findName(other) };
  }
}
