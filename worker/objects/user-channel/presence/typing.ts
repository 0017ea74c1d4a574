import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { groupTypingMax } from "#contract/limits.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";

const pauseMs = 1_000; // what a device says more often than this is dropped
const rememberedMax = 100; // conversations

type TypingPorts = { env: Env; user: Uuid; inbox: InboxFeed; sockets: SocketRegistry };

/** Who is typing goes from channel to channel, in a group by way of it, and is lost where it does not arrive. */
export class TypingRelay {
  readonly #ports: TypingPorts;
  /** When this person last said so in a conversation. */
  readonly #sentAt = new Map<ConversationId, number>();

  constructor(ports: TypingPorts) {
    this.#ports = ports;
  }

  /** A device of this person's says that they are typing. */
  async sendTyping(target: number | ConversationId): Promise<void> {
    const { env, user, inbox } = this.#ports;
    const row = typeof target === "string" ? inbox.find(target) : inbox.findByHandle(target);
    if (!row?.open || (row.group?.count ?? 0) > groupTypingMax) return;
    const { conversation } = row;
    const other = otherMember(conversation, user);
    if (other !== undefined && inbox.isBlocked(other)) return;
    if (!this.#shouldSend(conversation)) return;
    const ownMember = { user, number: privateMembers(conversation)?.indexOf(user) ?? 0 };
    if (other === undefined) await getConversationStub(env, conversation).relayTyping(conversation, user);
    else await getUserChannelStub(env, other).deliverTyping(other, conversation, ownMember);
  }

  /** Another member types. */
  deliverTyping(conversation: ConversationId, from: { user: Uuid; number: number }): void {
    const { user, inbox, sockets } = this.#ports;
    const row = inbox.find(conversation);
    if (!row?.open || inbox.isBlocked(from.user)) return;
    if (row.kind === "private" && otherMember(conversation, user) !== from.user) return;
    sockets.broadcast(["t", row.handle, from.number]);
  }

  /** What was typed is sent: what is typed next is news. */
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
