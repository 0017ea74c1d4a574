import type { ConversationId } from "../../contract/ids";
import { inBackground } from "./context";
import { readDraft } from "./queries";
import { isQuotaError } from "./room";
import { draftKey } from "./store";
import type { Tab } from "./tab";

const settleMs = 400;

/** What was typed and not sent yet, kept so that a closed tab does not lose it. The tabs of a person share it. */
export class Drafts {
  readonly #tab: Tab;
  /** What the store does not have yet. */
  #latest = new Map<ConversationId, { text: string }>();
  #cancel: (() => void) | undefined;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  save(conversation: ConversationId, text: string): void {
    this.#latest.set(conversation, { text });
    const flush = () => {
      const context = this.#tab.context.get();
      if (context) inBackground(context, this.flush());
    };
    // What was sent must not come back as a draft, however soon the tab is closed.
    if (text.trim() === "") flush();
    else this.#cancel ??= this.#tab.platform.after(settleMs, flush);
  }

  async read(conversation: ConversationId): Promise<string> {
    const store = this.#tab.context.get()?.store;
    const kept = store ? await readDraft(store, conversation) : "";
    return this.#latest.get(conversation)?.text ?? kept;
  }

  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const meta = this.#tab.context.get()?.store.meta;
    if (!meta) return; // the store is being opened: the drafts wait
    const write = async ([conversation, draft]: [ConversationId, { text: string }]) => {
      const key = draftKey(conversation);
      await (draft.text.trim() === "" ? meta.delete(key) : meta.put({ key, value: draft.text }));
      if (this.#latest.get(conversation) === draft) this.#latest.delete(conversation);
    };
    await Promise.all([...this.#latest].map(write)).catch((error: unknown) => {
      if (!isQuotaError(error)) throw error; // without room it stays with this page
    });
  }
}
