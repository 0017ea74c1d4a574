import { type CommandOf, type CommandResults, isRefusal, type Refusal } from "../../contract/commands";
import type { ConversationId, Uuid } from "../../contract/ids";
import type { Feed } from "./feed";
import type { Gate } from "./gate";
import type { ConversationRpc, Standing } from "./rpc";

type Host = {
  user: Uuid;
  feed: Feed;
  gate: Gate;
  /** Something about the conversation's row is in doubt. */
  recount(conversation: ConversationId): void;
};

const isStanding = (answer: Standing | Refusal): answer is Standing => !isRefusal(answer);

/** What a person says of a conversation for themselves alone: how far they have read, what they hide, that it is muted. */
export class OwnMarks {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  async mark({ conversation, ...marks }: CommandOf<"mark">): Promise<CommandResults["mark"] | Refusal> {
    const { user, feed } = this.#host;
    const { receipts } = feed.settings;
    const answer = await this.#stand(conversation, (stub) => stub.mark(conversation, user, marks, receipts));
    if (isRefusal(answer)) return answer;
    const { entry, standing } = answer;
    return entry
      ? { unread: entry.unread, head: Math.max(entry.counted, entry.head) }
      : { unread: standing.unread ?? 0, head: standing.head };
  }

  async hide({ conversation, upTo, keep }: CommandOf<"hide">): Promise<CommandResults["hide"] | Refusal> {
    const answer = await this.#stand(conversation, (stub) => stub.hide(conversation, this.#host.user, upTo), keep);
    return isRefusal(answer) ? answer : { hidden: answer.standing.hidden };
  }

  mute({ conversation, muted }: CommandOf<"mute">): CommandResults["mute"] | Refusal {
    return this.#host.feed.mute(conversation, muted) ? { muted } : { error: "conversation_not_found" };
  }

  async #stand(
    conversation: ConversationId,
    ask: (stub: ConversationRpc) => Promise<Standing | Refusal>,
    kept?: boolean,
  ) {
    const { feed, gate, recount } = this.#host;
    const call = () => gate.call<Standing>(conversation, ask);
    const answer = await feed.stand<Refusal>(conversation, call, isStanding, kept);
    if (!isRefusal(answer) && answer.isInexact) recount(conversation);
    return answer;
  }
}
