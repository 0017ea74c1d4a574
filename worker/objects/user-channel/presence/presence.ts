import { type ConversationId, otherMember, privateConversationId, type Uuid } from "#contract/ids.ts";
import { presenceBurst, presencePerSecond, presenceStaleMs } from "#contract/limits/people.ts";
import type { Presence, Settings } from "#contract/settings/settings.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { isExcepted } from "#worker/lib/exceptions.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";

const lastSeenKey = "seen";
const lastSeenPrecisionMs = 60_000;
const lastSeenWriteMs = 10_000; // foreground changes within this interval are written once

/** Whether these settings of a person show their presence, and that they are typing, to somebody. */
export const isPresenceShownTo = (settings: Settings, contact: Uuid) =>
  settings.presence && !isExcepted(settings, "presence", contact);

/** Presence that reveals nothing. */
const unknownPresence: Presence = { here: false, seen_at: null };

type PresencePorts = { env: Env; user: Uuid; meta: KeyValues; inbox: InboxFeed; sockets: SocketRegistry };

/**
 * Presence of this person: whether a foreground device is alive, and when one last was. The platform answers pings
 * while the object hibernates, so being online costs nothing; a row is written when it ends.
 */
export class PresenceTracker {
  readonly #ports: PresencePorts;
  readonly #queries = new TokenBucket(presenceBurst, presencePerSecond);
  #lastSeenAt: number | null;
  #isClosed = false;

  constructor(ports: PresencePorts) {
    this.#ports = ports;
    const stored = ports.meta.get(lastSeenKey);
    this.#lastSeenAt = stored === undefined ? null : Number(stored);
  }

  /** Records whether a device is in the foreground. Others notice it at their next poll. */
  setForeground(socket: ClientSocket, isForeground: boolean): void {
    const wasForeground = socket.state?.lookedAt !== undefined;
    this.#ports.sockets.setForeground(socket, isForeground);
    if (wasForeground && !isForeground) this.#recordLastSeen(Date.now());
  }

  /** Records the end of a socket, perhaps long after the device was last heard of. */
  handleSocketClosed(socket: ClientSocket): void {
    if (socket.state?.lookedAt === undefined) return;
    const lastHeardAt = this.#ports.sockets.lastHeardAt(socket);
    this.#recordLastSeen(lastHeardAt < Date.now() - presenceStaleMs ? lastHeardAt : Date.now(), socket);
  }

  /**
   * Forgets the last-seen time when the person hides their presence, and notifies the watchers for whom its visibility
   * changed. The promise resolves when they are notified and never rejects.
   */
  async handleSettingsChanged(before: Settings): Promise<void> {
    const { user, inbox, meta, sockets } = this.#ports;
    if (!inbox.settings.presence && this.#lastSeenAt !== null) {
      this.#lastSeenAt = null;
      meta.delete(lastSeenKey);
    }
    const watchers = sockets.watchers.filter(
      (watcher) =>
        isPresenceShownTo(before, watcher) !== isPresenceShownTo(inbox.settings, watcher) &&
        this.#canReach(privateConversationId(user, watcher), watcher),
    );
    await this.#notifyWatchers(watchers);
  }

  /** Notifies watchers whom this person has just blocked, so that they do not see them online until their next poll. */
  handleBlocked(people: readonly Uuid[]): Promise<void> {
    const { inbox, sockets } = this.#ports;
    return this.#notifyWatchers(
      sockets.watchers.filter((watcher) => people.includes(watcher) && isPresenceShownTo(inbox.settings, watcher)),
    );
  }

  /** They ask again. Lost notifications are covered by polling. Never rejects. */
  async #notifyWatchers(watchers: readonly Uuid[]): Promise<void> {
    const { env, user } = this.#ports;
    try {
      await Promise.all(watchers.map((watcher) => getUserChannelStub(env, watcher).notifyPresenceVisibility(user)));
    } catch (error) {
      logWarning("notifying presence watchers failed", error);
    }
  }

  /** Forwards to foreground devices that a peer's visibility changed. */
  handlePeerVisibilityChanged(peer: Uuid): void {
    const { user, sockets } = this.#ports;
    if (!this.#canShare(privateConversationId(user, peer), peer)) return;
    sockets.broadcast({ type: "presenceVisibility" }, false, ({ lookedAt }) => lookedAt !== undefined);
  }

  /** Stops all output and writes after the account was deleted. */
  close(): void {
    this.#isClosed = true;
  }

  /** Presence of the peer in a private conversation. */
  async queryPeer(conversation: ConversationId): Promise<Presence | Refusal> {
    const { env, user, inbox } = this.#ports;
    const other = otherMember(conversation, user);
    if (other === undefined || !inbox.find(conversation)) return { error: "conversation_not_found" };
    if (!this.#canShare(conversation, other)) return unknownPresence;
    if (!this.#queries.take()) return { error: "rate_limited", retryAfterMs: this.#queries.waitMs() };
    return getUserChannelStub(env, other).getPresence(user, conversation);
  }

  /** Presence of this person for a peer. */
  getPresenceFor(peer: Uuid, conversation: ConversationId): Presence {
    if (otherMember(conversation, this.#ports.user) !== peer || !this.#canShare(conversation, peer))
      return unknownPresence;
    this.#ports.sockets.addWatcher(peer);
    const lastHeardAt = this.#ports.sockets.lastForegroundAt();
    if (lastHeardAt >= Date.now() - presenceStaleMs) return { here: true, seen_at: null };
    const lastSeenAt = Math.max(lastHeardAt, this.#lastSeenAt ?? 0);
    // Rounded to the minute, so as not to reveal every use of the device.
    return { here: false, seen_at: lastSeenAt > 0 ? lastSeenAt - (lastSeenAt % lastSeenPrecisionMs) : null };
  }

  /** Whether the two are connected, neither blocks the other and this person shows the other their presence. */
  #canShare(conversation: ConversationId, other: Uuid): boolean {
    return isPresenceShownTo(this.#ports.inbox.settings, other) && this.#canReach(conversation, other);
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
