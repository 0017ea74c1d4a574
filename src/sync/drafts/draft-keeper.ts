import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { type ChoicePlace, type ChoiceRow, choiceKeys, type KeptChoice, type Store } from "#sync/store/database.ts";
import { jotBegun, strikeBegun } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { changeBegun } from "#sync/store/unsent-rows.ts";
import type { Choice } from "#sync/store/views.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { dropChoice, keptAt, readChoice } from "./draft-rows.ts";

const settleMs = 400;
const handOverMs = 2_000; // a page that is just being left lets go within this
type Locks = NonNullable<Platform["locks"]>;

const choiceMaxBytes = 200 * 1024 * 1024;

type Slot = { key: string; release: () => void };

/** Holds a slot: at once or not at all, or, with a signal, as soon as it is let go; undefined when that was given up. */
const hold = (tab: Tab, locks: Locks, key: string, signal?: AbortSignal): Promise<Slot | undefined> =>
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
const holdSoon = async (tab: Tab, locks: Locks, keys: readonly string[]): Promise<Slot | undefined> => {
  const waiting = new AbortController();
  const cancel = tab.platform.after(handOverMs, () => waiting.abort());
  let first: Slot | undefined;
  const tries = keys.map(async (key) => {
    const slot = await hold(tab, locks, key, waiting.signal);
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
const claim = async (tab: Tab, place: ChoicePlace): Promise<Slot | undefined> => {
  const { locks } = tab.platform;
  const keys = choiceKeys(place);
  if (!locks) return { key: keys[0] ?? "", release: () => {} };
  const free = async (some: readonly string[]): Promise<Slot | undefined> => {
    for (const key of some) {
      const slot = await hold(tab, locks, key);
      if (slot) return slot;
    }
    return undefined;
  };
  const kept = await keptAt(tab, getContext(tab).store, place);
  const left = (await free(kept)) ?? (kept.length > 0 ? await holdSoon(tab, locks, kept) : undefined);
  return left ?? free(keys);
};

const canGo = ({ size }: File): boolean => size > 0 && size <= fileMaxBytes;

/**
 * Keeps what is chosen and written before it is sent, so that a page that dies loses nothing of it. Each page has a
 * slot of its own in a place. A phone without room for it keeps nothing: what is chosen is in its page all the same.
 */
export class ChoiceKeeper {
  readonly #tab: Tab;
  /** Where it is kept. */
  readonly kept: KeptChoice;
  readonly #release: () => void;
  readonly #unsubscribe: () => void;
  readonly #ids = new Map<File, Uuid>();
  #latest: Choice | undefined;
  #cancel: (() => void) | undefined;
  #working: Promise<unknown> = Promise.resolve();
  #isFull = false;

  private constructor(tab: Tab, kept: KeptChoice, release: () => void) {
    this.#tab = tab;
    this.kept = kept;
    this.#release = release;
    this.#unsubscribe = tab.platform.onLeave(() => this.#leave());
  }

  /** Undefined while too many other pages keep what is chosen there. */
  static async open(tab: Tab, place: ChoicePlace): Promise<ChoiceKeeper | undefined> {
    const slot = await claim(tab, place);
    return slot && new ChoiceKeeper(tab, { place, key: slot.key }, slot.release);
  }

  /** Resolves once no page keeps anything there any more, or after a moment. */
  static async letGo(tab: Tab, place: ChoicePlace): Promise<void> {
    const { locks } = tab.platform;
    if (!locks) return;
    await Promise.all(choiceKeys(place).map(async (key) => (await holdSoon(tab, locks, [key]))?.release()));
  }

  /** What a page that died had kept. */
  async find(): Promise<Choice | undefined> {
    const { store } = getContext(this.#tab);
    const row = await readChoice(store, this.kept);
    if (!row) return undefined;
    const kept = await store.blobs.bulkGet(row.files.map(({ id }) => id));
    const captions = new Map<File, string>();
    const files = row.files.flatMap(({ id, name, type, modified, caption }, at) => {
      const blob = kept[at]?.blob;
      if (!blob) return [];
      const file = new File([blob], name, { type, lastModified: modified });
      this.#ids.set(file, id);
      if (caption !== "") captions.set(file, caption);
      return file;
    });
    const { files: _, ...rest } = row;
    return { ...rest, files, captions };
  }

  /** Cheap to call at every key. */
  keep(choice: Choice): void {
    this.#latest = choice;
    this.#cancel ??= this.#tab.platform.after(settleMs, () => void this.#flush());
  }

  get #notes() {
    return { platform: this.#tab.platform, me: this.#tab.userId };
  }

  /** The page may be gone before the store has what is given to it now. */
  #leave(): void {
    const text = this.#latest?.text ?? "";
    if (text.trim() !== "") jotBegun(this.#notes, this.kept.key, text);
    void this.#flush();
  }

  /** It was sent, or given up. */
  async drop(): Promise<void> {
    this.#stop();
    strikeBegun(this.#notes, this.kept.key);
    await this.#queue(async () => {
      const { store } = getContext(this.#tab);
      await dropChoice(store, this.kept);
      await store.blobs.bulkDelete([...this.#ids.values()]); // whose row went when they were sent
    });
    this.#release();
  }

  /** The page is left; what is kept stays. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#flush();
    this.#release();
  }

  #stop(): void {
    this.#unsubscribe();
    this.#cancel?.();
    this.#cancel = undefined;
    this.#latest = undefined;
  }

  #queue(work: () => Promise<void>): Promise<unknown> {
    this.#working = this.#working.then(work).catch((error: unknown) => console.warn("what is chosen not kept", error));
    return this.#working;
  }

  #flush(): Promise<unknown> {
    this.#cancel?.();
    this.#cancel = undefined;
    return this.#queue(() => this.#write());
  }

  async #write(): Promise<void> {
    const choice = this.#latest;
    this.#latest = undefined;
    if (!choice || this.#isFull) return;
    const { store } = getContext(this.#tab);
    try {
      await this.#put(store, choice);
    } catch (error) {
      await dropChoice(store, this.kept);
      this.#isFull = isQuotaError(error);
      if (!this.#isFull) throw error;
    }
  }

  /** The bytes first, by themselves: a text must not wait while a big file is written. */
  async #put(store: Store, { files, captions, ...rest }: Choice): Promise<void> {
    const before = (await readChoice(store, this.kept))?.files ?? [];
    const here = new Set(before.map(({ id }) => id));
    const going = files.filter(canGo);
    if (going.reduce((sum, { size }) => sum + size, 0) > choiceMaxBytes)
      throw new DOMException("more than is kept of a choice", "QuotaExceededError");
    const rows: ChoiceRow["files"] = [];
    for (const file of going) {
      const id = this.#ids.get(file) ?? createUuid(this.#tab.platform.now());
      this.#ids.set(file, id);
      if (!here.has(id)) await store.blobs.put({ file: id, blob: file.slice(0, file.size, file.type) });
      const { name, type, lastModified: modified } = file;
      rows.push({ id, name, type, modified, caption: captions.get(file) ?? "" });
    }
    const gone = before.flatMap(({ id }) => (rows.some((row) => row.id === id) ? [] : id));
    const isEmpty = rows.length === 0 && rest.text === "" && rest.to.length === 0;
    const { place, key } = this.kept;
    await changeBegun(store, place, [store.blobs], async () => {
      if (isEmpty) await store.meta.delete(key);
      else await store.meta.put({ key, value: { ...rest, to: [...rest.to], files: rows } });
      await store.blobs.bulkDelete(gone);
    });
    if (this.#latest === undefined) strikeBegun(this.#notes, key);
  }
}
