import { requestFromWorker } from "#lib/browser/worker-request.ts";
import type { EarlyDraft } from "./draft.ts";
import type { EarlyMessage, EarlyUnsent, Reply } from "./unsent.ts";

const retryMs = 5_000;

type EarlyOutboxOptions = {
  view: HTMLElement;
  user: string;
  conversation: string;
  unsent: EarlyUnsent;
  draft: EarlyDraft;
  /** Called for a stored message, with the server's time of it if that is known. */
  onStored: (cid: string, at: number | undefined) => void;
};

const isClientId = (reply: Reply): reply is string => typeof reply === "string" && !reply.includes(":");

/**
 * Texts that are sent in a first view. Each is written to the journal at once and to the unsent database, like those of
 * the app, and the service worker is asked to send it, which it does also after the page was closed. Without a worker,
 * as at a browser's first visit, the app sends it when it has loaded.
 * `data-sent` of the view: client id of the last one, which the app reads before it takes over.
 */
export class EarlyOutbox {
  readonly #options: EarlyOutboxOptions;
  /** Messages that are shown with a clock. */
  readonly #waiting = new Set<string>();
  #lastOrder = 0;
  #isTrying = false;
  /** The server has refused a message for good: the app explains it. */
  #isRefused = false;

  constructor(options: EarlyOutboxOptions) {
    this.#options = options;
    options.unsent.onChange(() => void this.#showStored());
  }

  /**
   * Stores a text at once and asks the worker to send it. `draft`: what it leaves of the draft. Returns false, without
   * any change, if there is no room for it.
   */
  add({ cid, text, reply }: { cid: string; text: string; reply: Reply | undefined }, createdAt: number): boolean {
    const { view, conversation, unsent, draft } = this.#options;
    const at = Date.now();
    // Behind everything else on this device, whose orders are counted, without waiting until that was read.
    this.#lastOrder = Math.max(this.#lastOrder + 1, at);
    const message: EarlyMessage = {
      cid,
      conversation,
      order: this.#lastOrder,
      body: { type: "text", text, ...(reply === undefined || isClientId(reply) ? {} : { reply }) },
      ...(reply !== undefined && isClientId(reply) ? { replyTo: reply } : {}),
      // Only the app knows the members of a group whom a text may mention.
      ...(text.includes("@") && !conversation.includes(".") ? { mayMention: true } : {}),
      ...{ state: "queued", attempts: 0, createdAt, at },
    };
    if (!unsent.journal.write({ table: "outbox", key: cid, row: message, at })) return false;
    view.dataset["sent"] = cid;
    const left = draft.end(at);
    const { seenAt } = draft;
    draft.save("");
    void unsent.commit(message, left, seenAt).then((isCommitted) => {
      if (!isCommitted) return; // the app sends what is in the journal
      draft.noteEnd(left);
      this.#wait(cid);
    });
    return true;
  }

  /** Shows and sends the texts that an earlier page left and that the document does not contain. */
  resume(
    messages: readonly EarlyMessage[],
    isShown: (cid: string) => boolean,
    show: (message: EarlyMessage) => void,
  ): void {
    for (const message of messages) {
      const { cid, body, state, sent, at } = message;
      // Others are the app's; those written since are of another tab, which shows and sends them.
      if (state !== "queued" || body.type !== "text" || at > performance.timeOrigin) continue;
      if (!isShown(cid)) show(message);
      if (!sent) this.#wait(cid);
    }
  }

  #wait(cid: string): void {
    this.#waiting.add(cid);
    this.#requestSending();
  }

  /** Asks the worker, again and again until the app has taken over: there may be no network. */
  #requestSending(): void {
    const { view, user, conversation } = this.#options;
    if (this.#isRefused) return;
    void requestFromWorker({ type: "send-unsent", user, conversation }, ({ isRefused = false }) => {
      this.#isRefused ||= isRefused;
    });
    if (this.#isTrying) return;
    this.#isTrying = true;
    setTimeout(() => {
      this.#isTrying = false;
      if (this.#waiting.size > 0 && view.isConnected) this.#requestSending();
    }, retryMs);
  }

  /** Shows the ticks of messages that the worker, or the app in another tab, has sent. */
  async #showStored(): Promise<void> {
    const { view, unsent, onStored } = this.#options;
    if (this.#waiting.size === 0 || !view.isConnected) return;
    const stored = await unsent.read();
    if (!stored) return;
    const rows = new Map(stored.messages.map((row) => [row.cid, row]));
    for (const cid of this.#waiting) {
      const row = rows.get(cid);
      if (row && !row.sent) continue;
      this.#waiting.delete(cid);
      onStored(cid, row?.sent?.at); // without a row: the app has stored it in the log
    }
  }
}
