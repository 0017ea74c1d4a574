import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { conversationResultsMax, searchedConversationsMax } from "#contract/limits/search.ts";
import { GlobalSearchResult } from "#contract/wire/global-search.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import {
  type ConversationFilter,
  type GlobalQuery,
  readConversationFilters,
} from "#sync/queries/conversation-filter.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { toLocalMessageRow } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { type FoundMessage, type StoredSearchEnd, toFoundMessages } from "./stored-message-search.ts";

const pageResults = 10; // enough to end a page
const requestsPerPage = 10; // if fewer are found

/** Conversation that is searched below a seq, with the number of results so far. */
type PendingTarget = { row: LocalConversationRow; before: number; found: number };

/** Part of a conversation that was not searched on this device, undefined if everything was. */
const toPendingTarget = (row: LocalConversationRow, filter: ConversationFilter): PendingTarget | undefined => {
  const { storedFrom, storedTo, head, hidden, unconfirmed } = row;
  if (filter === "none") return undefined;
  // Messages from `storedFrom` on were searched here, unless the newest ones are not stored.
  const isSearched = storedTo >= head && storedFrom <= storedTo && !unconfirmed && filter !== "unknown";
  const before = isSearched ? storedFrom : Math.max(head, unconfirmed?.row?.head ?? 0) + 1;
  return before <= hidden + 1 ? undefined : { row, before, found: 0 };
};

/**
 * Search through the messages that this device does not have, in the conversation with the newest message first. One
 * request searches several conversations.
 */
export class ServerMessageSearch {
  readonly #context: SyncContext;
  readonly #search: GlobalQuery;
  #pending: PendingTarget[] | undefined;
  /** Conversations that did not answer. */
  #failed: PendingTarget[] = [];
  readonly #rows: readonly LocalConversationRow[];
  readonly #full: Set<ConversationId>;

  /** Continues a search on this device: what it did not find because it arrived meanwhile is searched here. */
  constructor(context: SyncContext, search: GlobalQuery, { rows, full, past }: StoredSearchEnd) {
    this.#context = context;
    this.#search = search;
    this.#rows = rows.filter(({ id }) => !full.has(id) && !past.has(id));
    this.#full = new Set(full);
  }

  /** Whether a conversation has more results than are listed. */
  get hasFull(): boolean {
    return this.#full.size > 0;
  }

  /** Whether there is something left to search. */
  async hasMore(): Promise<boolean> {
    return (await this.#listPending()).length > 0 || this.#failed.length > 0;
  }

  /**
   * Searches on until enough is found. `onResults` receives the results of each request. Rejects with a SyncError; what
   * was not searched can be requested again.
   */
  async searchPage(onResults: (results: FoundMessage[]) => void, signal: AbortSignal): Promise<void> {
    const pending = await this.#listPending();
    pending.push(...this.#failed.splice(0));
    let found = 0;
    for (let request = 0; request < requestsPerPage && found < pageResults && pending.length > 0; request++) {
      const targets = pending.slice(0, searchedConversationsMax);
      const results = await this.#request(targets, signal);
      if (signal.aborted) return;
      pending.splice(0, targets.length);
      const messages: FoundMessage[] = [];
      const unfinished: PendingTarget[] = [];
      for (const [index, target] of targets.entries()) {
        const result = results[index];
        if (!result) {
          this.#failed.push(target);
          continue;
        }
        const rows = result.messages.map((message) => toLocalMessageRow(target.row, this.#context.me, message));
        messages.push(...(await toFoundMessages(this.#context, target.row, rows)));
        const count = target.found + rows.length;
        if (result.before === null) continue;
        if (count >= conversationResultsMax) this.#full.add(target.row.id);
        else unfinished.push({ ...target, before: result.before, found: count });
      }
      pending.unshift(...unfinished);
      found += messages.length;
      if (signal.aborted) return;
      if (messages.length > 0) onResults(messages);
    }
    if (pending.length === 0 && this.#failed.length > 0) throw new SyncError("unavailable");
  }

  async #listPending(): Promise<PendingTarget[]> {
    if (!this.#pending) {
      const toFilter = await readConversationFilters(this.#context, this.#search.filter);
      this.#pending = this.#rows.flatMap((row) => toPendingTarget(row, toFilter(row)) ?? []);
    }
    return this.#pending;
  }

  /** Waits as long as the server says if this person has searched too much. */
  async #request(targets: readonly PendingTarget[], signal: AbortSignal): Promise<GlobalSearchResult["results"]> {
    const { platform } = this.#context;
    const body = {
      query: this.#search.query.trim(),
      ...(this.#search.filter ? { filter: this.#search.filter } : {}),
      targets: targets.map(({ row, before }) => ({ conversation: row.id, before })),
    };
    while (!signal.aborted) {
      try {
        const answer = await platform.request({ method: "POST", path: "/api/search", body }, { signal });
        const parsed = v.safeParse(GlobalSearchResult, answer);
        if (!parsed.success || parsed.output.results.length !== targets.length) throw new SyncError("unavailable");
        return parsed.output.results;
      } catch (error) {
        const retryAfterMs =
          error instanceof SyncError && error.code === "rate_limited" ? error.retryAfterMs : undefined;
        if (retryAfterMs === undefined) throw error;
        await new Promise<void>((resolve) => platform.startTimer(retryAfterMs, resolve));
      }
    }
    return [];
  }
}
