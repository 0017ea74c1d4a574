import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { connectionCheckBurst, connectionChecksPerSecond } from "#contract/limits.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { findConnection } from "#worker/db/relations.ts";
import type { ConversationRpc } from "#worker/objects/rpc.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { conversationOf } from "#worker/objects/stubs.ts";

const healPauseMs = 2_000; // between two questions to the directory about the same conversation
const healedMax = 100;
const notFound: Refusal = { error: "conversation_not_found" };

/** The way from a person to their conversations: nobody else's is even called. */
export class Gate {
  readonly #env: Pick<Env, "CONVERSATION" | "DB">;
  readonly #user: Uuid;
  readonly #isKnown: (id: ConversationId) => boolean;
  readonly #healedAt = new Map<ConversationId, number>();
  readonly #checks = new TokenBucket(connectionCheckBurst, connectionChecksPerSecond);

  constructor(env: Pick<Env, "CONVERSATION" | "DB">, user: Uuid, isKnown: (id: ConversationId) => boolean) {
    this.#env = env;
    this.#user = user;
    this.#isKnown = isKnown;
  }

  /**
   * Calls a conversation, with retries when the connection to it breaks. If the conversation is missing or refuses, the
   * directory is asked whether the two people are connected. These look-ups are rate limited; above the limit the answer is
   * "try again later", because the truth is unknown.
   */
  async call<T extends object>(
    id: ConversationId,
    run: (conversation: ConversationRpc) => Promise<T | Refusal>,
  ): Promise<T | Refusal> {
    const isKnown = this.#isKnown(id);
    const isMine = privateMembers(id) ? otherMember(id, this.#user) !== undefined : isKnown;
    if (!isMine) return notFound;
    const refusal = isKnown ? undefined : await this.#heal(id, notFound);
    if (refusal) return refusal;
    const ask = () => withRetry(() => run(conversationOf(this.#env, id)));
    const answer = await ask();
    if (!isRefusal(answer) || !["not_connected", "conversation_not_found"].includes(answer.error)) return answer;
    return (await this.#heal(id, answer)) ?? ask();
  }

  /** Opens a private conversation whose two people are connected. The refusal, the given one, when they are not. */
  async #heal(id: ConversationId, refusal: Refusal): Promise<Refusal | undefined> {
    const members = privateMembers(id);
    const healedMs = Date.now() - (this.#healedAt.get(id) ?? 0); // ago; less than nothing where the clock was set back
    if (!members || (healedMs >= 0 && healedMs < healPauseMs)) return refusal;
    if (!this.#checks.take()) return { error: "rate_limited", retryAfterMs: this.#checks.waitMs() };
    this.#remember(id);
    const connection = await findConnection(openDb(this.#env), ...members);
    if (connection === undefined) return refusal;
    await withRetry(() => conversationOf(this.#env, id).open(id, connection.id));
    return undefined;
  }

  #remember(id: ConversationId): void {
    this.#healedAt.delete(id);
    for (const oldest of this.#healedAt.keys()) {
      if (this.#healedAt.size < healedMax) break;
      this.#healedAt.delete(oldest);
    }
    this.#healedAt.set(id, Date.now());
  }
}
