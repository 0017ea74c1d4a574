import type { Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LocalStore } from "#sync/store/database.ts";
import {
  isDatabaseClosedError,
  isRefusedValueError,
  type OpenedStore,
  openCache,
  openOnDisk,
  watchCache,
} from "#sync/store/open-database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { LinkState, StorageTrouble } from "#sync/store/view-models.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";

const reopenMs = 10_000;
const repeatedFailureMs = 60_000; // a second failure of the store within this time: the database is rebuilt

type TabStoreEvents = {
  /** Stops what uses the store, before it is reopened. */
  onClosing(): Promise<void>;
  onReopened(): void;
  notify(notice: "store-reset"): void;
};

/** Local store of one person in one tab. Reopened, or rebuilt, after the browser closed or deleted it. */
export class TabStore {
  readonly storageTrouble = new Observable<StorageTrouble | undefined>(undefined);
  /** Shared context of the engine's parts. Undefined while no store is open; a new object after each opening. */
  readonly context = new Observable<SyncContext | undefined>(undefined);
  readonly #userId: Uuid;
  readonly #platform: Platform;
  readonly #link: Observable<LinkState>;
  readonly #events: TabStoreEvents;
  #lastFailureAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #reopening: Promise<void> | undefined;

  readonly #unsent: UnsentStore;

  constructor(
    userId: Uuid,
    platform: Platform,
    unsent: UnsentStore,
    link: Observable<LinkState>,
    events: TabStoreEvents,
  ) {
    this.#userId = userId;
    this.#platform = platform;
    this.#unsent = unsent;
    this.#link = link;
    this.#events = events;
  }

  open(): Promise<void> {
    return this.#open(false);
  }

  /** Prevents further openings. Resolves once the current one is over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#reopening;
  }

  close(): void {
    const context = this.context.get();
    this.context.set(undefined);
    context?.store.close();
  }

  /** Opens the store and sets `context`. `isSuspect`: the database failed repeatedly and is rebuilt. */
  async #open(isSuspect: boolean): Promise<void> {
    const opened = await openCache(this.#platform, this.#userId, isSuspect);
    if (this.#isStopped) return opened.store.close();
    if (opened.storageTrouble === "unreachable") this.#scheduleReturnToDisk();
    this.#use(opened);
  }

  #use({ store, storageTrouble }: OpenedStore): void {
    this.storageTrouble.set(storageTrouble);
    const onVersionChange = (newVersion: number | null) => this.#handleVersionChange(store, newVersion);
    watchCache(store, { onClosed: () => this.#handleClosed(store), onVersionChange });
    const context: SyncContext = {
      me: this.#userId,
      platform: this.#platform,
      store,
      unsent: this.#unsent,
      link: this.#link,
      storageTrouble: this.storageTrouble,
      reportStoreFailure: (error) => this.#handleFailure(context, error),
    };
    this.context.set(context);
  }

  #scheduleReturnToDisk(): void {
    this.#platform.startTimer(reopenMs, () => void this.#returnToDisk());
  }

  /** Leaves the memory once the database answers. Until then it is tried again and again. */
  async #returnToDisk(): Promise<void> {
    if (this.#isStopped) return;
    const onDisk = await openOnDisk(this.#platform, this.#userId).catch(() => undefined);
    if (!onDisk || this.#isStopped || this.#reopening) {
      onDisk?.store.close();
      return this.#scheduleReturnToDisk();
    }
    this.#reopening = this.#replace(onDisk).finally(() => {
      this.#reopening = undefined;
    });
  }

  /** Leaves the cache in memory for that on disk, which is brought up to date from the server. */
  async #replace(onDisk: OpenedStore): Promise<void> {
    const memory = this.context.get();
    this.context.set(undefined);
    await this.#events.onClosing();
    memory?.store.close();
    if (this.#isStopped) return onDisk.store.close();
    this.#use(onDisk);
    this.#events.onReopened();
  }

  #handleFailure(context: SyncContext, error: unknown): void {
    if (this.#isStopped || this.context.get() !== context) return;
    if (isDatabaseClosedError(error)) {
      this.#reopen(false);
      return;
    }
    console.warn("local store failed", error);
    if (isRefusedValueError(error)) return;
    const now = this.#platform.now();
    const isRepeated = now - this.#lastFailureAt < repeatedFailureMs;
    this.#lastFailureAt = now;
    this.#reopen(isRepeated);
  }

  /** Reopens a store that the browser closed, because the site's data was cleared or the database broke. */
  #handleClosed(store: LocalStore): void {
    if (this.#isStopped || this.context.get()?.store !== store) return;
    if (this.#platform.session.isCurrent()) this.#reopen(false);
  }

  /** Gives a database up that another page deletes, once nothing uses it. Returns false to keep it open until then. */
  #handleVersionChange(store: LocalStore, newVersion: number | null): false | undefined {
    const isDeleted = newVersion === null && this.#platform.session.isCurrent();
    if (!isDeleted || this.#isStopped || this.context.get()?.store !== store) return undefined;
    this.#reopen(false, true);
    return false;
  }

  #reopen(isSuspect: boolean, isDeleted = false): void {
    this.#reopening ??= this.#reopenNow(isSuspect, isDeleted)
      .catch((error: unknown) => {
        console.error("local store cannot be opened", error);
        this.#platform.startTimer(reopenMs, () => this.#reopen(false));
      })
      .finally(() => {
        this.#reopening = undefined;
      });
  }

  async #reopenNow(isSuspect: boolean, isDeleted: boolean): Promise<void> {
    if (this.#isStopped) return;
    const before = this.context.get();
    this.context.set(undefined);
    await this.#events.onClosing();
    before?.store.close();
    if (this.#isStopped) return;
    await this.#open(isSuspect);
    if (isSuspect || isDeleted) this.#events.notify("store-reset");
    if (!this.#isStopped) this.#events.onReopened();
  }
}
