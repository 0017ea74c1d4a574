import { messageKinds } from "#contract/messages/kinds.ts";
import { toKindList } from "./body-columns.ts";
import type { Member } from "./member-table.ts";

const countStatement = `SELECT count(*) AS n FROM messages WHERE seq > ? AND seq <= ? AND sender <> ? AND withheld = 0
  AND kind IN (${toKindList((kind) => messageKinds[kind].isUnread)})`;

/** Unread count of a member for seqs after `from` up to `upTo`. */
type CachedCount = { from: number; upTo: number; count: number };
type DeletedMessage = { seq: number; sender: number };

/**
 * Unread count of each member, excluding their own messages. Counted once after the object starts, then updated
 * incrementally from read watermarks and new messages. `mergeNotice` (user-channel/inbox/inbox-merge.ts) keeps the
 * count of a member's inbox row. `messageKinds` (contract/messages/kinds.ts) names the kinds that count.
 */
export class UnreadCounts {
  readonly #sql: SqlStorage;
  readonly #cache = new Map<number, CachedCount>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Messages the member can see and has neither read nor cleared. */
  countUnread({ number, read, hidden }: Pick<Member, "number" | "read" | "hidden">, head: number): number {
    const from = Math.max(read, hidden);
    if (from >= head) return 0;
    const cached = this.#cache.get(number);
    const canUpdate = cached && from >= cached.from && head >= cached.upTo && from - cached.from <= head - from;
    const count = canUpdate
      ? cached.count -
        this.#count(number, cached.from, Math.min(from, cached.upTo)) +
        this.#count(number, Math.max(from, cached.upTo), head)
      : this.#count(number, from, head);
    this.#cache.set(number, { from, upTo: head, count });
    return count;
  }

  /** Subtracts a deleted message from the cached counts. */
  subtractDeleted({ seq, sender }: DeletedMessage): void {
    for (const [number, cached] of this.#cache) {
      if (number !== sender && seq > cached.from && seq <= cached.upTo) cached.count -= 1;
    }
  }

  /** Clears the cache. */
  clear(): void {
    this.#cache.clear();
  }

  #count(number: number, from: number, upTo: number): number {
    if (from >= upTo) return 0;
    return this.#sql.exec<{ n: number }>(countStatement, from, upTo, number).one().n;
  }
}
