import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { deleteKeptText, keepText } from "./keep-text.ts";
import { type KeptTextScope, listKeptTexts } from "./kept-texts.ts";

/** Keeps the words of an edit that is being typed in one tab. Those of another tab have an entry of their own. */
export class EditKeeper {
  readonly #scope: KeptTextScope;
  readonly #conversation: ConversationId;
  readonly #target: number | Uuid | undefined;
  #id: string;
  /** Words as this tab has kept them, undefined without any. At first those that were typed last, in whichever tab. */
  text: string | undefined;

  constructor(scope: KeptTextScope, conversation: ConversationId, { seq, cid }: { seq?: number; cid?: Uuid }) {
    this.#scope = scope;
    this.#conversation = conversation;
    this.#target = seq ?? cid;
    const targets = [seq, cid].filter((one) => one !== undefined);
    const kept = listKeptTexts(scope, conversation).findLast(({ target }) => target && targets.includes(target));
    this.#id = kept?.id ?? createUuid(scope.platform.now());
    this.text = kept?.text;
  }

  /** Keeps the words as they are now; undefined ends the edit. */
  keep(text: string | undefined): void {
    const kept = listKeptTexts(this.#scope, this.#conversation).find(({ id }) => id === this.#id);
    // Another tab that opened the same words goes on with them.
    if (kept && kept.text !== this.text) this.#id = createUuid(this.#scope.platform.now());
    this.text = text;
    if (this.#target === undefined) return;
    if (text === undefined) deleteKeptText(this.#scope, this.#conversation, this.#id);
    else keepText(this.#scope, this.#conversation, text, { id: this.#id, target: this.#target });
  }
}
