import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { connectionCheckBurst, connectionChecksPerSecond } from "#contract/limits/people.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { findConnection } from "#worker/db/relations.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const reconcilePauseMs = 2_000; // between two directory look-ups for the same conversation
const reconciledMax = 100;
const conversationNotFound: Refusal = { error: "conversation_not_found" };

/** Access from a person to their conversations. Conversations of other people are not even called. */
export class ConversationGateway {
  readonly #env: Pick<Env, "CONVERSATION" | "DB">;
  readonly #user: Uuid;
  readonly #isKnown: (id: ConversationId) => boolean;
  readonly #reconciledAt = new Map<ConversationId, number>();
  readonly #lookups = new TokenBucket(connectionCheckBurst, connectionChecksPerSecond);

  constructor(env: Pick<Env, "CONVERSATION" | "DB">, user: Uuid, isKnown: (id: ConversationId) => boolean) {
    this.#env = env;
    this.#user = user;
    this.#isKnown = isKnown;
  }

  /**
   * Calls a conversation, with retries when the connection to it breaks. If the conversation is missing or refuses, the
   * directory is asked whether the two people are connected. These look-ups are rate limited; above the limit the
   * answer is "try again later", because the truth is unknown.
   */
  async call<T extends object>(
    id: ConversationId,
    run: (conversation: ConversationRpc) => Promise<T | Refusal>,
  ): Promise<T | Refusal> {
    const isKnown = this.#isKnown(id);
    const isOwn = privateMembers(id) ? otherMember(id, this.#user) !== undefined : isKnown;
    if (!isOwn) return conversationNotFound;
    const refusal = isKnown ? undefined : await this.#reconcile(id, conversationNotFound);
    if (refusal) return refusal;
    const callConversation = () => withRetry(() => run(getConversationStub(this.#env, id)));
    const answer = await callConversation();
    if (!isRefusal(answer) || !["not_connected", "conversation_not_found"].includes(answer.error)) return answer;
    return (await this.#reconcile(id, answer)) ?? callConversation();
  }

  /** Opens a private conversation if its two people are connected. Otherwise returns the given refusal. */
  async #reconcile(id: ConversationId, refusal: Refusal): Promise<Refusal | undefined> {
    const members = privateMembers(id);
    const reconciledMsAgo = Date.now() - (this.#reconciledAt.get(id) ?? 0); // negative if the clock was set back
    if (!members || (reconciledMsAgo >= 0 && reconciledMsAgo < reconcilePauseMs)) return refusal;
    if (!this.#lookups.take()) return { error: "rate_limited", retryAfterMs: this.#lookups.waitMs() };
    this.#recordReconciled(id);
    const connection = await findConnection(openDb(this.#env), ...members);
    if (connection === undefined) return refusal;
    await withRetry(() => getConversationStub(this.#env, id).openConnection(connection.id));
    return undefined;
  }

  #recordReconciled(id: ConversationId): void {
    this.#reconciledAt.delete(id);
    for (const oldest of this.#reconciledAt.keys()) {
      if (this.#reconciledAt.size < reconciledMax) break;
      this.#reconciledAt.delete(oldest);
    }
    this.#reconciledAt.set(id, Date.now());
  }
}
