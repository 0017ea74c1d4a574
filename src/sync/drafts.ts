import type { ConversationId } from "../../contract/ids";
import { inBackground } from "./context";
import { draftKey } from "./store";
import type { Tab } from "./tab";

const settleMs = 400;

/** What was typed and not sent yet, kept so that a closed tab does not lose it. */
export class Drafts {
  readonly #tab: Tab;
  #latest = new Map<ConversationId, string>();
  #cancel: (() => void) | undefined;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  save(conversation: ConversationId, text: string): void {
    this.#latest.set(conversation, text);
    const flush = () => {
      const context = this.#tab.context.get();
      if (context) inBackground(context, this.flush());
    };
    // What was sent must not come back as a draft, however soon the tab is closed.
    if (text.trim() === "") flush();
    else this.#cancel ??= this.#tab.platform.after(settleMs, flush);
  }

  async read(conversation: ConversationId): Promise<string> {
    const latest = this.#latest.get(conversation);
    if (latest !== undefined) return latest;
    const row = await this.#tab.context.get()?.store.meta.get(draftKey(conversation));
    return typeof row?.value === "string" ? row.value : "";
  }

  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const meta = this.#tab.context.get()?.store.meta;
    if (!meta) return; // the store is being opened: the drafts wait
    const drafts = [...this.#latest];
    this.#latest.clear();
    await Promise.all(
      drafts.map(([conversation, text]) => {
        const key = draftKey(conversation);
        return text.trim() === "" ? meta.delete(key) : meta.put({ key, value: text });
      }),
    );
  }
}
