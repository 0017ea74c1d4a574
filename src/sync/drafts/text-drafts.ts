import { type ConversationId, createUuid } from "#contract/ids.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import {
  endSentText,
  finishTyping,
  type ReplyTarget,
  setReply,
  typeText,
  typingPauseMs,
} from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft, toDraftChange } from "#sync/unsent/drafts.ts";
import type { ChangeOptions } from "#sync/unsent/unsent-store.ts";

/** Pause in typing after which a field shows what was written elsewhere. */
const shownPauseMs = 2_000;

/**
 * Text drafts of all conversations, as one tab changes them. They stand in the unsent database (`draft-row.ts`) and are
 * shared by the tabs and devices of a person. `DraftKeeper` holds the files, captions and recipients of drafts.
 */
export class TextDrafts {
  readonly #port: SyncPort;
  /** Texts of the fields of this tab, as typed last. */
  readonly #shown = new Map<ConversationId, string>();
  /** When somebody last typed in this tab. */
  readonly #typedAt = new Map<ConversationId, number>();
  #cancelSharing: (() => void) | undefined;

  constructor(port: SyncPort) {
    this.#port = port;
  }

  /** Draft as this tab knows it, with what was typed at this moment; empty if there is none. */
  read(conversation: ConversationId): string {
    return findDraft(this.#port.unsent, conversation).text;
  }

  /** Message that the draft answers. */
  findReply(conversation: ConversationId): ReplyTarget | undefined {
    return findDraft(this.#port.unsent, conversation).reply;
  }

  /**
   * Saves what somebody types in the field of a conversation, soon; an empty text deletes the draft. `before`: what
   * stood in the field. A draft of another tab that was not in it is parked. Cheap to call at every keystroke.
   */
  type(conversation: ConversationId, text: string, before?: string): void {
    this.#typedAt.set(conversation, this.#port.platform.now());
    this.save(conversation, text, before);
  }

  /**
   * Calls the listener when nobody types in the field of a conversation: at once, or after a pause. Returns a function
   * that cancels it.
   */
  afterTyping(conversation: ConversationId, listener: () => void): () => void {
    const { platform } = this.#port;
    const restMs = shownPauseMs - (platform.now() - (this.#typedAt.get(conversation) ?? 0));
    let cancel = () => {};
    if (restMs > 0)
      cancel = platform.startTimer(restMs, () => {
        cancel = this.afterTyping(conversation, listener);
      });
    else listener();
    return () => cancel();
  }

  /** As `type`, for a text that was not typed. */
  save(conversation: ConversationId, text: string, before?: string): void {
    const at = this.#port.platform.now();
    const typed = { text, before, at, parkedId: createUuid(at) };
    this.#shown.set(conversation, text);
    // Ended at once: an emptied draft must not return, however soon the tab is closed.
    const isEmptied = text.trim() === "";
    if (typeText(findDraft(this.#port.unsent, conversation), typed).text === this.read(conversation)) return;
    void this.#change(conversation, (draft) => typeText(draft, typed), { isTyped: !isEmptied }).then(() => {
      if (isEmptied) this.#port.notifyChanged("drafts");
    });
    if (!isEmptied) this.#scheduleSharing();
  }

  /** Sets the message that a draft answers; undefined makes it an ordinary draft. */
  setReply(conversation: ConversationId, target: ReplyTarget | undefined): void {
    if (this.findReply(conversation) === target) return;
    const at = this.#port.platform.now();
    void this.#change(conversation, (draft) => setReply(draft, target, at));
    this.#scheduleSharing();
  }

  /**
   * Sends a text and ends its draft, with the message that it answers, in one transaction. Resolves as `enqueueText`;
   * rejects with a SyncError if the text cannot be sent, and the draft stays then.
   */
  async send(conversation: ConversationId, text: string): Promise<void> {
    const at = this.#port.platform.now();
    const shown = this.#shown.get(conversation);
    const end = toDraftChange(conversation, (draft) => endSentText(draft, text, shown, at));
    await enqueueText(this.#port, conversation, text, { target: this.findReply(conversation), others: [end] });
    this.#port.notifyChanged("drafts");
  }

  /** Sends the changed drafts to the other devices at once, because a chat is left or the page is hidden. */
  async share(): Promise<void> {
    const { unsent } = this.#port;
    await this.flush();
    const typed = [...unsent.list().drafts.values()].filter(({ unshared }) => unshared && !unshared.isFinal);
    if (typed.length === 0) return;
    await Promise.all(typed.map(({ conversation }) => this.#change(conversation, finishTyping)));
    this.#cancelSharing?.();
    this.#cancelSharing = undefined;
    this.#port.notifyChanged("drafts");
  }

  /** Commits what was typed. Without room it stays in the image and the journal. */
  async flush(): Promise<void> {
    await this.#port.unsent.flush().catch(() => undefined);
  }

  /** A change that could not be committed stays in the image and the journal, and is tried again. */
  #change(conversation: ConversationId, change: Parameters<typeof changeDraft>[2], options?: ChangeOptions) {
    return changeDraft(this.#port.unsent, conversation, change, options).catch(() => undefined);
  }

  #scheduleSharing(): void {
    this.#cancelSharing?.();
    this.#cancelSharing = this.#port.platform.startTimer(typingPauseMs, () => this.#port.notifyChanged("drafts"));
  }
}
