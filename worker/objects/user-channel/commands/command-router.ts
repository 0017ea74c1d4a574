import type { Uuid } from "#contract/ids.ts";
import type { Command, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { logError } from "#worker/lib/log.ts";
import type { Parting } from "#worker/objects/user-channel/account-deletion.ts";
import type { PersonCalls } from "#worker/objects/user-channel/calls/call-commands.ts";
import type { KnownCalls } from "#worker/objects/user-channel/calls/call-registry.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { Presences } from "#worker/objects/user-channel/presence/presence.ts";
import type { Reading } from "./conversation-commands.ts";
import type { Deletions } from "./message-deletions.ts";
import type { OwnMarks } from "./receipt-commands.ts";
import type { Sending } from "./send-messages.ts";

type Host = {
  feed: Feed;
  sending: Sending;
  marks: OwnMarks;
  deletions: Deletions;
  reading: Reading;
  presences: Presences;
  calls: PersonCalls;
  knownCalls: Pick<KnownCalls, "current">;
  parting: Pick<Parting, "isGone">;
};

/** What a person can ask for, from whichever carrier, and who sees to it. */
export class Commands {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Never throws: what failed can be asked for again. `isWanted`: whether anybody still waits for the answer. */
  async run(
    command: Command,
    session?: Uuid,
    isWanted = () => true,
  ): Promise<CommandResults[Command["type"]] | Refusal> {
    if (this.#host.parting.isGone) return { error: "account_deleted" };
    try {
      return await this.#do(command, session, isWanted);
    } catch (error) {
      logError(`${command.type} failed`, error);
      return { error: "unavailable" };
    }
  }

  /** What changed after a cursor, with the calls under way. */
  changes(session: Uuid | undefined, since: number, before?: number): CommandResults["changes"] {
    const { feed, knownCalls } = this.#host;
    return { ...feed.changes(since, session, before), calls: knownCalls.current };
  }

  async #do(
    command: Command,
    session: Uuid | undefined,
    isWanted: () => boolean,
  ): Promise<CommandResults[Command["type"]] | Refusal> {
    const { sending, marks, deletions, reading, presences, calls } = this.#host;
    switch (command.type) {
      case "send":
        return sending.sendAll(command);
      case "spread":
        return sending.spreadAll(command);
      case "retract":
        return deletions.retract(command);
      case "withdraw":
        return deletions.withdraw(command);
      case "mute":
        return marks.mute(command);
      case "mark":
        return marks.mark(command);
      case "hide":
        return marks.hide(command);
      case "page":
      case "revised":
      case "search":
        return reading.ask(command, isWanted);
      case "presence":
        return presences.ask(command.conversation);
      case "changes":
        return reading.limit() ?? this.changes(session, command.since, command.before);
      case "dial":
      case "answer":
      case "hangUp":
      case "standing":
      case "beat":
      case "signal":
        return calls.ask(command, session);
      default:
        return command satisfies never;
    }
  }
}
