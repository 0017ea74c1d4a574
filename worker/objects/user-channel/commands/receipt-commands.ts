import type { Marks } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { hideBurst, hidesPerSecond, muteBurst, mutesPerDay } from "#contract/limits.ts";
import { type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { ConversationRpc, Standing } from "#worker/objects/rpc.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";
import { StoredBucket } from "#worker/objects/shared/stored-bucket.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { Gate } from "./conversation-gateway.ts";

type Host = {
  user: Uuid;
  /** How many times as much as in production. */
  factor: number;
  feed: Feed;
  gate: Gate;
  meta: Meta;
  later(work: Promise<unknown>): void;
};

const isStanding = (answer: Standing | Refusal): answer is Standing => !isRefusal(answer);
const recountPauseMs = 1_000; // between two exact counts of a conversation

/** What a person says of a conversation for themselves alone: how far they have read, what they hide, that it is muted. */
export class OwnMarks {
  readonly #host: Host;
  readonly #mutes: StoredBucket;
  readonly #hides: TokenBucket;
  /** Conversations that are counted anew, and whether that is to be done once more. */
  readonly #recounts = new Map<ConversationId, boolean>();

  constructor(host: Host) {
    this.#host = host;
    const perSecond = mutesPerDay / (24 * 3_600);
    this.#mutes = new StoredBucket(host.meta, "mutes", { burst: muteBurst, perSecond, unwrittenMax: 1 });
    this.#hides = new TokenBucket(hideBurst * host.factor, hidesPerSecond * host.factor);
  }

  /** What the row says already is answered from it. */
  async mark({ conversation, ...marks }: CommandOf<"mark">): Promise<CommandResults["mark"] | Refusal> {
    const row = this.#host.feed.find(conversation);
    const isNews = !row || row.gone || marks.delivered > row.delivered || marks.read > row.read;
    return isNews ? this.#mark(conversation, marks) : { unread: row.unread, head: Math.max(row.counted, row.head) };
  }

  /** Something about the conversation's row is in doubt: it is counted exactly, at most once in a while. */
  recount(conversation: ConversationId): void {
    const isUnderWay = this.#recounts.has(conversation);
    this.#recounts.set(conversation, isUnderWay);
    if (!isUnderWay) this.#host.later(this.#recount(conversation));
  }

  async #recount(conversation: ConversationId): Promise<void> {
    try {
      do {
        this.#recounts.set(conversation, false);
        // Marks that move nothing are a question for the exact count.
        await this.#mark(conversation, { delivered: 0, read: 0 });
        await scheduler.wait(recountPauseMs);
      } while (this.#recounts.get(conversation));
    } finally {
      this.#recounts.delete(conversation);
    }
  }

  async #mark(conversation: ConversationId, marks: Marks): Promise<CommandResults["mark"] | Refusal> {
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
    const row = this.#host.feed.find(conversation);
    if (row && !row.gone && upTo <= row.hidden && keep === row.kept) return { hidden: row.hidden };
    if (!this.#hides.take()) return { error: "rate_limited", retryAfterMs: this.#hides.waitMs() };
    const answer = await this.#stand(conversation, (stub) => stub.hide(conversation, this.#host.user, upTo), keep);
    return isRefusal(answer) ? answer : { hidden: answer.standing.hidden };
  }

  mute({ conversation, muted }: CommandOf<"mute">): CommandResults["mute"] | Refusal {
    const { feed } = this.#host;
    const row = feed.find(conversation);
    if (row && !row.gone && row.muted !== muted && !this.#mutes.take())
      return { error: "rate_limited", retryAfterMs: this.#mutes.waitMs() };
    return feed.mute(conversation, muted) ? { muted } : { error: "conversation_not_found" };
  }

  async #stand(
    conversation: ConversationId,
    ask: (stub: ConversationRpc) => Promise<Standing | Refusal>,
    kept?: boolean,
  ) {
    const { feed, gate } = this.#host;
    const call = () => gate.call<Standing>(conversation, ask);
    const answer = await feed.stand<Refusal>(conversation, call, isStanding, kept);
    if (!isRefusal(answer) && answer.isInexact) this.recount(conversation);
    return answer;
  }
}
