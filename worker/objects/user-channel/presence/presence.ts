import { type ConversationId, otherMember, privateConversationId, type Uuid } from "#contract/ids.ts";
import { presenceBurst, presencePerSecond, presenceStaleMs } from "#contract/limits.ts";
import type { Presence } from "#contract/settings.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { ClientSocket, SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { PresenceSubscribers } from "./presence-subscribers.ts";

const lastSeenKey = "seen";
const lastSeenPrecisionMs = 60_000;
const lastSeenWriteMs = 10_000; // what is looked at by turns is written once in so long

/** What is told wherever anything may not be. */
const unknownPresence: Presence = { here: false, seen_at: null };

type PresencePorts = { env: Env; user: Uuid; meta: KeyValues; inbox: InboxFeed; sockets: SocketRegistry };

/**
 * Whether this person is here, and when they last were: some device of theirs is looked at, and is heard of. The
 * platform answers pings while the object sleeps, so that being here costs nothing; a row is written when it ends.
 */
export class PresenceTracker {
  readonly #ports: PresencePorts;
  readonly #queries = new TokenBucket(presenceBurst, presencePerSecond);
  readonly #subscribers: PresenceSubscribers;
  #lastSeenAt: number | null;
  #isClosed = false;

  constructor(ports: PresencePorts) {
    this.#ports = ports;
    this.#subscribers = new PresenceSubscribers(ports.meta);
    const stored = ports.meta.get(lastSeenKey);
    this.#lastSeenAt = stored === undefined ? null : Number(stored);
  }

  /** A device says whether it is looked at. Who asked for this person while they were away is told that they came. */
  async setForeground(socket: ClientSocket, isForeground: boolean): Promise<void> {
    const wasForeground = socket.state?.lookedAt !== undefined;
    this.#ports.sockets.setForeground(socket, isForeground);
    if (wasForeground && !isForeground) this.#recordLastSeen(Date.now());
    if (isForeground && this.#ports.inbox.settings.presence) await this.#notifyVisibility(this.#subscribers.takeAll());
  }

  /** A device's socket ended, perhaps long after the device was heard of last. */
  handleSocketClosed(socket: ClientSocket): void {
    if (socket.state?.lookedAt === undefined) return;
    const lastHeardAt = this.#ports.sockets.lastHeardAt(socket);
    this.#recordLastSeen(lastHeardAt < Date.now() - presenceStaleMs ? lastHeardAt : Date.now(), socket);
  }

  /** Who does not let it be seen from now on is forgotten. */
  handleSettingsChanged(): void {
    if (this.#ports.inbox.settings.presence || this.#lastSeenAt === null) return;
    this.#lastSeenAt = null;
    this.#ports.meta.delete(lastSeenKey);
  }

  /** They let themselves be seen now, or no more: who looks on is told to ask again. What does not arrive is asked for in time. */
  notifyVisibilityChanged(): Promise<void> {
    return this.#notifyVisibility(this.#ports.sockets.watchers);
  }

  /** Somebody about whom this person asked turned it. */
  handlePeerVisibilityChanged(peer: Uuid): void {
    const { user, sockets } = this.#ports;
    if (!this.#canShare(privateConversationId(user, peer), peer)) return;
    sockets.broadcast(["l"], false, ({ lookedAt }) => lookedAt !== undefined);
  }

  /** The account is gone: nothing is told or written any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** What this person may know of the other in a private conversation. */
  async queryPeer(conversation: ConversationId): Promise<Presence | Refusal> {
    const { env, user, inbox } = this.#ports;
    const other = otherMember(conversation, user);
    if (other === undefined || !inbox.find(conversation)) return { error: "conversation_not_found" };
    if (!this.#canShare(conversation, other)) return unknownPresence;
    if (!this.#queries.take()) return { error: "rate_limited", retryAfterMs: this.#queries.waitMs() };
    return getUserChannelStub(env, other).getPresence(other, user, conversation);
  }

  /** What somebody else may know of this person. */
  getPresenceFor(peer: Uuid, conversation: ConversationId): Presence {
    if (otherMember(conversation, this.#ports.user) !== peer || !this.#canShare(conversation, peer))
      return unknownPresence;
    this.#ports.sockets.addWatcher(peer);
    const lastHeardAt = this.#ports.sockets.lastForegroundAt();
    if (lastHeardAt >= Date.now() - presenceStaleMs) return { here: true, seen_at: null };
    this.#subscribers.add(peer);
    const lastSeenAt = Math.max(lastHeardAt, this.#lastSeenAt ?? 0);
    // To the minute: more would tell of every look at the phone.
    return { here: false, seen_at: lastSeenAt > 0 ? lastSeenAt - (lastSeenAt % lastSeenPrecisionMs) : null };
  }

  async #notifyVisibility(peers: readonly Uuid[]): Promise<void> {
    const { env, user } = this.#ports;
    const watchers = peers.filter((watcher) => this.#canReach(privateConversationId(user, watcher), watcher));
    await Promise.all(
      watchers.map((watcher) => getUserChannelStub(env, watcher).notifyPresenceVisibility(watcher, user)),
    );
  }

  /** The two are connected, neither lets the other go unheard, and this person is seen by others. */
  #canShare(conversation: ConversationId, other: Uuid): boolean {
    return this.#ports.inbox.settings.presence && this.#canReach(conversation, other);
  }

  #canReach(conversation: ConversationId, other: Uuid): boolean {
    const { inbox } = this.#ports;
    return !this.#isClosed && inbox.find(conversation)?.open === true && !inbox.isBlocked(other);
  }

  #recordLastSeen(at: number, excluded?: ClientSocket): void {
    const { inbox, sockets, meta } = this.#ports;
    if (
      this.#isClosed ||
      !inbox.settings.presence ||
      sockets.lastForegroundAt(excluded) >= Date.now() - presenceStaleMs
    )
      return;
    if (at - (this.#lastSeenAt ?? 0) < lastSeenWriteMs) return;
    this.#lastSeenAt = at;
    meta.set(lastSeenKey, String(at));
  }
}
