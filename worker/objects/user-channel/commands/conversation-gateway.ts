import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { connectionCheckBurst, connectionChecksPerSecond } from "#contract/limits/people.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { findConnection } from "#worker/db/relations.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const unconnectedMs = 2_000; // for which the answer that two people are not connected counts
const unconnectedMax = 100;
const conversationNotFound: Refusal = { error: "conversation_not_found" };

/** Access from a person to their conversations. Conversations of other people are not even called. */
export class ConversationGateway {
  readonly #env: Pick<Env, "CONVERSATION" | "DB">;
  readonly #user: Uuid;
  readonly #isKnown: (id: ConversationId) => boolean;
  readonly #lookupTokens = new TokenBucket(connectionCheckBurst, connectionChecksPerSecond);
  /** Running look-ups, which all commands for the same conversation wait for. True if it was opened. */
  readonly #lookups = new Map<ConversationId, Promise<boolean>>();
  /** Times at which the directory answered that two people are not connected. */
  readonly #unconnectedAt = new Map<ConversationId, number>();

  constructor(env: Pick<Env, "CONVERSATION" | "DB">, user: Uuid, isKnown: (id: ConversationId) => boolean) {
    this.#env = env;
    this.#user = user;
    this.#isKnown = isKnown;
  }

  /**
   * Calls a conversation, with retries when the connection to it breaks. If the conversation is missing or refuses, the
   * directory is asked whether the two people are connected. These look-ups are rate limited; above the limit the
   * answer is "try again later", because the truth is unknown. `isMessage`: the refusal would be final for something
   * that a person wrote, so the directory is asked even if it denied the connection a moment ago.
   */
  async call<T extends object>(
    id: ConversationId,
    run: (conversation: ConversationRpc) => Promise<T | Refusal>,
    { isMessage = false }: { isMessage?: boolean } = {},
  ): Promise<T | Refusal> {
    const isKnown = this.#isKnown(id);
    const isOwn = privateMembers(id) ? otherMember(id, this.#user) !== undefined : isKnown;
    if (!isOwn || (!isKnown && !isMessage && this.#wasUnconnected(id))) return conversationNotFound;
    const refusal = isKnown ? undefined : await this.#open(id, conversationNotFound);
    if (refusal) return refusal;
    const callConversation = () => withRetry(() => run(getConversationStub(this.#env, id)));
    const answer = await callConversation();
    if (!isRefusal(answer) || !["not_connected", "conversation_not_found"].includes(answer.error)) return answer;
    return this.#wasUnconnected(id) ? answer : ((await this.#open(id, answer)) ?? callConversation());
  }

  /** Opens a private conversation if its two people are connected. Otherwise returns the given refusal. */
  async #open(id: ConversationId, refusal: Refusal): Promise<Refusal | undefined> {
    const members = privateMembers(id);
    if (!members) return refusal;
    let lookup = this.#lookups.get(id);
    if (!lookup) {
      if (!this.#lookupTokens.take()) return { error: "rate_limited", retryAfterMs: this.#lookupTokens.waitMs() };
      lookup = this.#openIfConnected(id, members).finally(() => this.#lookups.delete(id));
      this.#lookups.set(id, lookup);
    }
    return (await lookup) ? undefined : refusal;
  }

  async #openIfConnected(id: ConversationId, members: readonly [Uuid, Uuid]): Promise<boolean> {
    const connection = await findConnection(openDb(this.#env), ...members);
    if (connection === undefined) this.#recordUnconnected(id);
    else await withRetry(() => getConversationStub(this.#env, id).openConnection(connection.id));
    return connection !== undefined;
  }

  #wasUnconnected(id: ConversationId): boolean {
    return Math.abs(Date.now() - (this.#unconnectedAt.get(id) ?? 0)) < unconnectedMs;
  }

  #recordUnconnected(id: ConversationId): void {
    this.#unconnectedAt.delete(id);
    for (const oldest of this.#unconnectedAt.keys()) {
      if (this.#unconnectedAt.size < unconnectedMax) break;
      this.#unconnectedAt.delete(oldest);
    }
    this.#unconnectedAt.set(id, Date.now());
  }
}
