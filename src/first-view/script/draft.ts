import { createUuid } from "#contract/ids.ts";
import { toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { type LeftEntry, UnsentJournal } from "#lib/unsent/unsent-journal.ts";

/** Message that a draft answers, by seq or client id. */
type Reply = number | string;

/** Row of the table `drafts`, as far as this script reads it. The app defines it (`src/sync/unsent/draft-row.ts`). */
type Draft = { conversation: string; text: string; at: number; reply?: Reply; unshared?: unknown; shared?: unknown };

const table = "drafts";

const findStorage = (): Storage | undefined => {
  try {
    return localStorage;
  } catch {
    return undefined; // denied
  }
};

const readCommitted = async (user: string, conversation: string): Promise<Draft | undefined> => {
  const database = new UnsentDatabase(user, { indexedDB, openChannel: () => undefined });
  try {
    return await database.read([table], (access) => toPromise(access(table).get(conversation)));
  } catch {
    return undefined; // the app reports a database that does not work
  } finally {
    database.close();
  }
};

/**
 * Draft of a first view's conversation. What is typed becomes an entry of the journal of unsent data, which the app
 * commits, in this page or the next one. `data-writer` of the view identifies the entries of this page.
 */
export class EarlyDraft {
  readonly #user: string;
  readonly #conversation: string;
  readonly #writer = createUuid();
  readonly #journal: UnsentJournal;
  /** Entry that another page has left, or is writing, and whose text is in this field. */
  #left: LeftEntry | undefined;
  /** Row that the field continues: of the database or of `#left`. */
  #row: Draft | undefined;
  /** Time of the committed row. */
  #seenAt: number | undefined;

  constructor(view: HTMLElement, user: string, conversation: string) {
    view.dataset["writer"] = this.#writer;
    this.#user = user;
    this.#conversation = conversation;
    this.#journal = new UnsentJournal(user, findStorage(), this.#writer);
    this.#findLeft();
  }

  /** Stored text that the field continues; empty if there is none, as far as it is known. */
  get text(): string {
    return this.#row?.text ?? "";
  }

  get reply(): Reply | undefined {
    return this.#row?.reply;
  }

  /** Reads the committed draft, unless a page has left a later one. */
  async load(): Promise<void> {
    const committed = await readCommitted(this.#user, this.#conversation);
    this.#seenAt = committed?.at;
    if (committed && committed.at > (this.#row?.at ?? 0)) this.#row = committed;
  }

  /** Saves the text of the field; a blank one ends the draft. Returns false if there is no room for it. */
  save(text: string): boolean {
    const at = Date.now();
    let isSaved = true;
    if (text.trim() !== "")
      isSaved = this.#write({ ...this.#row, conversation: this.#conversation, text, at, unshared: { at } });
    else if (this.#row) {
      const { reply: _, unshared: _unshared, ...row } = this.#row;
      this.#row = { ...row, text: "", at, ...(row.shared ? { unshared: { at, isFinal: true } } : {}) };
      isSaved = this.#write(this.#row);
    } else this.#journal.clear(table, this.#conversation);
    if (this.#left && isSaved) this.#journal.remove(this.#left.id);
    this.#left = undefined;
    return isSaved;
  }

  /**
   * Follows what other pages do with the stored text. `onTaken`: another page continues or has committed what was typed
   * here. `onChange`: the text for a field in which nobody has typed is another one now.
   */
  watch(isTyped: () => boolean, onTaken: () => void, onChange: () => void): void {
    addEventListener("storage", ({ key, oldValue, newValue }) => {
      if (!key?.startsWith(this.#journal.prefix)) return;
      if (isTyped()) {
        if (key !== this.#journal.toId(table, this.#conversation) || !oldValue || newValue !== null) return;
        void this.#continueCommitted(JSON.parse(oldValue).row).then(onTaken);
        return;
      }
      this.#findLeft();
      void this.load().then(() => {
        if (!isTyped()) onChange();
      });
    });
  }

  /**
   * Continues this page's row after another page has committed it. The committed one may contain more, such as a text
   * that was parked. If it has another text, this page's one is a draft beside it.
   */
  async #continueCommitted(own: Draft): Promise<void> {
    const committed = await readCommitted(this.#user, this.#conversation);
    this.#row = committed?.text === own.text ? committed : own;
    this.#seenAt = this.#row.at;
  }

  #write(row: Draft): boolean {
    const seenAt = this.#seenAt === undefined ? {} : { seenAt: this.#seenAt };
    return this.#journal.write({ table, key: this.#conversation, row, at: row.at, ...seenAt });
  }

  #findLeft(): void {
    const isOfDraft = ({ entry }: LeftEntry) => entry.table === table && entry.key === this.#conversation;
    this.#left = this.#journal.list(this.#writer).filter(isOfDraft).at(-1);
    this.#row = this.#left?.entry.row as Draft | undefined;
  }
}
