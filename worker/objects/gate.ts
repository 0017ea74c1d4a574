import { isRefusal, type Refusal } from "../../contract/commands";
import { type ConversationId, otherMember, privateMembers, type Uuid } from "../../contract/ids";
import { openDb } from "../db/client";
import { findConnection } from "../db/relations";
import { withRetry } from "./retry";
import type { ConversationRpc } from "./rpc";
import { conversationOf } from "./stubs";

const healPauseMs = 2_000; // between two questions to the directory about the same conversation
const healedMax = 100;

/** The way from a person to their conversations: nobody else's is even called. */
export class Gate {
  readonly #env: Pick<Env, "CONVERSATION" | "DB">;
  readonly #user: Uuid;
  readonly #isKnown: (id: ConversationId) => boolean;
  readonly #healedAt = new Map<ConversationId, number>();

  constructor(env: Pick<Env, "CONVERSATION" | "DB">, user: Uuid, isKnown: (id: ConversationId) => boolean) {
    this.#env = env;
    this.#user = user;
    this.#isKnown = isKnown;
  }

  /**
   * Calls a conversation, again when the way broke. When it is not there or says that nobody may write, the
   * directory is asked once: if the two are connected, the conversation had only not heard of it yet.
   */
  async call<T extends object>(
    id: ConversationId,
    run: (conversation: ConversationRpc) => Promise<T | Refusal>,
  ): Promise<T | Refusal> {
    const isMine = privateMembers(id) ? otherMember(id, this.#user) !== undefined : this.#isKnown(id);
    if (!isMine || (!this.#isKnown(id) && !(await this.#heal(id)))) return { error: "conversation_not_found" };
    const ask = () => withRetry(() => run(conversationOf(this.#env, id)));
    const answer = await ask();
    if (!isRefusal(answer) || !["not_connected", "conversation_not_found"].includes(answer.error)) return answer;
    return (await this.#heal(id)) ? ask() : answer;
  }

  /** Opens a private conversation whose two people are connected. False when they are not. */
  async #heal(id: ConversationId): Promise<boolean> {
    const members = privateMembers(id);
    if (!members || Date.now() - (this.#healedAt.get(id) ?? 0) < healPauseMs) return false;
    const connection = await findConnection(openDb(this.#env), ...members);
    if (this.#healedAt.size >= healedMax) this.#healedAt.clear();
    this.#healedAt.set(id, Date.now());
    if (connection === undefined) return false;
    await withRetry(() => conversationOf(this.#env, id).open(id, connection.id));
    return true;
  }
}
