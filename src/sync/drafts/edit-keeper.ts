import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { deleteKeptText, keepText } from "./keep-text.ts";
import { type KeptTextScope, listKeptTexts, subscribeToKeptTexts } from "./kept-texts.ts";

type EditKeeperScope = KeptTextScope & { platform: Pick<Platform, "session" | "onLeave" | "onWake"> };

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
    return listKeptTexts(this.#scope, this.#conversation).filter(
      ({ target }) => target !== undefined && this.#targets.includes(target),
    );
  }

  /** Keeps the words as they are now; undefined ends the edit. */
  keep(text: string | undefined): void {
    const kept = this.#list().find(({ id }) => id === this.#id);
    // Another tab that opened the same words goes on with them.
    if (kept && kept.text !== this.text) this.#id = createUuid(this.#scope.platform.now());
    this.text = text;
    if (this.#target === undefined) return;
    if (text === undefined) deleteKeptText(this.#scope, this.#conversation, this.#id);
    else keepText(this.#scope, this.#conversation, text, { id: this.#id, target: this.#target });
  }

  /**
   * Keeps the words again whenever another tab that opened them replaces or deletes them, as long as they stand in the
   * field of this one. Returns a function that ends this.
   */
  watch(): () => void {
    const { platform } = this.#scope;
    const keepAgain = () => this.#keepAgain();
    // A page that was frozen or in the page cache has missed changes.
    const ends = [subscribeToKeptTexts(keepAgain), platform.onLeave(keepAgain), platform.onWake(keepAgain)];
    return () => {
      for (const end of ends) end();
    };
  }

  #keepAgain(): void {
    const { text } = this;
    const { platform } = this.#scope;
    // Signing out in another tab deletes the words for good.
    if (text === undefined || this.#target === undefined || !platform.localStorage || !platform.session.isCurrent())
      return;
    if (this.#list().some((kept) => kept.text.includes(text))) return;
    this.#id = createUuid(platform.now());
    keepText(this.#scope, this.#conversation, text, { id: this.#id, target: this.#target, isEarlier: true });
  }
}
