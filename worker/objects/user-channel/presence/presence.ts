import { type ConversationId, otherMember, privateConversationId, type Uuid } from "#contract/ids.ts";
import { presenceBurst, presencePerSecond, presenceStaleMs } from "#contract/limits.ts";
import type { Presence } from "#contract/settings.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { Socket, Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { Awaited } from "./presence-subscribers.ts";

const key = "seen";
const seenToldMs = 60_000;
const seenStepMs = 10_000; // what is looked at by turns is written once in so long

/** What is told wherever anything may not be. */
const nothing: Presence = { here: false, seen_at: null };

type Host = { env: Env; user: Uuid; meta: Meta; feed: Feed; sockets: Sockets };

/**
 * Whether this person is here, and when they last were: some device of theirs is looked at, and is heard of. The
 * platform answers pings while the object sleeps, so that being here costs nothing; a row is written when it ends.
 */
export class Presences {
  readonly #host: Host;
  readonly #asks = new TokenBucket(presenceBurst, presencePerSecond);
  readonly #awaited: Awaited;
  #seenAt: number | null;
  #isClosed = false;

  constructor(host: Host) {
    this.#host = host;
    this.#awaited = new Awaited(host.meta);
    const kept = host.meta.get(key);
    this.#seenAt = kept === undefined ? null : Number(kept);
  }

  /** A device says whether it is looked at. Who asked for this person while they were away is told that they came. */
  async look(socket: Socket, isLooked: boolean): Promise<void> {
    const wasLooked = socket.state?.lookedAt !== undefined;
    this.#host.sockets.look(socket, isLooked);
    if (wasLooked && !isLooked) this.#leave(Date.now());
    if (isLooked && this.#host.feed.settings.presence) await this.#tellTurned(this.#awaited.take());
  }

  /** A device's socket ended, perhaps long after the device was heard of last. */
  left(socket: Socket): void {
    if (socket.state?.lookedAt === undefined) return;
    const heardAt = this.#host.sockets.heardAt(socket);
    this.#leave(heardAt < Date.now() - presenceStaleMs ? heardAt : Date.now(), socket);
  }

  /** Who does not let it be seen from now on is forgotten. */
  configured(): void {
    if (this.#host.feed.settings.presence || this.#seenAt === null) return;
    this.#seenAt = null;
    this.#host.meta.delete(key);
  }

  /** They let themselves be seen now, or no more: who looks on is told to ask again. What does not arrive is asked for in time. */
  tellTurned(): Promise<void> {
    return this.#tellTurned(this.#host.sockets.watchers);
  }

  /** Somebody about whom this person asked turned it. */
  turned(by: Uuid): void {
    const { user, sockets } = this.#host;
    if (!this.#mayTell(privateConversationId(user, by), by)) return;
    sockets.signal(["l"], false, ({ lookedAt }) => lookedAt !== undefined);
  }

  /** The account is gone: nothing is told or written any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** What this person may know of the other in a private conversation. */
  async ask(conversation: ConversationId): Promise<Presence | Refusal> {
    const { env, user, feed } = this.#host;
    const other = otherMember(conversation, user);
    if (other === undefined || !feed.find(conversation)) return { error: "conversation_not_found" };
    if (!this.#mayTell(conversation, other)) return nothing;
    if (!this.#asks.take()) return { error: "rate_limited", retryAfterMs: this.#asks.waitMs() };
    return userChannelOf(env, other).presence(other, user, conversation);
  }

  /** What somebody else may know of this person. */
  tell(asker: Uuid, conversation: ConversationId): Presence {
    if (otherMember(conversation, this.#host.user) !== asker || !this.#mayTell(conversation, asker)) return nothing;
    this.#host.sockets.addWatcher(asker);
    const heardAt = this.#host.sockets.lastLooked();
    if (heardAt >= Date.now() - presenceStaleMs) return { here: true, seen_at: null };
    this.#awaited.add(asker);
    const seenAt = Math.max(heardAt, this.#seenAt ?? 0);
    // To the minute: more would tell of every look at the phone.
    return { here: false, seen_at: seenAt > 0 ? seenAt - (seenAt % seenToldMs) : null };
  }

  async #tellTurned(to: readonly Uuid[]): Promise<void> {
    const { env, user } = this.#host;
    const watchers = to.filter((watcher) => this.#isOpen(privateConversationId(user, watcher), watcher));
    await Promise.all(watchers.map((watcher) => userChannelOf(env, watcher).presenceTurned(watcher, user)));
  }

  /** The two are connected, neither lets the other go unheard, and this person is seen by others. */
  #mayTell(conversation: ConversationId, other: Uuid): boolean {
    return this.#host.feed.settings.presence && this.#isOpen(conversation, other);
  }

  #isOpen(conversation: ConversationId, other: Uuid): boolean {
    const { feed } = this.#host;
    return !this.#isClosed && feed.find(conversation)?.open === true && !feed.isBlocked(other);
  }

  #leave(at: number, without?: Socket): void {
    const { feed, sockets, meta } = this.#host;
    if (this.#isClosed || !feed.settings.presence || sockets.lastLooked(without) >= Date.now() - presenceStaleMs)
      return;
    if (at - (this.#seenAt ?? 0) < seenStepMs) return;
    this.#seenAt = at;
    meta.set(key, String(at));
  }
}
