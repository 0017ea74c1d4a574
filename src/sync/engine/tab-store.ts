import type { Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import {
  closeStores,
  insertInTime,
  type OpenedStores,
  openOnDisk,
  openStores,
} from "#sync/store/recovery/open-database.ts";
import {
  isDatabaseClosedError,
  isRefusedValueError,
  readUnsentBeforeDeletion,
  watchStores,
} from "#sync/store/recovery/store-loss.ts";
import type { UnsentSnapshot } from "#sync/store/recovery/unsent-backup.ts";
import { restoreUnsentSnapshot } from "#sync/store/recovery/unsent-snapshot.ts";
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
    if (context) closeStores(context);
  }

  /**
   * Opens the store and sets `context`. `isSuspect`: the database failed repeatedly and is rebuilt. `unsent`: unsent
   * data that was read before the browser deleted the database; it is written back.
   */
  async #open(isSuspect: boolean, unsent?: UnsentSnapshot): Promise<void> {
    const opened = await openStores(this.#platform, this.#userId, isSuspect);
    if (this.#isStopped) return closeStores(opened);
    if (opened.storageTrouble === "unreachable") this.#scheduleReturnToDisk();
    else if (opened.isNew && unsent) await restoreUnsentSnapshot(opened, unsent);
    this.#use(opened);
  }

  #use(opened: OpenedStores): void {
    const { store, strict } = opened;
    this.storageTrouble.set(opened.storageTrouble);
    const onVersionChange = (newVersion: number | null) => this.#handleVersionChange(opened, newVersion);
    watchStores(opened, { onClosed: () => this.#handleClosed(opened), onVersionChange });
    const context: SyncContext = {
      me: this.#userId,
      platform: this.#platform,
      store,
      strict,
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
    const memory = this.context.get();
    if (!onDisk || !memory || this.#isStopped || this.#reopening) {
      if (onDisk) closeStores(onDisk);
      return this.#scheduleReturnToDisk();
    }
    this.#reopening = this.#moveToDisk(memory, onDisk)
      .catch((error: unknown) => {
        console.warn("what is in memory cannot be stored", error);
        this.#scheduleReturnToDisk();
      })
      .finally(() => {
        this.#reopening = undefined;
      });
  }

  /** Moves unsent content from memory into the database. If it cannot be stored, the page stays in memory. */
  async #moveToDisk(memory: SyncContext, onDisk: OpenedStores): Promise<void> {
    this.context.set(undefined);
    await this.#events.onClosing();
    try {
      await insertInTime(this.#platform, memory, onDisk);
      closeStores(memory);
      if (this.#isStopped) closeStores(onDisk);
      else this.#use(onDisk);
    } catch (error) {
      closeStores(onDisk);
      this.context.set(memory);
      throw error;
    } finally {
      if (!this.#isStopped) this.#events.onReopened();
    }
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
  #handleClosed(opened: OpenedStores): void {
    if (this.#isStopped || this.context.get()?.store !== opened.store) return;
    if (this.#platform.session.isCurrent()) this.#reopen(false);
  }

  /** Delays a deletion of the database by the browser until unsent data was read. Returns false to keep it open. */
  #handleVersionChange(opened: OpenedStores, newVersion: number | null): false | undefined {
    const isDeleted = newVersion === null && this.#platform.session.isCurrent();
    if (!isDeleted || this.#isStopped || this.context.get()?.store !== opened.store) return undefined;
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
    const unsent = isDeleted && before ? await readUnsentBeforeDeletion(this.#platform, before) : undefined;
    if (before) closeStores(before);
    if (this.#isStopped) return;
    await this.#open(isSuspect, unsent);
    if (isSuspect || isDeleted) this.#events.notify("store-reset");
    if (!this.#isStopped) this.#events.onReopened();
  }
}
