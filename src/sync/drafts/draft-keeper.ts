import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { Draft } from "#sync/store/view-models.ts";
import { listAttachmentDrafts, putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import {
  type AttachmentDraftRow,
  type DraftTarget,
  type OwnedDraft,
  type SavedDraft,
  toDraftKey,
} from "#sync/unsent/attachment-rows.ts";
import { listNamedBytes } from "#sync/unsent/unsent-state.ts";
import { acquireFreeLock, acquireReleasedLock } from "./draft-locks.ts";

const draftMaxBytes = 200 * 1024 * 1024;

const canBeSent = ({ size }: File): boolean => size > 0 && size <= fileMaxBytes;

/** Whether a page left a draft of the target. Waits for one that is being closed. */
export const hasLeftDraft = async (port: SyncPort, target: DraftTarget): Promise<boolean> => {
  const keys = listAttachmentDrafts(port.unsent.list(), target).map(({ key }) => key);
  const lock = (await acquireFreeLock(port, keys)) ?? (await acquireReleasedLock(port, keys));
  lock?.release();
  return lock !== undefined;
};

/**
 * Saves a draft of files, captions and text on this device until it is sent, so that a crashed page loses nothing. Each
 * page has a draft of its own. On a phone without room its files are not saved; they then exist in their page only.
 */
export class DraftKeeper {
  readonly #port: SyncPort;
  readonly draft: OwnedDraft;
  readonly #releaseLock: () => void;
  readonly #onStorageFull: () => void;
  /** Ids of the files, and those whose bytes are stored. */
  readonly #ids = new Map<File, Uuid>();
  readonly #stored = new Set<File>();
  /** The draft as saved last; undefined once it is not saved any more. */
  #latest: Draft | undefined;
  #storing: Promise<unknown> = Promise.resolve();
  #isStorageFull = false;
  #isEnded = false;

  private constructor(port: SyncPort, draft: OwnedDraft, releaseLock: () => void, onStorageFull: () => void) {
    this.#port = port;
    this.draft = draft;
    this.#releaseLock = releaseLock;
    this.#onStorageFull = onStorageFull;
  }

  /**
   * Opens a draft of the target: that of a closed or crashed page, which `onRestored` receives, or a new one. It does not
   * wait for a page that is being closed, because what is chosen meanwhile would not be saved.
   * `onStorageFull`: its files exist in this page only from then on.
   */
  static async open(
    port: SyncPort,
    target: DraftTarget,
    onRestored: (saved: Draft) => void = () => {},
    onStorageFull: () => void = () => {},
  ): Promise<DraftKeeper> {
    const { unsent, platform } = port;
    await unsent.refresh(); // what another page has committed just now
    const left = listAttachmentDrafts(unsent.list(), target).map(({ key }) => key);
    const fresh = toDraftKey(target, createUuid(platform.now()));
    const lock = await acquireFreeLock(port, left);
    if (lock) {
      await unsent.refresh();
      const keeper = new DraftKeeper(port, { target, key: lock.key }, lock.release, onStorageFull);
      try {
        const saved = await keeper.load();
        if (saved) onRestored(saved);
        return keeper;
      } catch (error) {
        console.warn("the draft cannot be read", error); // it stays for another page
        lock.release();
      }
    }
    const own = await acquireFreeLock(port, [fresh]);
    return new DraftKeeper(port, { target, key: fresh }, () => own?.release(), onStorageFull);
  }

  /** Loads the draft that a closed or crashed page left. */
  async load(): Promise<Draft | undefined> {
    const { unsent } = this.#port;
    const row = unsent.find("attachments", this.draft.key);
    if (!row) return undefined;
    const captions = new Map<File, string>();
    const files: File[] = [];
    for (const { id, name, type, modified, caption } of row.files) {
      const bytes = await unsent.bytes.get(id);
      if (!bytes) continue; // the browser has lost them
      const file = new File([bytes], name, { type, lastModified: modified });
      this.#ids.set(file, id);
      this.#stored.add(file);
      if (caption !== "") captions.set(file, caption);
      files.push(file);
    }
    const { isOriginal, text, to, id, audience } = row;
    if (files.length === 0 && text === "" && to.length === 0) {
      await this.#delete();
      return undefined;
    }
    return { files, captions, isOriginal, text, to, ...(id && { id }), ...(audience && { audience }) };
  }

  /** Saves the draft soon. Cheap enough to call at every keystroke. */
  save(draft: Draft): void {
    if (this.#isEnded) return;
    this.#latest = draft;
    const sendable = draft.files.filter(canBeSent);
    for (const file of [...this.#ids.keys()]) if (!sendable.includes(file)) this.#forget(file);
    if (sendable.reduce((sum, { size }) => sum + size, 0) > draftMaxBytes) this.#handleStorageFull();
    for (const file of sendable) if (!this.#ids.has(file) && !this.#isStorageFull) this.#storeBytes(file);
    this.#storeRow(draft);
  }

  /** Saves the latest state, so that the message can adopt the stored bytes instead of writing them again. */
  async prepareToSend(): Promise<SavedDraft> {
    await this.#storing;
    const { unsent } = this.#port;
    const stored = await unsent.bytes.listStored([...this.#ids.values()]);
    const named = new Set(unsent.find("attachments", this.draft.key)?.files.map(({ id }) => id));
    const saved = [...this.#ids].filter(([, id]) => stored.has(id) && named.has(id));
    return { ...this.draft, savedFiles: new Map(saved) };
  }

  /** Deletes the draft, because it was sent or discarded. */
  async discard(): Promise<void> {
    this.#isEnded = true;
    await this.#delete();
    this.#releaseLock();
  }

  /** Saves the latest state and releases the draft, which stays on this device. */
  async close(): Promise<void> {
    await this.#storing;
    this.#isEnded = true;
    await this.#port.unsent.flush().catch(() => undefined); // the journal has it
    this.#releaseLock();
  }

  /** Stores the bytes of a file, one file after another, and then names it in the row. */
  #storeBytes(file: File): void {
    const id = createUuid(this.#port.platform.now());
    this.#ids.set(file, id);
    const store = async () => {
      if (this.#isEnded || this.#isStorageFull) return;
      const { bytes } = this.#port.unsent;
      await bytes.put(id, file.slice(0, file.size, file.type));
      if (this.#ids.get(file) !== id) return bytes.delete([id]); // it was taken out of the draft meanwhile
      this.#stored.add(file);
      if (this.#latest) this.#storeRow(this.#latest);
    };
    this.#storing = this.#storing.then(store).catch((error: unknown) => this.#handleFailure(error));
  }

  /** A file was taken out of the draft, and its bytes go with its place in the row. */
  #forget(file: File): void {
    this.#ids.delete(file);
    this.#stored.delete(file);
  }

  #storeRow({ captions, to, files: chosen, ...rest }: Draft): void {
    if (this.#isEnded) return;
    const files = chosen.flatMap((file): AttachmentDraftRow["files"] => {
      const id = this.#stored.has(file) ? this.#ids.get(file) : undefined;
      if (id === undefined) return [];
      const { name, type, lastModified: modified } = file;
      return [{ id, name, type, modified, caption: captions.get(file) ?? "" }];
    });
    const isEmpty = files.length === 0 && rest.text === "" && to.length === 0;
    const { unsent, platform } = this.#port;
    const change = putAttachmentDraft(
      this.draft,
      isEmpty ? undefined : { ...rest, files, to: [...to] },
      platform.now(),
    );
    unsent.changeAll([change], { isTyped: true }).catch((error: unknown) => this.#handleFailure(error));
  }

  #handleFailure(error: unknown): void {
    if (isQuotaError(error)) this.#handleStorageFull();
    else console.warn("draft could not be saved", error); // it is tried again
  }

  /** Leaves the room of the device to what is sent: the files are not saved any more. */
  #handleStorageFull(): void {
    if (this.#isStorageFull || this.#isEnded) return;
    this.#isStorageFull = true;
    this.#stored.clear();
    if (this.#latest) this.#storeRow(this.#latest);
    void this.#deleteBytes();
    this.#onStorageFull();
  }

  async #delete(): Promise<void> {
    this.#latest = undefined;
    const { unsent, platform } = this.#port;
    await this.#storing;
    await unsent.changeAll([putAttachmentDraft(this.draft, undefined, platform.now())]).catch(() => undefined);
    await this.#deleteBytes();
  }

  /** Deletes all bytes of this draft that no row names. */
  async #deleteBytes(): Promise<void> {
    const { bytes } = this.#port.unsent;
    const named = listNamedBytes(this.#port.unsent.list());
    await bytes.delete([...this.#ids.values()].filter((id) => !named.has(id))).catch(() => undefined);
  }
}
