import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security-notice.ts";
import { Uuid } from "#contract/ids.ts";
import { pushLifetimeSeconds } from "#contract/limits.ts";
import type { Relation } from "#contract/people.ts";
import { toRequestTag, toSecurityTag } from "#contract/push.ts";
import { findQuietEnd, isQuiet } from "#contract/settings/quiet-hours.ts";
import { logError } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { DeviceSender } from "./device-sender.ts";
import { createRequestPayload, createSecurityPayload } from "./notice-payloads.ts";
import { createPending, type PendingMessages, pushSendingMs } from "./pending-messages.ts";
import type { PushSubscription, SubscriptionTable } from "./subscription-table.ts";
import { type SharedAlarm, toRetryDelayMs, WakeUp } from "./wake-up.ts";

/** Contact request or security notice that not all devices know. `done`: sessions whose devices know it. */
const PendingNotice = v.variant("kind", [
  v.object({ kind: v.literal("request"), id: Uuid, at: v.number(), done: v.array(Uuid), person: Uuid }),
  v.object({ kind: v.literal("security"), id: Uuid, at: v.number(), done: v.array(Uuid), notice: SecurityNotice }),
]);
type PendingNotice = v.InferOutput<typeof PendingNotice>;

type NoticePusherPorts = {
  ctx: DurableObjectState;
  alarm: SharedAlarm;
  env: Env;
  user: Uuid;
  meta: KeyValues;
  inbox: Pick<InboxFeed, "settings">;
  relations: Pick<RelationTable, "find">;
  subscriptions: SubscriptionTable;
  sender: DeviceSender;
  /** Time at which a device is due, undefined if it has shown in the foreground what arrived. */
  findDueAt(device: PushSubscription, pending: PendingMessages, now: number): number | undefined;
};

const storageKey = "pendingPushNotices";
const noticesMax = 32; // older ones are in the app
const lifetimeMs = pushLifetimeSeconds * 1_000;

/**
 * Pushes contact requests and security notices to devices that do not have them, by the same rules as messages. Requests
 * wait for the end of quiet hours; security notices do not, but are silent then. What is not done is stored, so that the
 * next instance continues.
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

  /** Considers received contact requests. Costs nothing for a person without subscriptions. */
  handleRequests(relations: readonly Relation[], at = Date.now()): void {
    this.#add(
      relations.flatMap(({ request_id, profile }) =>
        request_id ? [{ kind: "request" as const, id: request_id, at, done: [], person: profile.id }] : [],
      ),
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
    if (unknown.length === 0 || this.#ports.subscriptions.all.length === 0) return;
    try {
      this.#write([...this.#notices, ...unknown].slice(-noticesMax));
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

  #run(now = Date.now()): void {
    const times = this.#notices.flatMap((notice) => this.#advance(notice, now) ?? []);
    this.#wakeUp.schedule(times.length > 0 ? Math.min(...times) : undefined, now);
  }

  /** Pushes a notice that is due. Returns when to look again, undefined if nothing is left to do. */
  #advance(notice: PendingNotice, now: number): number | undefined {
    const { inbox, subscriptions, findDueAt, ctx } = this.#ports;
    const attempts = this.#attempts.get(notice.id) ?? createPending(notice.at);
    this.#attempts.set(notice.id, attempts);
    if (attempts.isSending) return now + pushSendingMs;
    const quietEnd = notice.kind === "request" ? findQuietEnd(inbox.settings, now) : undefined;
    if (quietEnd !== undefined) return quietEnd;
    const dueAt = new Map<PushSubscription, number>();
    for (const device of subscriptions.all) {
      const isNew = !notice.done.includes(device.session) && device.savedAt <= notice.at;
      const at = isNew ? findDueAt(device, attempts, now) : undefined;
      if (at !== undefined) dueAt.set(device, at);
    }
    if (dueAt.size === 0 || !this.#isCurrent(notice, now)) {
      this.#write(this.#notices.filter(({ id }) => id !== notice.id));
      return undefined;
    }
    const due = [...dueAt].flatMap(([device, at]) => (at <= now ? [device] : []));
    if (due.length === 0) return Math.min(...dueAt.values());
    attempts.isSending = true;
    ctx.waitUntil(this.#push(notice, attempts, due));
    return now + pushSendingMs;
  }

  /** Whether a notice is still worth a notification: the request is unanswered, and it is not too old. */
  #isCurrent(notice: PendingNotice, now: number): boolean {
    if (now - notice.at > lifetimeMs) return false;
    if (notice.kind === "security") return true;
    const relation = this.#ports.relations.find(notice.person);
    return relation?.state === "received" && relation.request_id === notice.id && !relation.blocked;
  }

  async #push(notice: PendingNotice, attempts: PendingMessages, devices: readonly PushSubscription[]): Promise<void> {
    const { env, user, sender } = this.#ports;
    const tag = notice.kind === "request" ? toRequestTag(notice.person) : toSecurityTag(notice.id);
    const options = { lifetimeSeconds: pushLifetimeSeconds, topic: hashPushTopic(env, user, tag) };
    const done: Uuid[] = [];
    const pushTo = async (device: PushSubscription): Promise<void> => {
      const result = await sender.send(device, () => this.#createPayload(notice, device, tag), options);
      if (result.type !== "retry") done.push(device.session);
      else attempts.retryAt.set(device.session, Date.now() + toRetryDelayMs(result, Date.now() - notice.at));
    };
    try {
      await Promise.all(devices.map(pushTo));
      this.#write(
        this.#notices.map((known) => (known.id === notice.id ? { ...known, done: [...known.done, ...done] } : known)),
      );
    } catch (error) {
      logError("the push of a notice could not be recorded", error);
    }
    attempts.isSending = false;
    this.#run();
  }

  #createPayload(notice: PendingNotice, device: PushSubscription, tag: string) {
    const { user, inbox, relations } = this.#ports;
    const now = Date.now();
    if (!this.#isCurrent(notice, now)) return undefined;
    const times = { sentAt: now, isAlerting: inbox.settings.messages.sound && !isQuiet(inbox.settings, now) };
    if (notice.kind === "security") return createSecurityPayload(user, notice.notice.event, device, tag, times);
    const isNameShown = inbox.settings.messages.preview !== "nothing";
    const name = isNameShown ? relations.find(notice.person)?.profile.username : undefined;
    return createRequestPayload(user, name, device, tag, times);
  }
}
