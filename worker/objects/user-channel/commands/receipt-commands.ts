import { hasLeftGroup } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { clearHistoriesPerSecond, clearHistoryBurst, muteBurst, mutesPerDay } from "#contract/limits/conversations.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import {
  type ChangeNumber,
  type CommandOf,
  type CommandResults,
  isRefusal,
  type Refusal,
} from "#contract/wire/commands.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import type { MemberReadState } from "#worker/objects/rpc/messages.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { StoredBucket } from "#worker/objects/shared/stored-bucket.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { isSameMute } from "#worker/objects/user-channel/inbox/choices/mute.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

type ReceiptCommandPorts = {
  user: Uuid;
  /** Multiple of the production limits. */
  factor: number;
  inbox: InboxFeed;
  gateway: ConversationGateway;
  meta: KeyValues;
  runInBackground(work: Promise<unknown>): void;
};

const isMemberReadState = (answer: MemberReadState | Refusal): answer is MemberReadState => !isRefusal(answer);
const recountPauseMs = 1_000; // between two exact counts of a conversation

/** Commands on a person's own view of a conversation: receipts, clearing the history and muting. */
export class ReceiptCommands {
  readonly #ports: ReceiptCommandPorts;
  readonly #mutes: StoredBucket;
  readonly #clearings: TokenBucket;
  /** Conversations being recounted, and whether to repeat the count afterwards. */
  readonly #recounts = new Map<ConversationId, boolean>();

  constructor(ports: ReceiptCommandPorts) {
    this.#ports = ports;
    const perSecond = mutesPerDay / (24 * 3_600);
    this.#mutes = new StoredBucket(ports.meta, "mutes", { burst: muteBurst, perSecond, unwrittenMax: 1 });
    this.#clearings = new TokenBucket(clearHistoryBurst * ports.factor, clearHistoriesPerSecond * ports.factor);
  }

  /** Updates receipts. If the row already includes them, it answers directly. */
  async updateReceipts({ conversation, ...readState }: CommandOf<"mark">): Promise<CommandResults["mark"] | Refusal> {
    const row = this.#ports.inbox.find(conversation);
    const isNew = !row || row.gone || readState.delivered > row.delivered || readState.read > row.read;
    return isNew
      ? this.#sendReceipts(conversation, readState)
      : { unread: row.unread, head: Math.max(row.countedUpTo, row.head) };
  }

  /** Requests an exact count for a row in doubt, at most one in each `recountPauseMs`. */
  recount(conversation: ConversationId): void {
    const isRunning = this.#recounts.has(conversation);
    this.#recounts.set(conversation, isRunning);
    if (!isRunning) this.#ports.runInBackground(this.#recount(conversation));
  }

  async #recount(conversation: ConversationId): Promise<void> {
    try {
      do {
        this.#recounts.set(conversation, false);
        // A receipt that changes nothing returns the exact count.
        await this.#sendReceipts(conversation, { delivered: 0, read: 0 });
        await scheduler.wait(recountPauseMs);
      } while (this.#recounts.get(conversation));
    } finally {
      this.#recounts.delete(conversation);
    }
  }

  async #sendReceipts(conversation: ConversationId, readState: ReadState): Promise<CommandResults["mark"] | Refusal> {
    const { user, inbox } = this.#ports;
    const { receipts } = inbox.settings;
    const answer = await this.#requestReadState(conversation, (conversationStub) =>
      conversationStub.updateReceipts(user, readState, receipts),
    );
    if (isRefusal(answer)) return answer;
    const { entry, readState: memberState } = answer;
    return entry
      ? { unread: entry.unread, head: Math.max(entry.countedUpTo, entry.head) }
      : { unread: memberState.unread ?? 0, head: memberState.head };
  }

  async clearHistory({
    conversation,
    upTo,
    keep: isKeptListed,
  }: CommandOf<"clearHistory">): Promise<CommandResults["clearHistory"] | Refusal> {
    const row = this.#ports.inbox.find(conversation);
    const isForgotten = row !== undefined && hasLeftGroup(row) && isKeptListed === false;
    if (row && !row.gone && upTo <= row.hidden && isKeptListed === row.kept && !isForgotten)
      return { hidden: row.hidden, change: this.#toChangeNumber(row) };
    if (!this.#clearings.take()) return { error: "rate_limited", retryAfterMs: this.#clearings.waitMs() };
    if (isForgotten) return this.#forgetHistory(conversation);
    const answer = await this.#requestReadState(
      conversation,
      (conversationStub) => conversationStub.clearHistory(this.#ports.user, upTo),
      isKeptListed,
    );
    if (isRefusal(answer)) return answer;
    const { entry, readState } = answer;
    return { hidden: readState.hidden, ...(entry ? { change: this.#toChangeNumber(entry) } : {}) };
  }

  /** Deletes the history of a group that the person left. The conversation's notice then deletes the row. */
  #forgetHistory(conversation: ConversationId): Promise<CommandResults["clearHistory"] | Refusal> {
    const { gateway, user } = this.#ports;
    return gateway.call<CommandResults["clearHistory"]>(conversation, (stub) => stub.forgetHistory(user));
  }

  setMute({ conversation, muted, seconds, exceptMentions }: CommandOf<"mute">): CommandResults["mute"] | Refusal {
    const { inbox } = this.#ports;
    const row = inbox.find(conversation);
    const until = muted && seconds !== undefined ? Math.ceil(Date.now() / 1_000 + seconds) * 1_000 : null;
    const mutedExceptMentions = muted && exceptMentions === true && row?.kind === "group";
    const mute = { muted, mutedUntil: until, mutedExceptMentions };
    const isChange = row && !row.gone && !isSameMute(row, mute);
    if (isChange && !this.#mutes.take()) return { error: "rate_limited", retryAfterMs: this.#mutes.waitMs() };
    const entry = inbox.choices.setMute(conversation, mute);
    if (!entry) return { error: "conversation_not_found" };
    return {
      muted,
      ...(mutedExceptMentions ? { exceptMentions: true } : {}),
      ...(until === null ? {} : { until }),
      change: this.#toChangeNumber(entry),
    };
  }

  /** Number of a row's last change. */
  #toChangeNumber({ changed }: InboxEntry): ChangeNumber {
    return { epoch: this.#ports.inbox.epoch, counter: changed };
  }

  async #requestReadState(
    conversation: ConversationId,
    ask: (conversationStub: ConversationRpc) => Promise<MemberReadState | Refusal>,
    isKeptListed?: boolean,
  ) {
    const { inbox, gateway } = this.#ports;
    const call = () => gateway.call<MemberReadState>(conversation, ask);
    const answer = await inbox.applyReadState<Refusal>(conversation, call, isMemberReadState, isKeptListed);
    if (!isRefusal(answer) && answer.needsRecount) this.recount(conversation);
    return answer;
  }
}
