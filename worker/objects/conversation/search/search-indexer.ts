import { indexedSlicesPerAlarm, indexWaitMs } from "#contract/limits/search.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { waitAtMost } from "#worker/objects/shared/wait-at-most.ts";

/**
 * Indexes the complete blocks of a conversation in the background once somebody searches it. The index itself says what
 * is missing; only whether it is wanted is kept in memory.
 */
export class SearchIndexer {
  #isWanted = false;
  /** Searches waiting for the slices that are indexed next. */
  #waiting: (() => void)[] = [];

  /** Begins after a search. True if there is something to index. */
  start(log: ConversationLog): boolean {
    this.#isWanted = true;
    this.#isWanted = this.hasWork(log);
    return this.#isWanted;
  }

  /** Continues what a previous instance began. */
  resume(log: ConversationLog): void {
    if (log.messages.searchIndex.hasBlocks) this.#isWanted = true;
  }

  /** Whether there is something to index now. */
  hasWork(log: ConversationLog): boolean {
    return this.#isWanted && !log.isFull && !log.hasNoReaders && !log.messages.searchIndex.isComplete(log.head);
  }

  /** Whether a search that goes on below a seq would read messages that are about to be indexed. */
  isAhead(log: ConversationLog, before: number): boolean {
    return this.hasWork(log) && log.messages.searchIndex.isMissing(Math.min(before - 1, log.head), log.head);
  }

  /** Resolves when more slices are indexed, or after `indexWaitMs`. */
  async waitForSlices(): Promise<void> {
    await waitAtMost(indexWaitMs, new Promise((resolve) => this.#waiting.push(resolve)));
  }

  /** Indexes some slices, newest first. Other requests run after each. What fails is repeated after the next search. */
  async run(log: ConversationLog): Promise<void> {
    for (let slice = 0; slice < indexedSlicesPerAlarm && this.hasWork(log); slice++) {
      this.#isWanted = false;
      this.#isWanted = log.transaction(() => log.messages.searchIndex.addSlice(log.head));
      await scheduler.wait(0);
    }
    this.#isWanted = this.hasWork(log);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
