import type { AttachedBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { LiveQuery } from "#sync/queries/live-queries.ts";
import type { FileView } from "#sync/store/view-models.ts";
import type { Tab } from "#sync/tabs/tab.ts";

type FileViewState = Omit<FileView, "load">;
type FileReference = Pick<AttachedBody, "file" | "mime" | "size">;
export type CachedFile = Pick<LiveQuery<FileViewState>, "subscribe"> & {
  get(): FileViewState;
  load(conversation: ConversationId): void;
};

const lingerMs = 5_000; // scrolled away and back within this it is still there
const usedAtPrecisionMs = 60_000; // how exactly is known when a file was last seen

/** Files as one tab shows them: each has one address however many look at it, given back when nobody does any more. */
export class ObjectUrlCache {
  readonly #tab: Tab;
  readonly #entries = new Map<Uuid, CachedFileEntry>();
  readonly #unsubscribe: () => void;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#unsubscribe = tab.link.subscribe(() => {
      if (tab.link.get() === "online") for (const shelved of this.#entries.values()) shelved.retryAfterOffline();
    });
  }

  get(file: FileReference): CachedFile {
    const known = this.#entries.get(file.file);
    if (known) return known;
    const shelved = new CachedFileEntry(this.#tab, file, (isUsed) => {
      if (isUsed) this.#entries.set(file.file, shelved);
      else if (this.#entries.get(file.file) === shelved) this.#entries.delete(file.file);
    });
    this.#entries.set(file.file, shelved);
    return shelved;
  }

  stop(): void {
    this.#unsubscribe();
    for (const shelved of [...this.#entries.values()]) shelved.release();
  }
}

class CachedFileEntry implements CachedFile {
  readonly #tab: Tab;
  readonly #file: FileReference;
  readonly #onUsedChange: (isUsed: boolean) => void;
  // Until the store has answered nobody is to fetch what may be here.
  readonly #state = new Observable<FileViewState>({ url: undefined, state: "loading" });
  #subscriberCount = 0;
  #cancelRelease = () => {};
  #revokeUrl = () => {};
  #localRead: Promise<void> | undefined;
  #isLoading = false;

  constructor(tab: Tab, file: FileReference, use: (isUsed: boolean) => void) {
    this.#tab = tab;
    this.#file = file;
    this.#onUsedChange = use;
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
        this.#cancelRelease = this.#tab.platform.startTimer(lingerMs, () => {
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

  /** The server is there again. */
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
    const { platform } = this.#tab;
    const store = this.#tab.context.get()?.store;
    const { file } = this.#file;
    const kept = await store?.blobs.get(file);
    if (!store || !kept) return this.#state.set({ url: undefined, state: "absent" });
    this.#showBlob(kept.blob);
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
    this.#state.set({ url: undefined, state: "loading" });
    const { fetchAndCacheFile: fetchFile } = await import("./download-cache.ts").catch(() => {
      throw new SyncError("offline"); // what was never loaded cannot be had without a network
    });
    const context = this.#tab.context.get();
    if (!context) throw new SyncError("unavailable");
    this.#showBlob(await fetchFile(context, conversation, this.#file));
  }

  #showBlob(blob: Blob): void {
    if (this.#subscriberCount === 0 && !this.#localRead) return; // nobody waits for it any more
    this.#revokeUrl();
    // Under the type the server recognised: what a page of ours shows is never a document of its own.
    const { url, revoke } = this.#tab.platform.createObjectUrl(blob.slice(0, blob.size, this.#file.mime));
    this.#revokeUrl = revoke;
    this.#state.set({ url, state: "here" });
  }
}
