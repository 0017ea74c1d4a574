import type { LeftEntry } from "#lib/unsent/unsent-journal.ts";
import type { EarlyDraftRow, EarlyUnsent, Reply } from "./unsent.ts";

const table = "drafts";

/**
 * Draft of a first view's conversation. What is typed becomes an entry of the journal of unsent data, which the app
 * commits, in this page or the next one.
 */
export class EarlyDraft {
  readonly #unsent: EarlyUnsent;
  readonly #conversation: string;
  /** Entry that another page has left, or is writing, and whose text is in this field. */
  #left: LeftEntry | undefined;
  /** Row that the field continues: of the database or of `#left`. */
  #row: EarlyDraftRow | undefined;
  /** Time of the committed row. */
  #seenAt: number | undefined;
  #isFieldEmpty = true;

  constructor(unsent: EarlyUnsent, conversation: string) {
    this.#unsent = unsent;
    this.#conversation = conversation;
    this.#findLeft();
  }

  /** Stored text that the field continues; empty if there is none, as far as it is known. */
  get text(): string {
    return this.#row?.text ?? "";
  }

  get reply(): Reply | undefined {
    return this.#row?.reply;
  }

  /** Time of the committed row that the field continues. */
  get seenAt(): number | undefined {
    return this.#seenAt;
  }

  /** Takes the committed draft, unless a page has left a later one. */
  load(committed: EarlyDraftRow | undefined): void {
    this.#seenAt = committed?.at;
    if (committed && committed.at > (this.#row?.at ?? 0)) this.#row = committed;
  }

  /** Row that remains of the draft without its text; undefined if there is none. */
  end(at: number): EarlyDraftRow | undefined {
    if (!this.#row) return undefined;
    const { reply: _, unshared: _unshared, ...row } = this.#row;
    return { ...row, text: "", at, ...(row.shared ? { unshared: { at, isFinal: true } } : {}) };
  }

  /** The draft is committed as `row`, because its text was sent. */
  noteEnd(row: EarlyDraftRow | undefined): void {
    this.#row = row;
    this.#seenAt = row?.at;
    if (this.#isFieldEmpty) this.#unsent.journal.clear(table, this.#conversation);
  }

  /** Saves the text of the field; a blank one ends the draft. Returns false if there is no room for it. */
  save(text: string): boolean {
    const at = Date.now();
    let isSaved = true;
    this.#isFieldEmpty = text.trim() === "";
    if (!this.#isFieldEmpty)
      isSaved = this.#write({ ...this.#row, conversation: this.#conversation, text, at, unshared: { at } });
    else {
      this.#row = this.end(at);
      if (this.#row) isSaved = this.#write(this.#row);
      else this.#unsent.journal.clear(table, this.#conversation);
    }
    if (this.#left && isSaved) this.#unsent.journal.remove(this.#left.id);
    this.#left = undefined;
    return isSaved;
  }

  /**
   * Follows what other pages do with the stored text. `onTaken`: another page continues or has committed what was typed
   * here. `onChange`: the text for a field in which nobody has typed is another one now.
   */
  watch(isTyped: () => boolean, onTaken: () => void, onChange: () => void): void {
    addEventListener("storage", ({ key, oldValue, newValue }) => {
      if (!key?.startsWith(this.#unsent.journal.prefix)) return;
      if (isTyped()) {
        if (key !== this.#unsent.journal.toId(table, this.#conversation) || !oldValue || newValue !== null) return;
        void this.#continueCommitted(JSON.parse(oldValue).row).then(onTaken);
        return;
      }
      this.#findLeft();
      void this.#unsent.read().then((unsent) => {
        this.load(unsent?.draft);
        if (!isTyped()) onChange();
      });
    });
  }

  /**
   * Continues this page's row after another page has committed it. The committed one may contain more, such as a text
   * that was parked. If it has another text, this page's one is a draft beside it.
   */
  async #continueCommitted(own: EarlyDraftRow): Promise<void> {
    const committed = (await this.#unsent.read())?.draft;
    this.#row = committed?.text === own.text ? committed : own;
    this.#seenAt = this.#row.at;
  }

  #write(row: EarlyDraftRow): boolean {
    const seenAt = this.#seenAt === undefined ? {} : { seenAt: this.#seenAt };
    return this.#unsent.journal.write({ table, key: this.#conversation, row, at: row.at, ...seenAt });
  }

  #findLeft(): void {
    const isOfDraft = ({ entry }: LeftEntry) => entry.table === table && entry.key === this.#conversation;
    this.#left = this.#unsent.journal.list(this.#unsent.writer).filter(isOfDraft).at(-1);
    this.#row = this.#left?.entry.row as EarlyDraftRow | undefined;
  }
}
