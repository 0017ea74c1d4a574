import { DurableObject } from "cloudflare:workers";
import type { ConversationRpc } from "./rpc";

type Rpc = ConversationRpc;

/** One conversation: the sequencer and only writer of its messages, and the judge of who may. */
export class Conversation extends DurableObject<Env> implements ConversationRpc {
  async open(_id: string, _connection: string): Promise<void> {}
  async close(_id: string, _connection: string): Promise<void> {}
  async send(..._: Parameters<Rpc["send"]>): ReturnType<Rpc["send"]> {
    return { error: "unavailable" };
  }
  async mark(..._: Parameters<Rpc["mark"]>): ReturnType<Rpc["mark"]> {
    return { error: "unavailable" };
  }
  async hide(..._: Parameters<Rpc["hide"]>): ReturnType<Rpc["hide"]> {
    return { error: "unavailable" };
  }
  async page(..._: Parameters<Rpc["page"]>): ReturnType<Rpc["page"]> {
    return { error: "unavailable" };
  }
  async search(..._: Parameters<Rpc["search"]>): ReturnType<Rpc["search"]> {
    return { error: "unavailable" };
  }
}
