import type { Uuid } from "#contract/ids.ts";
import { searchRowsMax } from "#contract/limits/search.ts";
import type { CommandOf } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { SearchBudget, SearchSlice } from "#worker/objects/rpc/messages.ts";
import type { SearchIndexer } from "./search-indexer.ts";
import { searchLog, searchLogOfSender } from "./search-log.ts";

/** Searches of a conversation's members. The first one starts the index, and one that begins waits for it briefly. */
export class ConversationSearch {
  readonly #log: ConversationLog;
  readonly #indexer: SearchIndexer;
  readonly #scheduleAlarm: (at: number) => void;

  constructor(log: ConversationLog, indexer: SearchIndexer, scheduleAlarm: (at: number) => void) {
    this.#log = log;
    this.#indexer = indexer;
    this.#scheduleAlarm = scheduleAlarm;
  }

  /** Undefined for somebody who may not read the conversation, or not any more after the wait for the index. */
  async search(
    user: Uuid,
    ...[query, budget, sender]: [CommandOf<"search">, SearchBudget, sender?: Uuid]
  ): Promise<SearchSlice | undefined> {
    const log = this.#log;
    // Only at the beginning of a request, so that what was found is shown at once.
    const mayWait = budget.rows === searchRowsMax && log.members.findReader(user) !== undefined;
    const isWaiting = mayWait && this.#indexer.isAhead(log, query.before);
    if (isWaiting) await this.#indexer.waitForSlices();
    const member = log.members.findReader(user);
    if (!member) return undefined;
    const found =
      sender === undefined
        ? searchLog(log, member, query, budget)
        : searchLogOfSender(log, member, query, budget, sender);
    if (this.#indexer.start(log)) this.#scheduleAlarm(Date.now() + 1);
    return isWaiting ? { ...found, isLast: true } : found;
  }
}
