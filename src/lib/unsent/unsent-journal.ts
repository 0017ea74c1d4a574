import type { Uuid } from "#contract/ids.ts";
import { toUnsentName, type UnsentTable } from "./unsent-database.ts";

/**
 * Row that its page may not have committed; `row` is absent if it was deleted. `seenAt`: time of the row (`at`) that
 * the page last knew as committed, so that a later one of another page is recognised.
 */
export type JournalEntry = { table: UnsentTable; key: string; row?: object; at: number; seenAt?: number };

/** Entry with the key under which it stands in localStorage. */
export type LeftEntry = { id: string; entry: JournalEntry };

type JournalStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const parseEntry = (text: string | null): JournalEntry | undefined => {
  try {
    const entry = JSON.parse(text ?? "null");
    return typeof entry?.table === "string" && typeof entry.key === "string" && typeof entry.at === "number"
      ? entry
      : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Write-ahead log of the unsent database in localStorage. An entry is written synchronously where the page could end
 * before the commit, and removed once its content is committed; that of a message stays until the server has it.
 * What a page left is replayed by the next one. Each page has entries of its own. Browsers write localStorage to the disk
 * with a delay of seconds, so the commit is what survives the end of the browser, and the journal what survives the end
 * of the page, or the loss of the database.
 */
export class UnsentJournal {
  /** Beginning of the keys of all entries of a person in localStorage. */
  readonly prefix: string;
  readonly #writer: string;
  readonly #storage: JournalStorage | undefined;

  /** `writer` identifies the page or service worker. `storage` is undefined where the browser denies it. */
  constructor(user: Uuid, storage: JournalStorage | undefined, writer: string) {
    this.prefix = `${toUnsentName(user)}-`;
    this.#writer = writer;
    this.#storage = storage;
  }

  /** Returns false if the entry could not be written. An older one of this page for the row is removed then. */
  write(entry: JournalEntry): boolean {
    const id = this.toId(entry.table, entry.key);
    try {
      this.#storage?.setItem(id, JSON.stringify(entry));
      return this.#storage !== undefined;
    } catch {
      this.remove(id);
      return false;
    }
  }

  /** Whether this page has written an entry of a row. */
  has(table: UnsentTable, key: string): boolean {
    return this.#storage?.getItem(this.toId(table, key)) != null;
  }

  /** Removes this page's entry of a row, because the row is committed. */
  clear(table: UnsentTable, key: string): void {
    this.remove(this.toId(table, key));
  }

  /** Removes the entries that any page has written of a row, because nothing of it is left to be committed. */
  clearAll(table: UnsentTable, key: string): void {
    for (const id of this.#listIds()) if (id.endsWith(`-${table}-${key}`)) this.remove(id);
  }

  /** Whether an entry is of this page. */
  isOwn(id: string): boolean {
    return id.startsWith(`${this.prefix}${this.#writer}-`);
  }

  /** Removes an entry of any page. */
  remove(id: string): void {
    this.#storage?.removeItem(id);
  }

  /** Entries of all pages but those of the writer `except`, in the order of writing. Unreadable ones are skipped and stay. */
  list(except?: string): LeftEntry[] {
    return this.#listIds()
      .flatMap((id) => {
        const isWanted = !(except && id.startsWith(`${this.prefix}${except}-`));
        const entry = isWanted ? parseEntry(this.#storage?.getItem(id) ?? null) : undefined;
        return entry ? [{ id, entry }] : [];
      })
      .sort((a, b) => a.entry.at - b.entry.at);
  }

  #listIds(): string[] {
    const { length = 0 } = this.#storage ?? {};
    const ids = Array.from({ length }, (_, index) => this.#storage?.key(index) ?? "");
    return ids.filter((id) => id.startsWith(this.prefix));
  }

  /** Key in localStorage of this page's entry of a row. */
  toId(table: UnsentTable, key: string): string {
    return `${this.prefix}${this.#writer}-${table}-${key}`;
  }
}
