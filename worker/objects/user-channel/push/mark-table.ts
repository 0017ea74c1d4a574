import * as v from "valibot";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";
import { toInsert } from "#worker/objects/shared/columns.ts";

/**
 * What devices were notified of in a conversation: the newest message by session, the time of the last push, and of the
 * last one that made itself heard.
 */
export type PushMark = { heads: Readonly<Record<Uuid, number>>; pushedAt: number; soundedAt: number };

type MarkColumns = { conversation: string; epoch: string; heads: string; pushed_at: number; sounded_at: number };

const Heads = v.record(v.string(), v.number());
const columns = ["conversation", "epoch", "heads", "pushed_at", "sounded_at"] as const;
const writeStatement = toInsert("push_marks", columns, "INSERT OR REPLACE");
const noMark: PushMark = { heads: {}, pushedAt: 0, soundedAt: 0 };
const cachedMax = 128;

/** Marks of pushed messages, by which an instance knows what its predecessors pushed. */
export class MarkTable {
  readonly #sql: SqlStorage;
  readonly #cached = new BoundedMap<string, PushMark>(cachedMax);

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Mark of a conversation. Numbers of another epoch mean nothing in this one. */
  find({ conversation, epoch }: { conversation: ConversationId; epoch: string }): PushMark {
    const key = `${conversation} ${epoch}`;
    const known = this.#cached.get(key);
    if (known) return known;
    const query = "SELECT * FROM push_marks WHERE conversation = ? AND epoch = ?";
    const [row] = this.#sql.exec<MarkColumns>(query, conversation, epoch).toArray();
    const mark = row
      ? { heads: v.parse(Heads, JSON.parse(row.heads)), pushedAt: row.pushed_at, soundedAt: row.sounded_at }
      : noMark;
    this.#cached.set(key, mark);
    return mark;
  }

  write({ conversation, epoch }: { conversation: ConversationId; epoch: string }, mark: PushMark): void {
    const { heads, pushedAt, soundedAt } = mark;
    this.#sql.exec(writeStatement, conversation, epoch, JSON.stringify(heads), pushedAt, soundedAt);
    this.#cached.set(`${conversation} ${epoch}`, mark);
  }
}
