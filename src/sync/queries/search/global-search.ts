import { toSearchWords } from "#contract/text.ts";
import { asSyncError, type FailureCode } from "#sync/platform/sync-error.ts";
import type { GlobalQuery } from "#sync/queries/conversation-filter.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { ServerMessageSearch } from "./server-message-search.ts";
import { canSearch, canSearchServer, type FoundMessage, searchStoredMessages } from "./stored-message-search.ts";
import type { TextBlockCache } from "./text-blocks.ts";

const resultPageSize = 50;
const firstResults = 10; // fill a screen, and are drawn faster than a page
const serverPauseMs = 500; // after the search on the device, in which a person may type on
const enoughResults = 20; // the server is asked by itself only if the device has fewer
const specificWordLength = 2; // likewise only for a word of this length or a filter

/** Messages of all conversations that match a search, as far as it was searched. */
export type GlobalSearchView = {
  /** Found on this device. */
  stored: FoundMessage[];
  /** Found on the server only, newest first. */
  older: FoundMessage[];
  /** "more": the person may ask for more. */
  state: "running" | "more" | "complete" | "failed";
  error?: FailureCode;
  /** Whether conversations have further results, which a search in their chats finds. */
  isLimited: boolean;
  /** Whether there are messages that only the server has, where words are found by their beginnings. */
  hasOlder?: boolean;
};

const toKey = ({ conversation, seq }: FoundMessage): string => `${conversation} ${seq}`;

/**
 * Search through the messages of all conversations: those on this device, then page by page those that only the server
 * has. Until the next page is requested, it ends with enough results.
 */
export class GlobalMessageSearch {
  readonly #port: SyncPort;
  readonly #search: GlobalQuery;
  readonly #cache: TextBlockCache;
  readonly #onChange: (view: GlobalSearchView) => void;
  readonly #controller = new AbortController();
  #view: GlobalSearchView;
  #max = resultPageSize;
  #hasMoreStored = false;
  #server: ServerMessageSearch | undefined;
  #unsubscribe: (() => void)[] = [];

  constructor(port: SyncPort, search: GlobalQuery, cache: TextBlockCache, onChange: (view: GlobalSearchView) => void) {
    this.#port = port;
    this.#search = search;
    this.#cache = cache;
    this.#onChange = onChange;
    this.#view = { stored: [], older: [], state: "running", isLimited: false };
  }

  async start(): Promise<void> {
    const { link, platform } = this.#port;
    const retry = () => {
      if (this.#view.error === "offline") void this.showMore();
    };
    this.#unsubscribe = [platform.onWake(retry), link.subscribe(() => link.get() === "online" && retry())];
    await this.#searchStored();
    if (this.#isStopped || !this.#isRunning()) return;
    const { query, filter } = this.#search;
    const isSpecific = filter || toSearchWords(query).some((word) => [...word].length >= specificWordLength);
    if (!isSpecific || this.#view.stored.length >= enoughResults) return this.#update({ state: "more" });
    await new Promise<void>((resolve) => this.#port.platform.startTimer(serverPauseMs, resolve));
    await this.#searchServer();
  }

  /** Shows more of what was found on this device, else searches the next page on the server. */
  async showMore(): Promise<void> {
    if (this.#view.state !== "more" && this.#view.state !== "failed") return;
    this.#update({ state: "running" });
    if (!this.#hasMoreStored) return this.#searchServer();
    this.#max += resultPageSize;
    await this.#searchStored();
    if (this.#isRunning()) this.#update({ state: "more" });
  }

  stop(): void {
    this.#controller.abort();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  get #isStopped(): boolean {
    return this.#controller.signal.aborted;
  }

  #isRunning(): boolean {
    return this.#view.state === "running";
  }

  /** Searches on this device. The state ends as "running" if everything found is shown and the server has more. */
  async #searchStored(): Promise<void> {
    const context = this.#port.context.get();
    if (!context) return this.#update({ state: "complete" });
    const search = this.#search;
    try {
      const first = this.#max === resultPageSize ? firstResults : this.#max;
      const options = { ...search, cache: this.#cache, first, max: this.#max };
      const show = (stored: FoundMessage[]) => this.#update({ stored });
      const end = await searchStoredMessages(context, options, show, this.#controller.signal);
      this.#hasMoreStored = end.hasMore;
      this.#server ??= new ServerMessageSearch(context, search, end);
      if (end.hasMore) return this.#update({ state: "more" });
      const hasOlder = canSearch(search) && (await this.#server.hasMore());
      const isComplete = !hasOlder || !canSearchServer(search);
      this.#update({ isLimited: this.#server.hasFull, hasOlder, ...(isComplete ? { state: "complete" } : {}) });
    } catch {
      this.#update({ state: "complete" }); // the store was closed meanwhile
    }
  }

  async #searchServer(): Promise<void> {
    const server = this.#server;
    if (!server || this.#isStopped) return;
    try {
      await server.searchPage((found) => this.#addOlder(found), this.#controller.signal);
      const hasMore = await server.hasMore();
      this.#update({ state: hasMore ? "more" : "complete", isLimited: server.hasFull });
    } catch (error) {
      this.#update({ state: "failed", error: asSyncError(error).code });
    }
  }

  #addOlder(found: readonly FoundMessage[]): void {
    const { stored, older } = this.#view;
    const known = new Set([...stored, ...older].map(toKey));
    const added = found.filter((message) => !known.has(toKey(message)));
    this.#update({ older: [...older, ...added].sort((a, b) => b.at - a.at) });
  }

  #update(change: Partial<GlobalSearchView>): void {
    if (this.#isStopped) return;
    const { error: _, ...view } = this.#view;
    this.#view = { ...view, ...change };
    this.#onChange(this.#view);
  }
}
