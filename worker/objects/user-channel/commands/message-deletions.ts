import type { Uuid } from "#contract/ids.ts";
import { retractBurst, retractsPerSecond } from "#contract/limits.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { Gate } from "./conversation-gateway.ts";

/** Messages of their own that a person deletes for everybody, and how many of them in a time. */
export class Deletions {
  readonly #user: Uuid;
  readonly #gate: Gate;
  readonly #limit: TokenBucket;

  constructor(user: Uuid, gate: Gate, factor: number) {
    this.#limit = new TokenBucket(retractBurst * factor, retractsPerSecond * factor);
    this.#user = user;
    this.#gate = gate;
  }

  /** By its place. */
  async retract({ conversation: id, seq }: CommandOf<"retract">): Promise<CommandResults["retract"] | Refusal> {
    return this.#refusal() ?? this.#gate.call(id, (conversation) => conversation.retract(id, this.#user, seq));
  }

  /** By its client id, wherever it is by now. */
  async withdraw({ conversation: id, cid }: CommandOf<"withdraw">): Promise<CommandResults["withdraw"] | Refusal> {
    return this.#refusal() ?? this.#gate.call(id, (conversation) => conversation.withdraw(id, this.#user, cid));
  }

  #refusal(): Refusal | undefined {
    return this.#limit.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#limit.waitMs() };
  }
}
