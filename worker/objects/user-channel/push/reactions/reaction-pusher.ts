import * as v from "valibot";
import { isMutedAt } from "#contract/conversations.ts";
import { ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { presenceStaleMs } from "#contract/limits/people.ts";
import {
  pushReactionLifetimeSeconds,
  pushReactionPauseMs,
  pushReactionsRead,
  pushReactionWaitMs,
} from "#contract/limits/push.ts";
import { toReactionTag } from "#contract/push.ts";
import { isQuiet } from "#contract/settings/quiet-hours.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import { hashPushTopic } from "#worker/lib/push/endpoints.ts";
import type { AnnouncedReactions } from "#worker/lib/push/reaction-texts.ts";
import type { ReactionNews } from "#worker/objects/rpc/messages.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import type { RelationTable } from "#worker/objects/user-channel/inbox/contacts-table.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { DeviceSender } from "#worker/objects/user-channel/push/device-sender.ts";
import type { PushSubscription, SubscriptionTable } from "#worker/objects/user-channel/push/subscription-table.ts";
import type { SharedAlarm } from "#worker/objects/user-channel/push/wake-up.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { createReactionPayload } from "./reaction-payload.ts";

/**
 * Reactions in a conversation since the person was last in the foreground. `since`: revision before the first one.
 * `announced`: revision of the newest one that was pushed. `pushedAt`: time of the last push, 0 before it. `dueAt`:
 * time of the next one, null if nothing is new.
 */
const Unseen = v.object({
  since: v.number(),
  announced: v.number(),
  pushedAt: v.number(),
  dueAt: v.nullable(v.number()),
});
type Unseen = v.InferOutput<typeof Unseen>;

type ReactionPusherPorts = {
  ctx: DurableObjectState;
  alarm: SharedAlarm;
  env: Env;
  user: Uuid;
  meta: KeyValues;
  inbox: Pick<InboxFeed, "find" | "settings">;
  relations: Pick<RelationTable, "findName" | "isBlocked">;
  sockets: Pick<SocketRegistry, "lastForegroundAt">;
  subscriptions: SubscriptionTable;
  sender: DeviceSender;
};

const storageKey = "unseenReactions";
const conversationsMax = 32;

/**
 * Pushes reactions to the person's own messages silently, tried once: those of a conversation share one notification,
 * which a later push replaces, at most one in `pushReactionPauseMs`. Nothing is pushed while a device is in the
 * foreground or in quiet hours, and nothing is made up for. The conversation is asked for the content at the time of
 * the push, so what was removed or deleted meanwhile is not announced. A first push waits in memory and is lost if this
 * instance dies; the times of pushes, and what waits for the end of the pause, are one value of the key-value table.
 */
export class ReactionPusher {
  readonly #ports: ReactionPusherPorts;
  readonly #unseen: Map<ConversationId, Unseen>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: ReactionPusherPorts) {
    this.#ports = ports;
    const stored = ports.meta.get(storageKey);
    const parsed = stored === undefined ? [] : v.parse(v.array(v.tuple([ConversationId, Unseen])), JSON.parse(stored));
    this.#unseen = new Map(parsed);
  }

  /**
   * Considers a notice from a conversation. `before`: its row before the notice. Costs nothing for a person without
   * subscriptions.
   */
  handleNotice({ conversation, epoch, revised }: ConversationNotice, before: InboxEntry | undefined): void {
    if (!revised?.hasReactionsToOwn || before?.epoch !== epoch || this.#ports.subscriptions.all.length === 0) return;
    const entry = this.#ports.inbox.find(conversation);
    if (!entry || entry.revision <= before.revision) return; // the notice is a repetition
    try {
      this.#add(entry, Math.max(revised.since, before.revision), Date.now());
    } catch (error) {
      logError("reactions could not be pushed", error); // they are in the chat all the same
    }
  }

  /** Forgets what was not pushed, because a device is in the foreground. */
  forgetAll(): void {
    if (this.#unseen.size === 0) return;
    this.#unseen.clear();
    this.#save(Date.now());
  }

  /** Continues after a wait. */
  runAlarm(): void {
    if (this.#unseen.size > 0) this.#run();
  }

  #add(entry: InboxEntry, revision: number, now: number): void {
    if (!this.#isWanted(entry, now)) return;
    const unseen = this.#unseen.get(entry.conversation) ?? { since: revision, announced: 0, pushedAt: 0, dueAt: null };
    if (unseen.dueAt !== null) return;
    const pauseEnd = Math.min(unseen.pushedAt, now) + pushReactionPauseMs;
    this.#unseen.set(entry.conversation, { ...unseen, dueAt: Math.max(now + pushReactionWaitMs, pauseEnd) });
    this.#save(now);
    this.#schedule(now);
  }

  /** Whether the person is to be notified of reactions in this conversation now. */
  #isWanted(entry: InboxEntry, now: number): boolean {
    const { inbox, sockets, relations, user } = this.#ports;
    const isSilenced = entry.archived || isMutedAt(entry, now) || isQuiet(inbox.settings, now);
    if (!inbox.settings.reactions || entry.gone || isSilenced) return false;
    const other = otherMember(entry.conversation, user);
    return !(other !== undefined && relations.isBlocked(other)) && sockets.lastForegroundAt() < now - presenceStaleMs;
  }

  #run(now = Date.now()): void {
    for (const [conversation, unseen] of [...this.#unseen]) {
      if (unseen.dueAt === null || unseen.dueAt > now) continue;
      this.#unseen.set(conversation, { ...unseen, dueAt: null });
      const pushing = this.#push(conversation, unseen.since).catch((error: unknown) =>
        logWarning("reactions were not pushed", error),
      );
      this.#ports.ctx.waitUntil(pushing);
    }
    this.#save(now);
    this.#schedule(now);
  }

  /** Arranges to be woken for the next push. A short wait needs no alarm, which would be a row. */
  #schedule(now: number): void {
    clearTimeout(this.#timer);
    const dueAt = Math.min(...[...this.#unseen.values()].map((unseen) => unseen.dueAt ?? Number.POSITIVE_INFINITY));
    const waitMs = Math.max(0, dueAt - now);
    if (waitMs <= pushReactionWaitMs) this.#timer = setTimeout(() => this.#run(), waitMs);
    else if (Number.isFinite(dueAt)) this.#ports.alarm.setAtLatest(dueAt, now);
  }

  async #push(conversation: ConversationId, since: number): Promise<void> {
    const { env, user, inbox, relations, subscriptions, sender } = this.#ports;
    const news = await getConversationStub(env, conversation).getReactionNews(user, since);
    const unseen = this.#unseen.get(conversation);
    // Nothing is left if a device came to the foreground meanwhile, or a reaction was only removed.
    if (!unseen || isRefusal(news) || news.revision <= unseen.announced) return;
    const reactions = this.#toAnnounced(news);
    if (!reactions) return;
    this.#unseen.delete(conversation); // the newest one is the last
    this.#unseen.set(conversation, { ...unseen, pushedAt: Date.now(), announced: news.revision });
    this.#save(Date.now());
    const recipient = { user, settings: inbox.settings, findName: (other: Uuid) => relations.findName(other) };
    const options = {
      lifetimeSeconds: pushReactionLifetimeSeconds,
      topic: hashPushTopic(env, user, toReactionTag(conversation)),
      urgency: "normal",
    } as const;
    const pushTo = (device: PushSubscription) => {
      const createPayload = () => {
        const entry = inbox.find(conversation);
        const isWanted = entry && this.#unseen.has(conversation) && this.#isWanted(entry, Date.now());
        return isWanted ? createReactionPayload(recipient, entry, reactions, device) : undefined;
      };
      return sender.send(device, createPayload, options);
    };
    await Promise.all(subscriptions.all.map(pushTo));
  }

  /** News to announce, undefined if nothing is left. People whom this person blocks are left out. */
  #toAnnounced({ people, messages, newest }: ReactionNews): (AnnouncedReactions & { seq: number }) | undefined {
    const { relations } = this.#ports;
    const shown = newest.filter(({ user }) => !relations.isBlocked(user));
    const [first] = shown;
    if (!first) return undefined;
    const names = shown.map(({ user }) => relations.findName(user));
    const blocked = new Set(newest.filter((reaction) => !shown.includes(reaction)).map(({ user }) => user));
    const isComplete = newest.length < pushReactionsRead;
    return {
      ...first,
      people: people - blocked.size,
      messages: isComplete ? new Set(shown.map(({ seq }) => seq)).size : messages,
      name: names.find((name) => name !== undefined),
    };
  }

  /** Writes what has to outlive this instance: the times of pushes, and what waits for longer than a timer. */
  #save(now: number): void {
    const { meta } = this.#ports;
    const kept = [...this.#unseen]
      .filter(([, { pushedAt }]) => pushedAt > 0)
      .slice(-conversationsMax)
      .map(([conversation, unseen]) => {
        const isLong = unseen.dueAt !== null && unseen.dueAt > now + pushReactionWaitMs;
        return [conversation, { ...unseen, dueAt: isLong ? unseen.dueAt : null }];
      });
    const value = kept.length > 0 ? JSON.stringify(kept) : undefined;
    if (value === meta.get(storageKey)) return;
    if (value === undefined) meta.delete(storageKey);
    else meta.set(storageKey, value);
  }
}
