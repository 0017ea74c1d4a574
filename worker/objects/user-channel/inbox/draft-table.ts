import type { ConversationId } from "#contract/ids.ts";
import type { SyncedDraft } from "#contract/settings/drafts.ts";

type DraftColumns = {
  conversation: ConversationId;
  handle: number;
  change: number;
  base: number;
  at: number;
  writer: string;
  text: string;
  /** The column has the affinity of a number; a place in a group is no number and is stored as text. */
  reply: number | string | null;
};
/** Draft of a conversation, and the session of the device that wrote it. */
export type StoredDraft = Omit<SyncedDraft, "conversation"> & { writer: string };

const toDraft = ({ change, base, at, text, reply }: Omit<DraftColumns, "conversation" | "handle" | "writer">) => ({
  change,
  base,
  at,
  text,
  ...(reply === null ? {} : { reply }),
});

/** Drafts by the handle of their conversation. */
export class DraftTable {
  readonly #sql: SqlStorage;
  #head: number | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Number of the last change of any draft, 0 without one. */
  get head(): number {
    this.#head ??= this.#sql.exec<{ head: number | null }>("SELECT max(change) AS head FROM drafts").one().head ?? 0;
    return this.#head;
  }

  find(handle: number): StoredDraft | undefined {
    const [row] = this.#sql.exec<DraftColumns>("SELECT * FROM drafts WHERE handle = ?", handle).toArray();
    return row && { ...toDraft(row), writer: row.writer };
  }

  /** Drafts changed after a change, of conversations that the person has not left. */
  list(since: number): SyncedDraft[] {
    return this.#sql
      .exec<DraftColumns>(
        `SELECT inbox.conversation, drafts.* FROM drafts JOIN inbox ON inbox.handle = drafts.handle
         WHERE drafts.change > ? AND inbox.gone = 0`,
        since,
      )
      .toArray()
      .map((row) => ({ conversation: row.conversation, ...toDraft(row) }));
  }

  write(handle: number, { change, base, at, writer, text, reply }: StoredDraft): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO drafts (handle, change, base, at, writer, text, reply) VALUES (?, ?, ?, ?, ?, ?, ?)",
      handle,
      change,
      base,
      at,
      writer,
      text,
      reply ?? null,
    );
    this.#head = change;
  }

  delete(handle: number): void {
    this.#sql.exec("DELETE FROM drafts WHERE handle = ?", handle);
  }
}
