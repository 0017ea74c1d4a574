import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { groupTypingMax } from "#contract/limits/groups.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { isPresenceShownTo } from "./presence.ts";

const pauseMs = 1_000; // more frequent typing frames of a device are dropped
const rememberedMax = 100; // conversations

type TypingPorts = { env: Env; user: Uuid; inbox: InboxFeed; sockets: SocketRegistry };

/**
 * Relays typing between channels, in groups through the Conversation. Best effort. Typing shows that somebody is online:
 * it is relayed only between people who show each other their presence.
 */
export class TypingRelay {
  readonly #ports: TypingPorts;
  /** Time of the last typing notification by conversation. */
  readonly #sentAt = new Map<ConversationId, number>();

  constructor(ports: TypingPorts) {
    this.#ports = ports;
  }

  /** Relays that this person is typing. */
  async sendTyping(target: number | ConversationId): Promise<void> {
    const { env, user, inbox } = this.#ports;
    const row = typeof target === "string" ? inbox.find(target) : inbox.findByHandle(target);
    if (!row?.open || (row.group?.count ?? 0) > groupTypingMax) return;
    const { conversation } = row;
    const other = otherMember(conversation, user);
    const { settings } = inbox;
    if (!settings.presence) return;
    if (other !== undefined && (inbox.isBlocked(other) || !isPresenceShownTo(settings, other))) return;
    if (!this.#shouldSend(conversation)) return;
    const ownMember = { user, number: privateMembers(conversation)?.indexOf(user) ?? 0 };
    if (other === undefined)
      await getConversationStub(env, conversation).relayTyping(user, settings.exceptions.presence ?? []);
    else await getUserChannelStub(env, other).deliverTyping(conversation, ownMember);
  }

  /** Forwards to the devices that another member is typing. */
  deliverTyping(conversation: ConversationId, from: { user: Uuid; number: number }): void {
    const { user, inbox, sockets } = this.#ports;
    const row = inbox.find(conversation);
    if (!row?.open || inbox.isBlocked(from.user) || !isPresenceShownTo(inbox.settings, from.user)) return;
    if (row.kind === "private" && otherMember(conversation, user) !== from.user) return;
    sockets.broadcast({ type: "typing", target: row.handle, member: from.number });
  }

  /** Lets the next typing notification through at once, after a message was sent. */
  reset(conversation: ConversationId): void {
    this.#sentAt.delete(conversation);
  }

  #shouldSend(conversation: ConversationId, now = Date.now()): boolean {
    if (Math.abs(now - (this.#sentAt.get(conversation) ?? 0)) < pauseMs) return false;
    if (this.#sentAt.size >= rememberedMax) this.#sentAt.clear();
    this.#sentAt.set(conversation, now);
    return true;
  }
}
