import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { groupTypingMax } from "#contract/limits.ts";
import { conversationOf, userChannelOf } from "#worker/objects/stubs.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";

const pauseMs = 1_000; // what a device says more often than this is dropped
const rememberedMax = 100; // conversations

type Host = { env: Env; user: Uuid; feed: Feed; sockets: Sockets };

/** Who is typing goes from channel to channel, in a group by way of it, and is lost where it does not arrive. */
export class Typing {
  readonly #host: Host;
  /** When this person last said so in a conversation. */
  readonly #saidAt = new Map<ConversationId, number>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** A device of this person's says that they are typing. */
  async say(named: number | ConversationId): Promise<void> {
    const { env, user, feed } = this.#host;
    const row = typeof named === "string" ? feed.find(named) : feed.findByHandle(named);
    if (!row?.open || (row.group?.count ?? 0) > groupTypingMax) return;
    const { conversation } = row;
    const other = otherMember(conversation, user);
    if (other !== undefined && feed.isBlocked(other)) return;
    if (!this.#take(conversation)) return;
    const me = { user, number: privateMembers(conversation)?.indexOf(user) ?? 0 };
    if (other === undefined) await conversationOf(env, conversation).typing(conversation, user);
    else await userChannelOf(env, other).typing(other, conversation, me);
  }

  /** Another member types. */
  pass(conversation: ConversationId, from: { user: Uuid; number: number }): void {
    const { user, feed, sockets } = this.#host;
    const row = feed.find(conversation);
    if (!row?.open || feed.isBlocked(from.user)) return;
    if (row.kind === "private" && otherMember(conversation, user) !== from.user) return;
    sockets.signal(["t", row.handle, from.number]);
  }

  /** What was typed is sent: what is typed next is news. */
  forget(conversation: ConversationId): void {
    this.#saidAt.delete(conversation);
  }

  #take(conversation: ConversationId, now = Date.now()): boolean {
    if (Math.abs(now - (this.#saidAt.get(conversation) ?? 0)) < pauseMs) return false;
    if (this.#saidAt.size >= rememberedMax) this.#saidAt.clear();
    this.#saidAt.set(conversation, now);
    return true;
  }
}
