import type { AttachedBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { Live } from "#sync/queries/live-queries.ts";
import type { FileView } from "#sync/store/views.ts";
import type { Tab } from "#sync/tabs/tab.ts";

type Shown = Omit<FileView, "load">;
type File = Pick<AttachedBody, "file" | "mime" | "size">;
export type ShelvedFile = Pick<Live<Shown>, "subscribe"> & { get(): Shown; load(conversation: ConversationId): void };

const lingerMs = 5_000; // scrolled away and back within this it is still there
const usedAgainMs = 60_000; // how exactly is known when a file was last seen

/** Files as one tab shows them: each has one address however many look at it, given back when nobody does any more. */
export class Shelf {
  readonly #tab: Tab;
  readonly #all = new Map<Uuid, Shelved>();
  readonly #unsubscribe: () => void;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#unsubscribe = tab.link.subscribe(() => {
      if (tab.link.get() === "online") for (const shelved of this.#all.values()) shelved.tryAgain();
    });
  }

  of(file: File): ShelvedFile {
    const known = this.#all.get(file.file);
    if (known) return known;
    const shelved = new Shelved(this.#tab, file, (isUsed) => {
      if (isUsed) this.#all.set(file.file, shelved);
      else if (this.#all.get(file.file) === shelved) this.#all.delete(file.file);
    });
    this.#all.set(file.file, shelved);
    return shelved;
  }

  stop(): void {
    this.#unsubscribe();
    for (const shelved of [...this.#all.values()]) shelved.end();
  }
}

class Shelved implements ShelvedFile {
  readonly #tab: Tab;
  readonly #file: File;
  readonly #use: (isUsed: boolean) => void;
  // Until the store has answered nobody is to fetch what may be here.
  readonly #shown = new Observable<Shown>({ url: undefined, state: "loading" });
  #lookers = 0;
  #cancelEnd = () => {};
  #giveBack = () => {};
  #looking: Promise<void> | undefined;
  #isLoading = false;

  constructor(tab: Tab, file: File, use: (isUsed: boolean) => void) {
    this.#tab = tab;
    this.#file = file;
    this.#use = use;
  }

  readonly get = (): Shown => this.#shown.get();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#lookers++;
    this.#cancelEnd();
    this.#use(true);
    this.#looking ??= this.#look().catch(() => this.#shown.set({ url: undefined, state: "absent" }));
    const unsubscribe = this.#shown.subscribe(listener);
    return () => {
      unsubscribe();
      this.#lookers--;
      if (this.#lookers === 0)
        this.#cancelEnd = this.#tab.platform.after(lingerMs, () => {
          if (this.#lookers === 0) this.end();
        });
    };
  };

  load(conversation: ConversationId): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.#fetch(conversation)
      .catch((error: unknown) => this.#shown.set({ url: undefined, state: "failed", error: asSyncError(error).code }))
      .finally(() => {
        this.#isLoading = false;
      });
  }

  /** The server is there again. */
  tryAgain(): void {
    if (this.#shown.get().error === "offline") this.#shown.set({ url: undefined, state: "absent" });
  }

  end(): void {
    this.#use(false);
    this.#giveBack();
    this.#giveBack = () => {};
    this.#looking = undefined;
    this.#shown.set({ url: undefined, state: "loading" });
  }

  async #look(): Promise<void> {
    const { platform } = this.#tab;
    const store = this.#tab.context.get()?.store;
    const { file } = this.#file;
    const kept = await store?.blobs.get(file);
    if (!store || !kept) return this.#shown.set({ url: undefined, state: "absent" });
    this.#show(kept.blob);
    const now = platform.now();
    await store.files
      .where("file")
      .equals(file)
      .filter(({ usedAt }) => usedAt < now - usedAgainMs)
      .modify({ usedAt: now });
  }

  async #fetch(conversation: ConversationId): Promise<void> {
    this.#looking ??= this.#look();
    await this.#looking;
    if (this.#shown.get().state === "here") return;
    this.#shown.set({ url: undefined, state: "loading" });
    const { fetchFile } = await import("./download-cache.ts").catch(() => {
      throw new SyncError("offline"); // what was never loaded cannot be had without a network
    });
    const context = this.#tab.context.get();
    if (!context) throw new SyncError("unavailable");
    this.#show(await fetchFile(context, conversation, this.#file));
  }

  #show(blob: Blob): void {
    if (this.#lookers === 0 && !this.#looking) return; // nobody waits for it any more
    this.#giveBack();
    // Under the type the server recognised: what a page of ours shows is never a document of its own.
    const { url, undo } = this.#tab.platform.createUrl(blob.slice(0, blob.size, this.#file.mime));
    this.#giveBack = undo;
    this.#shown.set({ url, state: "here" });
  }
}
