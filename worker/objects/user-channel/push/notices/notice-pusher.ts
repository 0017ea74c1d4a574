import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security-notice.ts";
import { Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds } from "#contract/limits/push.ts";
import type { Relation } from "#contract/people.ts";
import { type PushPayload, toInvitationTag, toRequestTag, toSecurityTag } from "#contract/push.ts";
import { findQuietEnd, isQuiet } from "#contract/settings/quiet-hours.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { InvitationNotice } from "#worker/objects/rpc/user-channel-rpc.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { DeviceSender } from "#worker/objects/user-channel/push/device-sender.ts";
import { toHandledPayload } from "#worker/objects/user-channel/push/payloads.ts";
import {
  createPending,
  type PendingMessages,
  pushLifetimeMs,
  pushSendingMs,
} from "#worker/objects/user-channel/push/pending-messages.ts";
import type { PushSubscription, SubscriptionTable } from "#worker/objects/user-channel/push/subscription-table.ts";
import { type SharedAlarm, toRetryDelayMs, WakeUp } from "#worker/objects/user-channel/push/wake-up.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { createRequestPayload, createSecurityPayload, type NoticeTimes } from "./notice-payloads.ts";

const NoticeState = { id: Uuid, at: v.number(), done: v.array(Uuid) };
const RequestState = { ...NoticeState, shown: v.optional(v.array(Uuid), []), isDone: v.optional(v.boolean(), false) };
/**
 * Contact request, invitation to a group or security notice that not all devices know, or one of the first two that
 * devices were notified of and that is not answered. `done`: sessions whose devices know it. `shown`: those of them
 * that were notified. `isDone`: nothing is left to push until it is answered. `sender`: name of who invites.
 */
const PendingNotice = v.variant("kind", [
  v.object({ kind: v.literal("request"), ...RequestState, person: Uuid }),
  v.object({ kind: v.literal("invitation"), ...RequestState, sender: v.string() }),
  v.object({ kind: v.literal("security"), ...NoticeState, notice: SecurityNotice }),
]);
type PendingNotice = v.InferOutput<typeof PendingNotice>;
/** Notice that asks for an answer, and ends with it. */
type PendingRequest = Extract<PendingNotice, { kind: "request" | "invitation" }>;

type NoticePusherPorts = {
  ctx: DurableObjectState;
  alarm: SharedAlarm;
  env: Env;
  user: Uuid;
  meta: KeyValues;
  inbox: Pick<InboxFeed, "settings">;
  relations: Pick<RelationTable, "find">;
  sockets: Pick<SocketRegistry, "findConnection">;
  subscriptions: SubscriptionTable;
  sender: DeviceSender;
  /** Time at which a device is due, undefined if it has shown in the foreground what arrived. */
  findDueAt(device: PushSubscription, pending: PendingMessages, now: number): number | undefined;
};

const toTag = (notice: PendingNotice): string => {
  if (notice.kind === "request") return toRequestTag(notice.person);
  return notice.kind === "invitation" ? toInvitationTag(notice.id) : toSecurityTag(notice.id);
};

const storageKey = "pendingPushNotices";
const noticesMax = 32; // older ones are in the app

/**
 * Pushes contact requests, invitations to groups and security notices to devices that do not have them, by the same
 * rules as messages. Requests and invitations wait for the end of quiet hours; security notices do not, but are silent
 * then. What is not done is stored, so that the next instance continues. The notification of what was answered
 * elsewhere or withdrawn is replaced, as that of messages that were read.
 */
export class NoticePusher {
  readonly #ports: NoticePusherPorts;
  readonly #wakeUp: WakeUp;
  /** Waits and attempts of this instance, by id of the notice. */
  readonly #attempts = new Map<Uuid, PendingMessages>();
  #notices: readonly PendingNotice[];

  constructor(ports: NoticePusherPorts) {
    this.#ports = ports;
    this.#wakeUp = new WakeUp(ports.alarm, () => this.#run());
    const stored = ports.meta.get(storageKey);
    this.#notices = stored === undefined ? [] : v.parse(v.array(PendingNotice), JSON.parse(stored));
  }

  /**
   * Considers received contact requests, and whether earlier ones are answered. Costs nothing for a person without
   * subscriptions.
   */
  handleRequests(relations: readonly Relation[], at = Date.now()): void {
    this.#add(
      relations.flatMap(({ request_id, profile }) =>
        request_id
          ? [{ kind: "request" as const, id: request_id, at, done: [], shown: [], isDone: false, person: profile.id }]
          : [],
      ),
    );
  }

  /** Considers open invitations to groups. Those sent up to `knownUpTo` were considered before; others have ended. */
  handleInvitations(open: readonly InvitationNotice[], knownUpTo: number, at = Date.now()): void {
    const isOpen = new Set(open.map(({ id }) => id));
    const ended = this.#notices.filter((notice) => notice.kind === "invitation" && !isOpen.has(notice.id));
    if (ended.length > 0) this.#write(this.#notices.filter((notice) => !ended.includes(notice)));
    for (const notice of ended) if (notice.kind === "invitation") this.#withdraw(notice);
    this.#add(
      open
        .filter((invitation) => invitation.at > knownUpTo)
        .map(({ id, sender }) => ({ kind: "invitation", id, at, done: [], shown: [], isDone: false, sender })),
    );
  }

  handleSecurityNotice(notice: SecurityNotice, at = Date.now()): void {
    this.#add([{ kind: "security", id: notice.id, at, done: notice.session ? [notice.session] : [], notice }]);
  }

  /** Continues after a wait, or after the death of an instance. */
  runAlarm(): void {
    if (this.#notices.length > 0) this.#run();
  }

  #add(notices: readonly PendingNotice[]): void {
    const unknown = notices.filter(({ id }) => this.#notices.every((known) => known.id !== id));
    if (this.#notices.length + unknown.length === 0 || this.#ports.subscriptions.all.length === 0) return;
    try {
      if (unknown.length > 0) this.#write([...this.#notices, ...unknown].slice(-noticesMax));
      this.#run();
    } catch (error) {
      logError("a notice could not be pushed", error); // it is in the app all the same
    }
  }

  #write(notices: readonly PendingNotice[]): void {
    const { meta } = this.#ports;
    this.#notices = notices;
    for (const id of this.#attempts.keys()) if (!notices.some((notice) => notice.id === id)) this.#attempts.delete(id);
    if (notices.length > 0) meta.set(storageKey, JSON.stringify(notices));
    else meta.delete(storageKey);
  }

  #replace(notice: PendingNotice): void {
    this.#write(this.#notices.map((known) => (known.id === notice.id ? notice : known)));
  }

  #run(now = Date.now()): void {
    const times = this.#notices.flatMap((notice) => this.#advance(notice, now) ?? []);
    this.#wakeUp.schedule(times.length > 0 ? Math.min(...times) : undefined, now);
  }

  /** Pushes a notice that is due. Returns when to look again, undefined if nothing is left to do. */
  #advance(notice: PendingNotice, now: number): number | undefined {
    const { inbox, subscriptions, findDueAt, ctx } = this.#ports;
    if (notice.kind !== "security" && (notice.isDone || !this.#isUnanswered(notice))) return this.#finish(notice, now);
    const attempts = this.#attempts.get(notice.id) ?? createPending(notice.at);
    this.#attempts.set(notice.id, attempts);
    if (attempts.isSending) return now + pushSendingMs;
    if (notice.kind !== "security" && isQuiet(inbox.settings, now)) return findQuietEnd(inbox.settings, now);
    const dueAt = new Map<PushSubscription, number>();
    for (const device of subscriptions.all) {
      const isNew = !notice.done.includes(device.session) && device.savedAt <= notice.at;
      const at = isNew ? findDueAt(device, attempts, now) : undefined;
      if (at !== undefined) dueAt.set(device, at);
    }
    if (dueAt.size === 0 || !this.#isCurrent(notice, now)) return this.#finish(notice, now);
    const due = [...dueAt].flatMap(([device, at]) => (at <= now ? [device] : []));
    if (due.length === 0) return Math.min(...dueAt.values());
    attempts.isSending = true;
    ctx.waitUntil(this.#push(notice, attempts, due));
    return now + pushSendingMs;
  }

  /** Deletes a notice, unless it asks for an answer and devices show it: that one is kept until it is answered. */
  #finish(notice: PendingNotice, now: number): undefined {
    const isShown = notice.kind !== "security" && notice.shown.length > 0;
    if (!isShown || !this.#isCurrent(notice, now)) {
      const isAnswered = isShown && !this.#isUnanswered(notice);
      this.#write(this.#notices.filter(({ id }) => id !== notice.id));
      if (isAnswered) this.#withdraw(notice);
    } else if (!notice.isDone) this.#replace({ ...notice, isDone: true });
  }

  /** Silently replaces the notification of a request that was answered elsewhere or withdrawn, on closed devices. */
  #withdraw(request: PendingRequest): void {
    const { ctx, env, user, subscriptions, sockets, sender } = this.#ports;
    const tag = toTag(request);
    const topic = hashPushTopic(env, user, tag);
    const options = { lifetimeSeconds: pushLifetimeSeconds, topic, urgency: "low" } as const;
    for (const device of subscriptions.all) {
      if (!request.shown.includes(device.session) || sockets.findConnection(device.session)) continue;
      const createPayload = () => {
        const isAskedAgain = this.#notices.some((other) => toTag(other) === tag);
        const times = { sentAt: Date.now(), isAlerting: false };
        return isAskedAgain
          ? undefined
          : toHandledPayload(this.#createRequest(request, device, tag, times), request.kind);
      };
      ctx.waitUntil(sender.send(device, createPayload, options));
    }
  }

  /** Whether a notice is still worth a notification: the request is unanswered, and it is not too old. */
  #isCurrent(notice: PendingNotice, now: number): boolean {
    if (now - notice.at > pushLifetimeMs) return false;
    return notice.kind === "security" || this.#isUnanswered(notice);
  }

  #isUnanswered(notice: PendingRequest): boolean {
    if (notice.kind === "invitation") return this.#notices.some(({ id }) => id === notice.id);
    const relation = this.#ports.relations.find(notice.person);
    return relation?.state === "received" && relation.request_id === notice.id && !relation.blocked;
  }

  async #push(notice: PendingNotice, attempts: PendingMessages, devices: readonly PushSubscription[]): Promise<void> {
    const { env, user, sender } = this.#ports;
    const tag = toTag(notice);
    const options = { lifetimeSeconds: pushLifetimeSeconds, topic: hashPushTopic(env, user, tag) };
    const [done, shown]: [Uuid[], Uuid[]] = [[], []];
    const pushTo = async (device: PushSubscription): Promise<void> => {
      const result = await sender.send(device, () => this.#createPayload(notice, device, tag), options);
      if (result.type === "delivered") shown.push(device.session);
      if (result.type !== "retry") done.push(device.session);
      else attempts.retryAt.set(device.session, Date.now() + toRetryDelayMs(result, Date.now() - notice.at));
    };
    try {
      await Promise.all(devices.map(pushTo));
      const current = this.#notices.find(({ id }) => id === notice.id);
      const known = [...(current?.done ?? []), ...done];
      if (current?.kind === "security") this.#replace({ ...current, done: known });
      else if (current) this.#replace({ ...current, done: known, shown: [...current.shown, ...shown] });
      else if (notice.kind !== "security" && shown.length > 0 && !this.#isUnanswered(notice))
        this.#withdraw({ ...notice, shown }); // answered while it was sent
    } catch (error) {
      logError("the push of a notice could not be recorded", error);
    }
    attempts.isSending = false;
    this.#run();
  }

  #createPayload(notice: PendingNotice, device: PushSubscription, tag: string) {
    const { user, inbox } = this.#ports;
    const now = Date.now();
    if (!this.#isCurrent(notice, now)) return undefined;
    const times = { sentAt: now, isAlerting: inbox.settings.messages.sound && !isQuiet(inbox.settings, now) };
    if (notice.kind === "security") return createSecurityPayload(user, notice.notice.event, device, tag, times);
    return this.#createRequest(notice, device, tag, times);
  }

  #createRequest(request: PendingRequest, device: PushSubscription, tag: string, times: NoticeTimes): PushPayload {
    const { user, inbox, relations } = this.#ports;
    const isNameShown = inbox.settings.messages.preview !== "nothing";
    const name = request.kind === "request" ? relations.find(request.person)?.profile.username : request.sender;
    return createRequestPayload(user, { kind: request.kind, name: isNameShown ? name : undefined }, device, tag, times);
  }
}
