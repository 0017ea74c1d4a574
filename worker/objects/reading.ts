import type { CommandOf, CommandResults, Refusal } from "../../contract/commands";
import type { Uuid } from "../../contract/ids";
import { readBurst, readPerSecond } from "../../contract/limits";
import type { Gate } from "./gate";
import { TokenBucket } from "./token-bucket";

type Reads = "page" | "revised" | "search";

/** What a person reads in conversations, and how much of it in a time. */
export class Reading {
  readonly #user: Uuid;
  readonly #gate: Gate;
  readonly #reads = new TokenBucket(readBurst, readPerSecond);

  constructor(user: Uuid, gate: Gate) {
    this.#user = user;
    this.#gate = gate;
  }

  limit(): Refusal | undefined {
    return this.#reads.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#reads.waitMs() };
  }

  async ask(command: CommandOf<Reads>): Promise<CommandResults[Reads] | Refusal> {
    const { conversation: id } = command;
    return (
      this.limit() ??
      this.#gate.call<CommandResults[Reads]>(id, (conversation) => {
        switch (command.type) {
          case "page":
            return conversation.page(id, this.#user, command);
          case "revised":
            return conversation.revised(id, this.#user, command);
          case "search":
            return conversation.search(id, this.#user, command);
        }
      })
    );
  }
}
