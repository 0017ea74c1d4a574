import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import type { Platform } from "#sync/platform/platform.ts";
import {
  type DraftRow,
  type DraftSlot,
  type DraftTarget,
  type LocalStore,
  toDraftSlotKeys,
} from "#sync/store/database.ts";
import { clearJournaledDraftText, journalDraftText } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { changeDraft } from "#sync/store/unsent-messages.ts";
import type { Draft } from "#sync/store/view-models.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { deleteDraft, listDraftKeys, readDraftRow } from "./draft-rows.ts";

const writeDelayMs = 400;
const slotHandoverMs = 2_000; // a page that is just being left lets go within this
type Locks = NonNullable<Platform["locks"]>;

const draftMaxBytes = 200 * 1024 * 1024;

type SlotLock = { key: string; release: () => void };

/** Holds a slot: at once or not at all, or, with a signal, as soon as it is let go; undefined when that was given up. */
const acquireSlot = (tab: Tab, locks: Locks, key: string, signal?: AbortSignal): Promise<SlotLock | undefined> =>
  new Promise((resolve) => {
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    locks
      .request(`lisolo-${key}-${tab.userId}`, signal ? { signal } : { ifAvailable: true }, (lock) => {
        resolve(lock ? { key, release } : undefined);
        return lock ? held : undefined;
      })
      .catch(() => resolve(undefined));
  });

/** The first of these slots that is let go within a moment. */
const acquireReleasedSlot = async (tab: Tab, locks: Locks, keys: readonly string[]): Promise<SlotLock | undefined> => {
  const waiting = new AbortController();
  const cancel = tab.platform.startTimer(slotHandoverMs, () => waiting.abort());
  let first: SlotLock | undefined;
  const tries = keys.map(async (key) => {
    const slot = await acquireSlot(tab, locks, key, waiting.signal);
    if (!slot) return;
    if (first) return slot.release();
    first = slot;
    waiting.abort();
  });
  await Promise.all(tries);
  cancel();
  return first;
};

/** A slot of this page's own: before others one in which a page that died left something. */
const claimSlot = async (tab: Tab, place: DraftTarget): Promise<SlotLock | undefined> => {
  const { locks } = tab.platform;
  const keys = toDraftSlotKeys(place);
  if (!locks) return { key: keys[0] ?? "", release: () => {} };
  const free = async (some: readonly string[]): Promise<SlotLock | undefined> => {
    for (const key of some) {
      const slot = await acquireSlot(tab, locks, key);
      if (slot) return slot;
    }
    return undefined;
  };
  const kept = await listDraftKeys(tab, getContext(tab).store, place);
  const left = (await free(kept)) ?? (kept.length > 0 ? await acquireReleasedSlot(tab, locks, kept) : undefined);
  return left ?? free(keys);
};

const canBeSent = ({ size }: File): boolean => size > 0 && size <= fileMaxBytes;

/**
 * Keeps what is chosen and written before it is sent, so that a page that dies loses nothing of it. Each page has a
 * slot of its own in a place. A phone without room for it keeps nothing: what is chosen is in its page all the same.
 */
export class DraftKeeper {
  readonly #tab: Tab;
  /** Where it is kept. */
  readonly slot: DraftSlot;
  readonly #releaseLock: () => void;
  readonly #unsubscribe: () => void;
  readonly #blobIds = new Map<File, Uuid>();
  #latest: Draft | undefined;
  #cancelWrite: (() => void) | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #isStorageFull = false;

  private constructor(tab: Tab, kept: DraftSlot, release: () => void) {
    this.#tab = tab;
    this.slot = kept;
    this.#releaseLock = release;
    this.#unsubscribe = tab.platform.onLeave(() => this.#handleLeave());
  }

  /** Undefined while too many other pages keep what is chosen there. */
  static async open(tab: Tab, place: DraftTarget): Promise<DraftKeeper | undefined> {
    const slot = await claimSlot(tab, place);
    return slot && new DraftKeeper(tab, { target: place, key: slot.key }, slot.release);
  }

  /** Resolves once no page keeps anything there any more, or after a moment. */
  static async waitUntilReleased(tab: Tab, place: DraftTarget): Promise<void> {
    const { locks } = tab.platform;
    if (!locks) return;
    await Promise.all(
      toDraftSlotKeys(place).map(async (key) => (await acquireReleasedSlot(tab, locks, [key]))?.release()),
    );
  }

  /** What a page that died had kept. */
  async load(): Promise<Draft | undefined> {
    const { store } = getContext(this.#tab);
    const row = await readDraftRow(store, this.slot);
    if (!row) return undefined;
    const kept = await store.blobs.bulkGet(row.files.map(({ id }) => id));
    const captions = new Map<File, string>();
    const files = row.files.flatMap(({ id, name, type, modified, caption }, at) => {
      const blob = kept[at]?.blob;
      if (!blob) return [];
      const file = new File([blob], name, { type, lastModified: modified });
      this.#blobIds.set(file, id);
      if (caption !== "") captions.set(file, caption);
      return file;
    });
    const { files: _, ...rest } = row;
    return { ...rest, files, captions };
  }

  /** Cheap to call at every key. */
  save(choice: Draft): void {
    this.#latest = choice;
    this.#cancelWrite ??= this.#tab.platform.startTimer(writeDelayMs, () => void this.#flush());
  }

  get #journalScope() {
    return { platform: this.#tab.platform, me: this.#tab.userId };
  }

  /** The page may be gone before the store has what is given to it now. */
  #handleLeave(): void {
    const text = this.#latest?.text ?? "";
    if (text.trim() !== "") journalDraftText(this.#journalScope, this.slot.key, text);
    void this.#flush();
  }

  /** It was sent, or given up. */
  async discard(): Promise<void> {
    this.#cancelPending();
    clearJournaledDraftText(this.#journalScope, this.slot.key);
    await this.#enqueue(async () => {
      const { store } = getContext(this.#tab);
      await deleteDraft(store, this.slot);
      await store.blobs.bulkDelete([...this.#blobIds.values()]); // whose row went when they were sent
    });
    this.#releaseLock();
  }

  /** The page is left; what is kept stays. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#flush();
    this.#releaseLock();
  }

  #cancelPending(): void {
    this.#unsubscribe();
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
    this.#latest = undefined;
  }

  #enqueue(work: () => Promise<void>): Promise<unknown> {
    this.#writes = this.#writes.then(work).catch((error: unknown) => console.warn("what is chosen not kept", error));
    return this.#writes;
  }

  #flush(): Promise<unknown> {
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
    return this.#enqueue(() => this.#write());
  }

  async #write(): Promise<void> {
    const choice = this.#latest;
    this.#latest = undefined;
    if (!choice || this.#isStorageFull) return;
    const { store } = getContext(this.#tab);
    try {
      await this.#saveRows(store, choice);
    } catch (error) {
      await deleteDraft(store, this.slot);
      this.#isStorageFull = isQuotaError(error);
      if (!this.#isStorageFull) throw error;
    }
  }

  /** The bytes first, by themselves: a text must not wait while a big file is written. */
  async #saveRows(store: LocalStore, { files, captions, ...rest }: Draft): Promise<void> {
    const before = (await readDraftRow(store, this.slot))?.files ?? [];
    const here = new Set(before.map(({ id }) => id));
    const going = files.filter(canBeSent);
    if (going.reduce((sum, { size }) => sum + size, 0) > draftMaxBytes)
      throw new DOMException("more than is kept of a choice", "QuotaExceededError");
    const rows: DraftRow["files"] = [];
    for (const file of going) {
      const id = this.#blobIds.get(file) ?? createUuid(this.#tab.platform.now());
      this.#blobIds.set(file, id);
      if (!here.has(id)) await store.blobs.put({ file: id, blob: file.slice(0, file.size, file.type) });
      const { name, type, lastModified: modified } = file;
      rows.push({ id, name, type, modified, caption: captions.get(file) ?? "" });
    }
    const gone = before.flatMap(({ id }) => (rows.some((row) => row.id === id) ? [] : id));
    const isEmpty = rows.length === 0 && rest.text === "" && rest.to.length === 0;
    const { target, key } = this.slot;
    await changeDraft(store, target, [store.blobs], async () => {
      if (isEmpty) await store.meta.delete(key);
      else await store.meta.put({ key, value: { ...rest, to: [...rest.to], files: rows } });
      await store.blobs.bulkDelete(gone);
    });
    if (this.#latest === undefined) clearJournaledDraftText(this.#journalScope, key);
  }
}
