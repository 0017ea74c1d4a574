import { createUuid, type Uuid } from "../../contract/ids";
import { fileMaxBytes } from "../../contract/limits";
import { dropChoice, readChoice } from "./begun";
import { changeBegun } from "./leaving";
import { isQuotaError } from "./room";
import { type ChoicePlace, type ChoiceRow, choiceKey, type Store } from "./store";
import type { Tab } from "./tab";
import type { Choice } from "./views";
import { getContext } from "./writing";

const settleMs = 400;
const handOverMs = 2_000; // a page that is just being left lets go within this
const choiceMaxBytes = 200 * 1024 * 1024;

/** Waits until no other page composes there; the way back, or undefined while one does. */
const claim = async (tab: Tab, place: ChoicePlace): Promise<(() => void) | undefined> => {
  const { locks, after } = tab.platform;
  if (!locks) return () => {};
  const waiting = new AbortController();
  const cancel = after(handOverMs, () => waiting.abort());
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return new Promise((resolve) => {
    locks
      .request(`lisolo-choice-${tab.userId}-${place}`, { signal: waiting.signal }, () => {
        cancel();
        resolve(release);
        return held;
      })
      .catch(() => resolve(undefined));
  });
};

const canGo = ({ size }: File): boolean => size > 0 && size <= fileMaxBytes;

/**
 * Keeps what is chosen and written before it is sent, so that a page that dies loses nothing of it. One page at a
 * time in each place. A phone without room for it keeps nothing: what is chosen is in its page all the same.
 */
export class ChoiceKeeper {
  readonly #tab: Tab;
  readonly #place: ChoicePlace;
  readonly #release: () => void;
  readonly #unsubscribe: () => void;
  readonly #ids = new Map<File, Uuid>();
  #latest: Choice | undefined;
  #cancel: (() => void) | undefined;
  #working: Promise<unknown> = Promise.resolve();
  #isFull = false;

  private constructor(tab: Tab, place: ChoicePlace, release: () => void) {
    this.#tab = tab;
    this.#place = place;
    this.#release = release;
    this.#unsubscribe = tab.platform.onLeave(() => void this.#flush());
  }

  /** Undefined while another page keeps what is chosen there. */
  static async open(tab: Tab, place: ChoicePlace): Promise<ChoiceKeeper | undefined> {
    const release = await claim(tab, place);
    return release && new ChoiceKeeper(tab, place, release);
  }

  /** What a page that died had kept. */
  async find(): Promise<Choice | undefined> {
    const { store } = getContext(this.#tab);
    const row = await readChoice(store, this.#place);
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

  /** It was sent, or given up. */
  async drop(): Promise<void> {
    this.#stop();
    await this.#queue(async () => {
      const { store } = getContext(this.#tab);
      await dropChoice(store, this.#place);
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
      await dropChoice(store, this.#place);
      this.#isFull = isQuotaError(error);
      if (!this.#isFull) throw error;
    }
  }

  /** The bytes first, by themselves: a text must not wait while a big file is written. */
  async #put(store: Store, { files, captions, ...rest }: Choice): Promise<void> {
    const before = (await readChoice(store, this.#place))?.files ?? [];
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
    await changeBegun(store, this.#place, [store.blobs], async () => {
      if (isEmpty) await store.meta.delete(choiceKey(this.#place));
      else await store.meta.put({ key: choiceKey(this.#place), value: { ...rest, to: [...rest.to], files: rows } });
      await store.blobs.bulkDelete(gone);
    });
  }
}
