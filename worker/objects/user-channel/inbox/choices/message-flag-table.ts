import type { Message } from "#contract/messages/message.ts";
import { type MessageFlags, withoutContent } from "#contract/settings/message-flags.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";

/** Flags of one message. A message without a star and not deleted has no row. */
export type StoredMessageFlags = { starredAt: number | null; isDeleted: boolean };
type FlagColumns = { seq: number; starred_at: number | null; deleted: number };

type RevisedUpdate = { entry: InboxEntry; revised: { messages: Message[] } | undefined };

/** Flags of messages by the handle of their conversation. Conversations whose `flagsRevision` is 0 have no rows. */
export class MessageFlagTable {
  readonly #sql: SqlStorage;
  #counts: { starred: number; deleted: number } | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(handle: number, seq: number): StoredMessageFlags {
    const [row] = this.#sql
      .exec<FlagColumns>("SELECT * FROM message_flags WHERE handle = ? AND seq = ?", handle, seq)
      .toArray();
    return { starredAt: row?.starred_at ?? null, isDeleted: row?.deleted === 1 };
  }

  write(handle: number, seq: number, { starredAt, isDeleted }: StoredMessageFlags): void {
    if (starredAt === null && !isDeleted)
      this.#sql.exec("DELETE FROM message_flags WHERE handle = ? AND seq = ?", handle, seq);
    else
      this.#sql.exec(
        "INSERT OR REPLACE INTO message_flags (handle, seq, starred_at, deleted) VALUES (?, ?, ?, ?)",
        handle,
        seq,
        starredAt,
        isDeleted ? 1 : 0,
      );
    this.#counts = undefined;
  }

  /** Numbers of starred and of deleted messages in all conversations. */
  get counts(): { starred: number; deleted: number } {
    this.#counts ??= this.#sql
      .exec<{ starred: number; deleted: number }>(
        "SELECT count(starred_at) AS starred, ifnull(sum(deleted), 0) AS deleted FROM message_flags",
      )
      .one();
    return this.#counts;
  }

  list({ handle, flagsRevision: revision }: Pick<InboxEntry, "handle" | "flagsRevision">): MessageFlags {
    const flags: MessageFlags = { revision, starred: [], deleted: [] };
    if (revision === 0) return flags;
    for (const row of this.#sql.exec<FlagColumns>("SELECT * FROM message_flags WHERE handle = ?", handle)) {
      if (row.deleted === 1) flags.deleted.push(row.seq);
      else if (row.starred_at !== null) flags.starred.push({ seq: row.seq, at: row.starred_at });
    }
    return flags;
  }

  /** The messages as this person's devices receive them: those deleted for themselves have no content. */
  withoutDeleted(entry: InboxEntry | undefined, messages: Message[]): Message[] {
    if (!entry || entry.flagsRevision === 0 || messages.length === 0) return messages;
    const seqs = messages.map(({ seq }) => seq);
    const deleted = this.#sql
      .exec<{ seq: number }>(
        "SELECT seq FROM message_flags WHERE handle = ? AND seq BETWEEN ? AND ? AND deleted = 1",
        entry.handle,
        Math.min(...seqs),
        Math.max(...seqs),
      )
      .toArray();
    const deletedSeqs = new Set(deleted.map(({ seq }) => seq));
    return messages.map((message) => (deletedSeqs.has(message.seq) ? withoutContent(message) : message));
  }

  /**
   * The row after a change, without the flags that the change ended: those of another log, of a conversation that was
   * left and of cleared messages. `before`: the stored row.
   */
  withoutEnded(entry: InboxEntry, before: InboxEntry | undefined): InboxEntry {
    if (!before || before.flagsRevision === 0) return entry;
    const hasEnded = entry.gone || entry.epoch !== before.epoch;
    if (!hasEnded && entry.hidden <= before.hidden) return entry;
    const upTo = hasEnded ? Number.MAX_SAFE_INTEGER : entry.hidden;
    this.#sql.exec("DELETE FROM message_flags WHERE handle = ? AND seq <= ?", entry.handle, upTo);
    this.#counts = undefined;
    const { starred, deleted } = this.list(before);
    return starred.length + deleted.length > 0 ? entry : { ...entry, flagsRevision: 0 };
  }

  /** The update without flags that it ends, and without content of messages that the person deleted for themselves. */
  applyToUpdate<T extends RevisedUpdate>(update: T, before: InboxEntry | undefined): T {
    const entry = this.withoutEnded(update.entry, before);
    if (entry.flagsRevision === 0) return { ...update, entry };
    const { revised } = update;
    const messages = revised && this.withoutDeleted(entry, revised.messages);
    for (const { seq, body } of messages ?? [])
      if (body.type === "deleted") this.write(entry.handle, seq, { starredAt: null, isDeleted: false });
    const isPreviewDeleted = entry.preview !== null && this.find(entry.handle, entry.head).isDeleted;
    return {
      ...update,
      entry: isPreviewDeleted ? withoutPreview(entry) : entry,
      revised: revised && { ...revised, messages },
    };
  }
}

/** The row of a conversation whose newest message the person deleted for themselves. */
export const withoutPreview = (entry: InboxEntry): InboxEntry => ({
  ...entry,
  preview: { type: "withheld" },
  whole: true,
});
