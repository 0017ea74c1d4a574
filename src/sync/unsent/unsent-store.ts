import { createUuid, type Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { toUnsentName, UnsentDatabase, type UnsentTable } from "#lib/unsent/unsent-database.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { limitTime } from "#sync/platform/database-errors.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { commitChanges, readRows } from "./stored-rows.ts";
import { UnsentBytes } from "./unsent-bytes.ts";
import { UnsentImage } from "./unsent-image.ts";
import {
  definitions,
  isSameState,
  listChangedRows,
  mergeRows,
  type PendingChange,
  parseRow,
  type RowChange,
  type UnsentChange,
  type UnsentRow,
  type UnsentRows,
  type UnsentState,
  unsentTables,
} from "./unsent-state.ts";

export type ChangeOptions = {
  /** Somebody is typing: it is committed, and observers are told, within `typingDelayMs`. */
  isTyped?: boolean;
};

const typingDelayMs = 250;
const retryMs = 10_000;

/**
 * Image in memory of what the person wrote, which all readers of a page use, and the only writer of the unsent database
 * in that page. A change is in the image at once, then committed. Where the browser has no database, or it does not
 * answer, the image holds it, and the journal after the end of the page. Other pages announce what they commit.
 */
export class UnsentStore {
  /** The image; undefined until `open` has read it. Observers are told of what is typed after `typingDelayMs`. */
  readonly state = new Observable<UnsentState | undefined>(undefined);
  /** Bytes that rows name by their ids. */
  readonly bytes: UnsentBytes;
  readonly #platform: Platform;
  readonly #me: Uuid;
  readonly #database: UnsentDatabase | undefined;
  readonly #journal: UnsentJournal;
  readonly #makeRoom: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #image = new UnsentImage();
  /** Last transaction of this page. They run one after another. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Tables that other pages have changed. */
  readonly #announced = new Set<UnsentTable>();
  #typedFlush: Promise<void> | undefined;
  /** Something was typed that observers have not been told of. */
  #hasUntold = false;
  #isRetrying = false;
  #isOpen = false;
  #isClosed = false;
  #unsubscribe = () => {};

  /** `makeRoom` runs a commit; without room on the device it frees some and runs it again. */
  constructor(platform: Platform, me: Uuid, makeRoom: <T>(work: () => Promise<T>) => Promise<T> = (work) => work()) {
    this.#platform = platform;
    this.#me = me;
    this.#makeRoom = makeRoom;
    this.#journal = new UnsentJournal(me, platform.localStorage, createUuid(platform.now()));
    const indexedDB: IDBFactory | undefined = platform.indexedDb?.indexedDB ?? globalThis.indexedDB;
    this.#database =
      indexedDB &&
      new UnsentDatabase(
        me,
        { indexedDB, openChannel: platform.openChannel },
        { onChange: (changed) => this.#handleAnnouncement(changed), onLost: () => this.#handleLoss() },
      );
    const scheduleRetry = () => this.#scheduleRetry();
    const isAvailable = () => !this.#isRetrying;
    this.bytes = new UnsentBytes(this.#database, { platform, makeRoom, isAvailable, scheduleRetry });
  }

  /**
   * Reads all rows, and replays what earlier pages left in the journal. Resolves when the image is complete, at the
   * latest when the database has not answered in time. Does not reject.
   */
  async open(): Promise<void> {
    this.#unsubscribe = this.#platform.onLeave(() => this.journalPending());
    const read = this.#enqueue(() => this.#read(unsentTables)).catch(() => this.#scheduleRetry());
    const opened = read.then(() => this.#replayJournal(this.#platform.firstViewWriter));
    await this.#inTime(opened).catch(() => undefined);
    this.#isOpen = true;
    this.#publish();
  }

  /** Row as this page knows it, changes of this moment included. */
  find<Table extends UnsentTable>(table: Table, key: string): UnsentRows[Table] | undefined {
    return this.#image.find(table, key);
  }

  /** All rows as this page knows them, changes of this moment included. */
  list(): UnsentState {
    return this.#image.list();
  }

  /**
   * Changes a row. Resolves once that is committed. Rejects if it could not be: then the image has it, and the journal
   * if there is room, and it is tried again.
   */
  change<Table extends UnsentTable>(
    table: Table,
    key: string,
    change: RowChange<UnsentRows[Table]>,
    options?: ChangeOptions,
  ): Promise<void> {
    return this.changeAll([{ table, key, change } as unknown as UnsentChange], options);
  }

  /** As `change`, for several rows in one transaction: all are committed, or none. */
  changeAll(changes: readonly UnsentChange[], { isTyped = false }: ChangeOptions = {}): Promise<void> {
    if (changes.length === 0) return Promise.resolve();
    if (!isTyped) {
      this.stage(changes);
      return this.flush();
    }
    for (const one of changes) this.#image.add(one);
    this.#hasUntold = true;
    this.#typedFlush ??= this.#wait(typingDelayMs).then(() => {
      this.#typedFlush = undefined;
      return this.flush();
    });
    return this.#typedFlush;
  }

  /** Changes rows in the image only. `flush` commits that, or any later change. */
  stage(changes: readonly PendingChange[]): void {
    for (const one of changes) this.#image.add(one);
    this.#publish();
  }

  /** Tells the observers of what was typed, and commits it now. */
  flush(): Promise<void> {
    if (this.#hasUntold) this.#publish();
    return this.#enqueue(() => this.#commit());
  }

  /** Resolves once everything of this moment is committed, or at once while commits fail. Does not reject. */
  async settle(): Promise<void> {
    if (!this.#isRetrying) await this.flush().catch(() => undefined);
  }

  /**
   * Writes what is not committed to the journal, because the page may end before that. Returns false if there is no room
   * for all of it.
   */
  journalPending(): boolean {
    return this.#image
      .listPendingRows()
      .map(({ change, row, seenAt }) => this.#writeEntry(change, row, seenAt))
      .every((isWritten) => isWritten);
  }

  /** Reads what other users of the database have committed, without waiting for their announcement. */
  async refresh(): Promise<void> {
    await this.#enqueue(() => this.#read(unsentTables)).catch(() => this.#scheduleRetry());
  }

  /** Takes over what the first view of this page could not commit itself, after it has ended. */
  endFirstView(): Promise<void> {
    return this.#replayJournal(undefined);
  }

  /** Commits what is pending, within `storeTimeoutMs`, and closes the database. */
  async stop(): Promise<void> {
    await this.#inTime(this.flush()).catch(() => undefined);
    this.close();
  }

  /** Closes the database. What is pending is not committed. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#database?.close();
  }

  #publish(): void {
    this.#hasUntold = false;
    if (this.#isOpen && !this.#isClosed) this.state.set(this.list());
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#platform.startTimer(ms, resolve));
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return limitTime(this.#platform, work, this.#platform.storeTimeoutMs);
  }

  #getDatabase(): UnsentDatabase {
    if (!this.#database) throw new DOMException("this browser has no database", "InvalidStateError");
    return this.#database;
  }

  async #read(changed: readonly UnsentTable[]): Promise<void> {
    this.#image.replaceTables(await this.#inTime(readRows(this.#getDatabase(), changed)));
    this.#publish();
  }

  async #commit(): Promise<void> {
    const batch = [...this.#image.pending];
    if (batch.length === 0) return;
    if (this.#isClosed) throw new DOMException("the database is closed", "InvalidStateError");
    let isChanged = false;
    try {
      const rows = await this.#inTime(this.#makeRoom(async () => commitChanges(this.#getDatabase(), batch)));
      const before = this.list();
      const unnamed = this.#image.settle(batch, rows);
      this.bytes.delete(unnamed).catch(() => undefined); // deleted as orphans later
      isChanged = !isSameState(before, this.list());
    } catch (error) {
      if (!this.#isClosed) this.#handleFailure(batch);
      throw error;
    }
    for (const one of listChangedRows(batch)) this.#renewEntry(one);
    if (isChanged) this.#publish(); // by another page meanwhile
  }

  #handleFailure(batch: readonly PendingChange[]): void {
    this.#image.joinBatch(batch);
    this.journalPending();
    this.#scheduleRetry();
  }

  #scheduleRetry(): void {
    if (this.#isRetrying || this.#isClosed || !this.#database) return;
    this.#isRetrying = true;
    void this.#wait(retryMs)
      .then(() => this.#enqueue(() => this.#read(unsentTables)))
      .then(() => {
        this.#isRetrying = false;
        return this.bytes.flush();
      })
      .then(() => this.flush().catch(() => undefined))
      .catch(() => {
        this.#isRetrying = false;
        this.#scheduleRetry();
      });
  }

  /** Brings the journal entries of a row that was committed up to date. */
  #renewEntry({ table, key }: PendingChange): void {
    const row = this.#image.find(table, key);
    this.#journal.clear(table, key);
    if (this.#image.hasPending({ table, key })) this.journalPending();
    else if (definitions[table].isKeptInJournal) {
      if (row) this.#writeEntry({ table, key }, row, undefined);
      else this.#journal.clearAll(table, key);
    }
  }

  #writeEntry(
    { table, key }: Pick<PendingChange, "table" | "key">,
    row: UnsentRow | undefined,
    seenAt: number | undefined,
  ): boolean {
    return this.#journal.write({
      table,
      key,
      at: this.#platform.now(),
      ...(row ? { row } : {}),
      ...(seenAt === undefined ? {} : { seenAt }),
    });
  }

  /**
   * Commits what the pages before have left in the journal, apart from the entries of the writer `except`. One page at a
   * time does this.
   */
  async #replayJournal(except: string | undefined): Promise<void> {
    const { locks } = this.#platform;
    const listLeft = () => this.#journal.list(except).filter(({ id }) => !this.#journal.isOwn(id));
    if (listLeft().length === 0) return;
    const replay = () =>
      Promise.allSettled(
        listLeft().map(async ({ id, entry: { table, key, row, seenAt } }) => {
          const left = unsentTables.includes(table) && row ? parseRow(table, row) : undefined;
          if (!unsentTables.includes(table) || (row && !left)) return; // of a later version
          const committed = this.changeAll([
            { table, key, change: (row: unknown) => mergeRows(table, row, left, seenAt) } as UnsentChange,
          ]);
          // Without a database this page's own entry has the row then.
          const isSafe = await committed.then(
            () => true,
            () => this.#journal.has(table, key),
          );
          if (isSafe) this.#journal.remove(id);
        }),
      );
    await (locks?.request(`${toUnsentName(this.#me)}-journal`, replay) ?? replay());
  }

  #handleAnnouncement(changed: readonly UnsentTable[]): void {
    for (const table of unsentTables) if (changed.includes(table)) this.#announced.add(table);
    void this.#enqueue(async () => {
      const announced = [...this.#announced];
      this.#announced.clear();
      if (announced.length > 0 && !this.#isClosed) await this.#read(announced);
    }).catch(() => this.#scheduleRetry());
  }

  /** Writes the rows back after the browser deleted the database, unless the person signed out. */
  #handleLoss(): void {
    if (this.#isClosed) return;
    if (!this.#platform.session.isCurrent()) {
      this.close();
      return;
    }
    this.#image.restore();
    this.flush().catch(() => undefined);
  }
}
