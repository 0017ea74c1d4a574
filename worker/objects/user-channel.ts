import { Server } from "partyserver";
import type { Command, CommandResults, Refusal } from "../../contract/commands";
import type { Uuid } from "../../contract/ids";
import type { Relation } from "../../contract/people";
import type { Notice, UserChannelRpc } from "./rpc";

type Rpc = UserChannelRpc;

/** One person: their sockets, and their inbox with its change counter. */
export class UserChannel extends Server<Env> implements UserChannelRpc {
  static override options = { hibernate: true };

  async execute<T extends Command["type"]>(
    _user: Uuid,
    _command: Extract<Command, { type: T }>,
  ): Promise<CommandResults[T] | Refusal> {
    return { error: "unavailable" };
  }
  async notify(_user: Uuid, _notice: Notice): Promise<void> {}
  async relate(_user: Uuid, _relations: Relation[]): Promise<void> {}
  async list(..._: Parameters<Rpc["list"]>): ReturnType<Rpc["list"]> {
    return { rows: [], before: null };
  }
  async closeSessions(_user: Uuid, _sessions: Uuid[] | "all"): Promise<void> {}
}
