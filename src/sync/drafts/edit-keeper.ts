import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { type DraftRow, parkText, unparkText } from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";

type EditKeeperScope = Pick<SyncPort, "unsent" | "platform">;

/** Keeps the words of an edit that is being typed in one tab. Those of another tab have an entry of their own. */
export class EditKeeper {
  readonly #scope: EditKeeperScope;
  readonly #conversation: ConversationId;
  readonly #target: number | Uuid | undefined;
  readonly #targets: readonly (number | Uuid)[];
  #id: string;
  /** Words as this tab has kept them, undefined without any. At first those that were typed last, in whichever tab. */
  text: string | undefined;

  constructor(scope: EditKeeperScope, conversation: ConversationId, { seq, cid }: { seq?: number; cid?: Uuid }) {
    this.#scope = scope;
    this.#conversation = conversation;
    this.#target = seq ?? cid;
    this.#targets = [seq, cid].filter((one) => one !== undefined);
    const kept = this.#list().at(-1);
    this.#id = kept?.id ?? createUuid(scope.platform.now());
    this.text = kept?.text;
  }

  /** Words of edits of this message that any tab has kept. */
  #list() {
    const { parked = [] } = findDraft(this.#scope.unsent, this.#conversation);
    return parked.filter(({ target }) => target !== undefined && this.#targets.includes(target));
  }

  /** Keeps the words as they are now; undefined ends the edit. */
  keep(text: string | undefined): void {
    const kept = this.#list().find(({ id }) => id === this.#id);
    // Another tab that opened the same words goes on with them.
    if (kept && kept.text !== this.text) this.#id = createUuid(this.#scope.platform.now());
    this.text = text;
    if (this.#target === undefined) return;
    const [id, target] = [this.#id, this.#target];
    if (text === undefined) this.#change((draft) => unparkText(draft, id));
    else this.#change((draft) => parkText(draft, { id, text, target }), true);
  }

  /**
   * Keeps the words again whenever another tab that opened them replaces or deletes them, as long as they stand in the
   * field of this one. Returns a function that ends this.
   */
  watch(): () => void {
    const { platform, unsent } = this.#scope;
    const keepAgain = () => this.#keepAgain();
    // A page that was frozen or in the page cache has missed changes.
    const ends = [unsent.state.subscribe(keepAgain), platform.onLeave(keepAgain), platform.onWake(keepAgain)];
    return () => {
      for (const end of ends) end();
    };
  }

  #keepAgain(): void {
    const { text } = this;
    const { platform } = this.#scope;
    // Signing out in another tab deletes the words for good.
    if (text === undefined || this.#target === undefined || !platform.session.isCurrent()) return;
    if (this.#list().some((kept) => kept.text.includes(text))) return;
    this.#id = createUuid(platform.now());
    const parked = { id: this.#id, text, target: this.#target };
    this.#change((draft) => parkText(draft, parked, true));
  }

  /** Changes the draft. A change that cannot be committed stays in this page and the journal, and is tried again. */
  #change(change: (draft: DraftRow) => DraftRow, isTyped = false): void {
    const { unsent } = this.#scope;
    void changeDraft(unsent, this.#conversation, change, { isTyped }).catch(() => undefined);
  }
}
