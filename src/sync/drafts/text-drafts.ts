import type { ConversationId } from "#contract/ids.ts";
import { cleanText } from "#contract/text.ts";
import { readTextDraft } from "#sync/queries/conversation.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import type { ReplyTarget } from "#sync/store/database.ts";
import {
  clearJournaledTextDraft,
  journalTextDraft,
  listJournaledTextDrafts,
  readJournaledTextDraft,
  writeTypingTime,
} from "#sync/store/journal.ts";
import { deleteTextDraft, finishDraftEdits, recordDraftEdit, typingPauseMs } from "#sync/store/pending/draft-edits.ts";
import { toTextDraftKey } from "#sync/store/pending/draft-keys.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { runInBackground } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { changeDraft } from "#sync/store/unsent-messages.ts";
import { keepText } from "./keep-text.ts";
import { ReplyDrafts } from "./reply-drafts.ts";

const flushDelayMs = 400;
const firstFlushDelayMs = 100; // after a pause in typing
const typingStepMs = 1_000; // how exactly other tabs know the time of the last key

/**
 * `at`: when it was written. `isChanged`: the other devices have to learn of it although its text is the same.
 * `isRecovered`: it was read from the journal, where another tab may have changed it since.
 */
type UnsavedDraft = { text: string; at: number; isChanged?: boolean; isRecovered?: boolean };

/**
 * Text drafts of all conversations. They are saved on this device and shared by the tabs of a person. `DraftKeeper`
 * holds the files, captions and recipients of drafts.
 */
export class TextDrafts {
  readonly #port: SyncPort;
  /** Messages that the drafts answer. */
  readonly replies: ReplyDrafts;
  /** Drafts that the store does not have yet. */
  #unsaved = new Map<ConversationId, UnsavedDraft>();
  /** Stored drafts that this tab has seen, so that it recognises what another tab has written since. */
  readonly #seen = new Map<ConversationId, string>();
  /** When somebody last typed in this tab. */
  readonly #typedAt = new Map<ConversationId, number>();
  readonly #markedAt = new Map<ConversationId, number>();
  /** Number of sends whose text may not be stored yet. */
  #sendCount = 0;
  /** Journaled drafts that this tab has written or read. */
  readonly #journaled = new Map<ConversationId, string>();
  #cancelSharing: (() => void) | undefined;
  #cancelFlush: (() => void) | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;

  constructor(port: SyncPort) {
    this.#port = port;
    this.replies = new ReplyDrafts(port);
    // Journaled drafts: their page closed before the store was written, or the store was lost.
    const recoverJournal = () => {
      for (const [conversation, text] of listJournaledTextDrafts(this.#port))
        if (!this.#unsaved.has(conversation)) {
          this.#unsaved.set(conversation, { text, at: port.platform.now(), isRecovered: true });
          this.#journaled.set(conversation, text);
          this.#scheduleFlush();
        }
    };
    recoverJournal();
    port.context.subscribe(() => {
      if (!port.context.get()) return;
      recoverJournal();
      this.#scheduleFlush();
    });
  }

  /**
   * Saves what somebody types in the field of a conversation, soon; an empty text deletes the draft. `before`: what
   * stood in the field. A draft of another tab that was not in it becomes a kept text.
   */
  type(conversation: ConversationId, text: string, before?: string): void {
    const now = this.#port.platform.now();
    this.#typedAt.set(conversation, now);
    if (Math.abs(now - (this.#markedAt.get(conversation) ?? 0)) >= typingStepMs) {
      this.#markedAt.set(conversation, now);
      writeTypingTime(this.#port, conversation);
    }
    this.save(conversation, text, before);
  }

  /**
   * Calls the listener when nobody types in the field of a conversation: at once, or after a pause. Returns a function
   * that cancels it.
   */
  afterTyping(conversation: ConversationId, listener: () => void): () => void {
    const sinceTyped = this.#port.platform.now() - (this.#typedAt.get(conversation) ?? 0);
    const restMs = typingPauseMs - typingStepMs - sinceTyped;
    let cancel = () => {};
    if (restMs > 0)
      cancel = this.#port.platform.startTimer(restMs, () => {
        cancel = this.afterTyping(conversation, listener);
      });
    else listener();
    return () => cancel();
  }

  /** Sets the message that a draft answers; undefined makes it an ordinary draft. */
  setReply(conversation: ConversationId, target: ReplyTarget | undefined): void {
    this.replies.set(conversation, target);
    const share = async () => {
      const text = await this.read(conversation);
      if (text.trim() === "") return;
      if (!this.#unsaved.has(conversation)) this.#seen.set(conversation, text);
      this.#unsaved.set(conversation, { text, at: this.#port.platform.now(), isChanged: true });
      this.#scheduleFlush();
    };
    const context = this.#port.context.get();
    if (context) runInBackground(context, share());
  }

  /** Sends the changed drafts to the other devices at once, because a chat is left or the page is hidden. */
  async share(): Promise<void> {
    await this.flush();
    const store = this.#port.context.get()?.store;
    if (!store || (await finishDraftEdits(store)) === 0) return;
    this.#cancelSharing?.();
    this.#cancelSharing = undefined;
    this.#port.notifyChanged("drafts");
  }

  #scheduleSharing(): void {
    this.#cancelSharing?.();
    this.#cancelSharing = this.#port.platform.startTimer(typingPauseMs, () => this.#port.notifyChanged("drafts"));
  }

  /** Saves a draft soon; an empty text deletes it. `before`: the draft that it replaces; any by default. */
  save(conversation: ConversationId, text: string, before?: string): void {
    if (before === undefined) this.#seen.delete(conversation);
    else if (!this.#unsaved.has(conversation)) this.#seen.set(conversation, before);
    this.#unsaved.set(conversation, { text, at: this.#port.platform.now() });
    // Deleted at once: a sent text must not return as a draft, however soon the tab is closed.
    if (text.trim() === "") this.#flushInBackground();
    else this.#scheduleFlush();
  }

  /** Whether another tab or device has written a draft that this tab does not show. */
  #isUnseen(conversation: ConversationId, stored: string): boolean {
    const seen = this.#seen.get(conversation);
    return seen !== undefined && stored.trim() !== "" && stored !== seen;
  }

  #scheduleFlush(): void {
    this.#cancelFlush ??= this.#port.platform.startTimer(this.#nextFlushDelayMs, () => this.#flushInBackground());
  }

  /** Writes now, or when the store is opened. */
  #flushInBackground(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const context = this.#port.context.get();
    if (context) runInBackground(context, this.flush());
  }

  /** Short after a pause, so that a text that is typed or pasted and sent at once was saved before. */
  get #nextFlushDelayMs(): number {
    return this.#port.platform.now() - this.#flushedAt > flushDelayMs ? firstFlushDelayMs : flushDelayMs;
  }

  /** Draft that the store does not have yet. */
  findUnsaved(conversation: ConversationId): string | undefined {
    return this.#unsaved.get(conversation)?.text;
  }

  async read(conversation: ConversationId): Promise<string> {
    const store = this.#port.context.get()?.store;
    const stored = store ? await readTextDraft(store, conversation) : "";
    return this.findUnsaved(conversation) ?? stored;
  }

  /**
   * Sends a text and deletes its draft, with the message that it answers. Resolves once the message is durable in the
   * outbox; rejects with a SyncError only if it is stored nowhere.
   */
  async send(conversation: ConversationId, text: string): Promise<void> {
    const draft = this.#unsaved.get(conversation);
    const target = this.replies.find(conversation);
    let isJournaled = false;
    const isMarkedSent = () => readJournaledTextDraft(this.#port, conversation) === "";
    this.#sendCount++;
    try {
      const sending = enqueueText(this.#port, conversation, text, {
        // Until the stored draft is deleted, the journal says that it was sent. Any tab may write a new one meanwhile.
        onJournaled: () => {
          isJournaled = true;
          this.#unsaved.delete(conversation);
          if (!this.#hasOtherDraft(conversation, text)) this.#journal(conversation, "");
        },
        target,
        isDraftSent: (stored) =>
          text.includes(cleanText(stored)) || (draft !== undefined && !this.#isUnseen(conversation, stored)),
      });
      this.replies.set(conversation, undefined);
      await sending;
    } catch (error) {
      if (isMarkedSent()) this.#journal(conversation, text);
      if (this.replies.find(conversation) === undefined) this.replies.set(conversation, target);
      throw error;
    } finally {
      this.#sendCount--;
    }
    // A later text of which the draft is not deleted yet needs the mark too.
    if (isJournaled ? this.#sendCount === 0 && isMarkedSent() : this.#unsaved.get(conversation) === draft)
      this.#clear(conversation);
  }

  #journal(conversation: ConversationId, text: string): void {
    this.#journaled.set(conversation, text);
    journalTextDraft(this.#port, conversation, text);
  }

  /** Whether the journal has a draft of another tab that neither this tab has shown nor the sent text contains. */
  #hasOtherDraft(conversation: ConversationId, sent = ""): boolean {
    const journaled = readJournaledTextDraft(this.#port, conversation) ?? "";
    const known = [this.#journaled.get(conversation), this.#seen.get(conversation)];
    return !sent.includes(cleanText(journaled)) && !known.includes(journaled);
  }

  #clear(conversation: ConversationId): void {
    this.#unsaved.delete(conversation);
    if (!this.#hasOtherDraft(conversation)) clearJournaledTextDraft(this.#port, conversation);
  }

  /** Writes unsaved drafts to the journal, then to the store: the page may close before the store is written. */
  flushToJournal(): void {
    for (const [conversation, { text, isRecovered }] of this.#unsaved)
      if (!isRecovered && (text.trim() !== "" || !this.#hasOtherDraft(conversation))) this.#journal(conversation, text);
    this.#flushInBackground();
  }

  async flush(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#flushedAt = this.#port.platform.now();
    const store = this.#port.context.get()?.store;
    if (!store) return;
    const write = async ([conversation, draft]: [ConversationId, UnsavedDraft]) => {
      const isEmpty = draft.text.trim() === "";
      const isChanged = await changeDraft(store, conversation, [], async () => {
        if (draft.isRecovered && readJournaledTextDraft(this.#port, conversation) !== draft.text) {
          if (this.#unsaved.get(conversation) === draft) this.#unsaved.delete(conversation);
          return undefined; // another tab stores the later one
        }
        const stored = await readTextDraft(store, conversation);
        if (!draft.isChanged && stored === (isEmpty ? "" : draft.text)) return false;
        if (this.#isUnseen(conversation, stored) && !draft.text.includes(stored.trim())) {
          if (isEmpty) return false; // an emptied field ends only the text that stood in it
          if (!keepText(this.#port, conversation, stored)) return undefined; // no room: it stays in its page
        }
        this.#seen.set(conversation, isEmpty ? "" : draft.text);
        const { at } = draft;
        if (isEmpty) await deleteTextDraft(store, conversation, at);
        else {
          await store.meta.put({ key: toTextDraftKey(conversation), value: draft.text });
          await recordDraftEdit(store, conversation, { at });
        }
        return true;
      });
      if (isChanged === undefined) return;
      if (isChanged && isEmpty) this.#port.notifyChanged("drafts");
      else if (isChanged) this.#scheduleSharing();
      if (this.#unsaved.get(conversation) !== draft) return;
      if (draft.text.trim() === "") this.#clear(conversation);
      else this.#unsaved.delete(conversation);
    };
    for (const [conversation, { text, isRecovered }] of this.#unsaved)
      if (text.trim() !== "" && !isRecovered) this.#journal(conversation, text);
    await Promise.all([...this.#unsaved].map(write)).catch((error: unknown) => {
      if (!isQuotaError(error)) throw error; // without room the drafts stay in this page only
    });
  }
}
