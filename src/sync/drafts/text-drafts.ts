import type { ConversationId } from "#contract/ids.ts";
import { writeText } from "#sync/outbox/enqueue.ts";
import { readDraft } from "#sync/queries/queries.ts";
import { inBackground } from "#sync/store/context.ts";
import { draftKey } from "#sync/store/database.ts";
import { jotDraft, listDrafts, strikeDraft } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { changeBegun } from "#sync/store/unsent-rows.ts";
import type { Tab } from "#sync/tabs/tab.ts";

const settleMs = 400;
const firstSettleMs = 100; // after a while in which nothing was typed

/** What was typed and not sent yet, kept so that a closed tab does not lose it. The tabs of a person share it. */
export class Drafts {
  readonly #tab: Tab;
  /** What the store does not have yet. */
  #latest = new Map<ConversationId, { text: string }>();
  #cancel: (() => void) | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;

  constructor(tab: Tab) {
    this.#tab = tab;
    // Of pages that were gone before the store had them, and of a store that was lost.
    const takeUp = () => {
      for (const [conversation, text] of listDrafts(this.#place))
        if (!this.#latest.has(conversation)) this.save(conversation, text);
    };
    takeUp();
    tab.context.subscribe(() => {
      if (!tab.context.get()) return;
      takeUp();
      this.#flushLater();
    });
  }

  get #place() {
    return { platform: this.#tab.platform, me: this.#tab.userId };
  }

  save(conversation: ConversationId, text: string): void {
    this.#latest.set(conversation, { text });
    // What was sent must not come back as a draft, however soon the tab is closed.
    if (text.trim() === "") this.#flushInBackground();
    else this.#flushLater();
  }

  #flushLater(): void {
    this.#cancel ??= this.#tab.platform.after(this.#settleMs, () => this.#flushInBackground());
  }

  /** Without a store, which is being opened then, everything waits until there is one. */
  #flushInBackground(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const context = this.#tab.context.get();
    if (context) inBackground(context, this.flush());
  }

  /** What is typed, or pasted, and sent at once is to be kept before that as well. */
  get #settleMs(): number {
    return this.#tab.platform.now() - this.#flushedAt > settleMs ? firstSettleMs : settleMs;
  }

  async read(conversation: ConversationId): Promise<string> {
    const store = this.#tab.context.get()?.store;
    const kept = store ? await readDraft(store, conversation) : "";
    return this.#latest.get(conversation)?.text ?? kept;
  }

  /** Resolves once the message is durably in the outbox; rejects only when it is nowhere. */
  async send(conversation: ConversationId, text: string): Promise<void> {
    const draft = this.#latest.get(conversation);
    await writeText(this.#tab, conversation, text, () => this.#drop(conversation));
    if (this.#latest.get(conversation) === draft) this.#drop(conversation);
  }

  #drop(conversation: ConversationId): void {
    this.#latest.delete(conversation);
    strikeDraft(this.#place, conversation);
  }

  /** The page may be gone before the store has what is given to it now. */
  leave(): void {
    for (const [conversation, { text }] of this.#latest) jotDraft(this.#place, conversation, text);
    this.#flushInBackground();
  }

  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#flushedAt = this.#tab.platform.now();
    const store = this.#tab.context.get()?.store;
    if (!store) return;
    const write = async ([conversation, draft]: [ConversationId, { text: string }]) => {
      const key = draftKey(conversation);
      await changeBegun(store, conversation, [], async () => {
        await (draft.text.trim() === "" ? store.meta.delete(key) : store.meta.put({ key, value: draft.text }));
      });
      if (this.#latest.get(conversation) !== draft) return;
      if (draft.text.trim() === "") this.#drop(conversation);
      else this.#latest.delete(conversation);
    };
    for (const [conversation, { text }] of this.#latest)
      if (text.trim() !== "") jotDraft(this.#place, conversation, text);
    await Promise.all([...this.#latest].map(write)).catch((error: unknown) => {
      if (!isQuotaError(error)) throw error; // without room it stays with this page
    });
  }
}
