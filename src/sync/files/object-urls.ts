import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { Observable } from "#lib/browser/observable.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { LiveQuery } from "#sync/queries/live-queries.ts";
import { toBlob } from "#sync/store/stored-bytes.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { FileView } from "#sync/store/view-models.ts";
import { listUnsentFiles } from "#sync/unsent/messages.ts";

/** URL and load state of a file on screen. */
type FileViewState = Omit<FileView, "load">;
export type FileReference = Pick<AttachedBody, "file" | "mime" | "size">;
export type CachedFile = Pick<LiveQuery<FileViewState>, "subscribe"> & {
  get(): FileViewState;
  load(conversation: ConversationId): void;
};

const lingerMs = 5_000; // a file that was scrolled away and back within this time is still loaded
const usedAtPrecisionMs = 60_000; // `usedAt` of a file is written at most this often

/** Object URLs of the files shown in one tab. Views of a file share one; it is revoked after the last view. */
export class ObjectUrlCache {
  readonly #port: SyncPort;
  readonly #entries = new Map<Uuid, CachedFileEntry>();
  readonly #unsubscribe: () => void;

  constructor(port: SyncPort) {
    this.#port = port;
    this.#unsubscribe = port.link.subscribe(() => {
      if (port.link.get() === "online") for (const entry of this.#entries.values()) entry.retryAfterOffline();
    });
  }

  get(file: FileReference): CachedFile {
    const existing = this.#entries.get(file.file);
    if (existing) return existing;
    const entry = new CachedFileEntry(this.#port, file, (isUsed) => {
      if (isUsed) this.#entries.set(file.file, entry);
      else if (this.#entries.get(file.file) === entry) this.#entries.delete(file.file);
    });
    this.#entries.set(file.file, entry);
    return entry;
  }

  stop(): void {
    this.#unsubscribe();
    for (const entry of [...this.#entries.values()]) entry.release();
  }
}

class CachedFileEntry implements CachedFile {
  readonly #port: SyncPort;
  readonly #file: FileReference;
  readonly #onUsedChange: (isUsed: boolean) => void;
  // "loading" until the store was read, so that no view downloads a file that is stored on this device.
  readonly #state = new Observable<FileViewState>({ url: undefined, state: "loading" });
  #subscriberCount = 0;
  #cancelRelease = () => {};
  #revokeUrl = () => {};
  #localRead: Promise<void> | undefined;
  #isLoading = false;

  constructor(port: SyncPort, file: FileReference, onUsedChange: (isUsed: boolean) => void) {
    this.#port = port;
    this.#file = file;
    this.#onUsedChange = onUsedChange;
  }

  readonly get = (): FileViewState => this.#state.get();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#subscriberCount++;
    this.#cancelRelease();
    this.#onUsedChange(true);
    this.#localRead ??= this.#readLocally().catch(() => this.#state.set({ url: undefined, state: "absent" }));
    const unsubscribe = this.#state.subscribe(listener);
    return () => {
      unsubscribe();
      this.#subscriberCount--;
      if (this.#subscriberCount === 0)
        this.#cancelRelease = this.#port.platform.startTimer(lingerMs, () => {
          if (this.#subscriberCount === 0) this.release();
        });
    };
  };

  load(conversation: ConversationId): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.#download(conversation)
      .catch((error: unknown) => this.#state.set({ url: undefined, state: "failed", error: asSyncError(error).code }))
      .finally(() => {
        this.#isLoading = false;
      });
  }

  /** Offers a download again that failed because the server was out of reach. */
  retryAfterOffline(): void {
    if (this.#state.get().error === "offline") this.#state.set({ url: undefined, state: "absent" });
  }

  release(): void {
    this.#onUsedChange(false);
    this.#revokeUrl();
    this.#revokeUrl = () => {};
    this.#localRead = undefined;
    this.#state.set({ url: undefined, state: "loading" });
  }

  async #readLocally(): Promise<void> {
    const { platform, unsent } = this.#port;
    const store = this.#port.context.get()?.store;
    const { file } = this.#file;
    // Most files are not being sent: the image tells that without reading the database.
    const unsentBytes = listUnsentFiles(unsent).has(file) ? await unsent.bytes.get(file) : undefined;
    if (unsentBytes) return this.#showBlob(unsentBytes);
    const row = await store?.blobs.get(file);
    if (!store || !row) return this.#state.set({ url: undefined, state: "absent" });
    this.#showBlob(toBlob(row.blob));
    const now = platform.now();
    await store.files
      .where("file")
      .equals(file)
      .filter(({ usedAt }) => usedAt < now - usedAtPrecisionMs)
      .modify({ usedAt: now });
  }

  async #download(conversation: ConversationId): Promise<void> {
    this.#localRead ??= this.#readLocally();
    await this.#localRead;
    if (this.#state.get().state === "here") return;
    if (this.#port.link.get() === "offline") throw new SyncError("offline");
    this.#state.set({ url: undefined, state: "loading" });
    const { fetchAndCacheFile } = await import("./download-cache.ts").catch(() => {
      throw new SyncError("offline"); // the code was never loaded and there is no network
    });
    const context = this.#port.context.get();
    if (!context) throw new SyncError("unavailable");
    this.#showBlob(await fetchAndCacheFile(context, conversation, this.#file));
  }

  #showBlob(blob: Blob): void {
    if (this.#subscriberCount === 0 && !this.#localRead) return; // released meanwhile
    this.#revokeUrl();
    // With the type that the server recognised, so that a file never opens as a document of this origin.
    const { url, revoke } = this.#port.platform.createObjectUrl(blob.slice(0, blob.size, this.#file.mime));
    this.#revokeUrl = revoke;
    this.#state.set({ url, state: "here" });
  }
}
