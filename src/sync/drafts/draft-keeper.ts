import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { clearJournaledDraftInput, journalDraftInput } from "#sync/store/journal.ts";
import {
  type AttachmentDraftRow,
  type DraftSlot,
  type DraftTarget,
  type SavedDraft,
  toDraftSlotKeys,
} from "#sync/store/pending/draft-keys.ts";
import { listDraftKeys, readDraftRow } from "#sync/store/pending/draft-rows.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { toStoredBytes } from "#sync/store/stored-bytes.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { changeUnsentContent } from "#sync/store/unsent-messages.ts";
import type { Draft } from "#sync/store/view-models.ts";
import { deleteDraft, deleteDraftBytes, draftByteTables } from "./delete-drafts.ts";
import { acquireFreeSlot, acquireReleasedSlot } from "./draft-slots.ts";

const writeDelayMs = 400;
const draftMaxBytes = 200 * 1024 * 1024;

const canBeSent = ({ size }: File): boolean => size > 0 && size <= fileMaxBytes;

/**
 * Saves a draft of files, captions and text on this device until it is sent, so that a crashed page loses nothing. Each
 * page has its own slot of a target. On a phone without room nothing is saved; the draft then exists in its page only.
 */
export class DraftKeeper {
  readonly #port: SyncPort;
  /** Slot under which the draft is saved. */
  readonly slot: DraftSlot;
  readonly #releaseLock: () => void;
  readonly #onStorageFull: () => void;
  readonly #unsubscribe: () => void;
  readonly #blobIds = new Map<File, Uuid>();
  /** The draft, until it is stored. */
  #latest: Draft | undefined;
  #cancelWrite: (() => void) | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #isStorageFull = false;

  private constructor(port: SyncPort, slot: DraftSlot, releaseLock: () => void, onStorageFull: () => void) {
    this.#port = port;
    this.slot = slot;
    this.#releaseLock = releaseLock;
    this.#onStorageFull = onStorageFull;
    this.#unsubscribe = port.platform.onLeave(() => this.#handleLeave());
  }

  /**
   * Opens a slot of the target, preferably one with the draft of a closed or crashed page, which `onRestored` receives.
   * Resolves to undefined if other pages hold all slots. `onStorageFull`: the draft exists in this page only from then
   * on.
   */
  static async open(
    port: SyncPort,
    target: DraftTarget,
    onRestored: (saved: Draft) => void = () => {},
    onStorageFull: () => void = () => {},
  ): Promise<DraftKeeper | undefined> {
    const used = await listDraftKeys(port, requireContext(port).store, target);
    const keys = toDraftSlotKeys(target);
    // The first slots may be in use in a database that does not answer at the moment.
    if (port.isInMemory) keys.reverse();
    const slot =
      (await acquireFreeSlot(port, used)) ??
      (used.length > 0 ? await acquireReleasedSlot(port, used) : undefined) ??
      (await acquireFreeSlot(port, keys));
    if (!slot) return undefined;
    const keeper = new DraftKeeper(port, { target, key: slot.key }, slot.release, onStorageFull);
    const saved = await keeper.load().catch((error: unknown) => console.warn("the draft cannot be read", error));
    if (saved) onRestored(saved);
    return keeper;
  }

  /** Loads the draft that a closed or crashed page left in this slot. */
  async load(): Promise<Draft | undefined> {
    const { store } = requireContext(this.#port);
    const row = await readDraftRow(store, this.slot);
    if (!row) return undefined;
    const blobs = await store.blobs.bulkGet(row.files.map(({ id }) => id));
    const captions = new Map<File, string>();
    const files = row.files.flatMap(({ id, name, type, modified, caption }, index) => {
      const bytes = blobs[index]?.blob;
      if (!bytes) return [];
      const file = new File([bytes], name, { type, lastModified: modified });
      this.#blobIds.set(file, id);
      if (caption !== "") captions.set(file, caption);
      return file;
    });
    const { files: _, ...rest } = row;
    return { ...rest, files, captions };
  }

  /** Saves the draft soon. Cheap enough to call at every keystroke. */
  save(draft: Draft): void {
    this.#latest = draft;
    this.#cancelWrite ??= this.#port.platform.startTimer(writeDelayMs, () => void this.#flush());
  }

  /** Saves the latest state, so that the message can adopt the stored bytes instead of writing them again. */
  async prepareToSend(): Promise<SavedDraft> {
    await this.#flush();
    const { store } = requireContext(this.#port);
    const named = (await readDraftRow(store, this.slot))?.files.map(({ id }) => id) ?? [];
    // A rebuilt database may have the row without the bytes.
    const stored = new Set(await store.blobs.where("file").anyOf(named).primaryKeys());
    return { ...this.slot, savedFiles: new Map([...this.#blobIds].filter(([, id]) => stored.has(id))) };
  }

  /** Journals what was written when the page is left, because the page may close before the store is written. */
  #handleLeave(): void {
    const { text = "", audience } = this.#latest ?? {};
    if (text.trim() !== "" || audience) journalDraftInput(this.#port, this.slot.key, { text, audience });
    void this.#flush();
  }

  /** Deletes the draft, because it was sent or discarded, and releases the slot. */
  async discard(): Promise<void> {
    this.#cancelPending();
    clearJournaledDraftInput(this.#port, this.slot.key);
    await this.#enqueue(() => this.#delete());
    this.#releaseLock();
  }

  /** Saves the latest state and releases the slot; the draft stays on this device. */
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
    this.#writes = this.#writes.then(work).catch((error: unknown) => console.warn("draft could not be saved", error));
    return this.#writes;
  }

  /** Deletes the row and all stored bytes of this draft, including bytes that the row does not name (any more). */
  async #delete(): Promise<void> {
    const { store } = requireContext(this.#port);
    await deleteDraft(store, this.slot);
    await deleteDraftBytes(store, [...this.#blobIds.values()]);
  }

  #flush(): Promise<unknown> {
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
    return this.#enqueue(() => this.#write());
  }

  async #write(): Promise<void> {
    const draft = this.#latest;
    if (!draft || this.#isStorageFull) return;
    const context = requireContext(this.#port);
    try {
      await this.#saveRows(context, draft);
      if (this.#latest !== draft) return;
      this.#latest = undefined;
      clearJournaledDraftInput(this.#port, this.slot.key);
    } catch (error) {
      await this.#delete();
      this.#isStorageFull = isQuotaError(error);
      if (!this.#isStorageFull) throw error;
      this.#onStorageFull();
    }
  }

  /** Writes new bytes first, outside the transaction, since a text must not wait while a large file is written. */
  async #saveRows({ store, strict }: SyncContext, { files, captions, ...rest }: Draft): Promise<void> {
    const before = (await readDraftRow(store, this.slot))?.files ?? [];
    const saved = new Set(before.map(({ id }) => id));
    const sendable = files.filter(canBeSent);
    if (sendable.reduce((sum, { size }) => sum + size, 0) > draftMaxBytes)
      throw new DOMException("draft exceeds the limit", "QuotaExceededError");
    const rows: AttachmentDraftRow["files"] = [];
    for (const file of sendable) {
      const id = this.#blobIds.get(file) ?? createUuid(this.#port.platform.now());
      this.#blobIds.set(file, id);
      if (!saved.has(id)) {
        const blob = await toStoredBytes(strict, file.slice(0, file.size, file.type));
        await strict.blobs.put({ file: id, blob });
      }
      const { name, type, lastModified: modified } = file;
      rows.push({ id, name, type, modified, caption: captions.get(file) ?? "" });
    }
    const removed = before.flatMap(({ id }) => (rows.some((row) => row.id === id) ? [] : id));
    const isEmpty = rows.length === 0 && rest.text === "" && rest.to.length === 0;
    const { target, key } = this.slot;
    await changeUnsentContent(store, target, draftByteTables(store), async () => {
      if (isEmpty) await store.meta.delete(key);
      else await store.meta.put({ key, value: { ...rest, to: [...rest.to], files: rows } });
      await deleteDraftBytes(store, removed);
    });
  }
}
