import { clampMarks, type Marks } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { receiptCoalesceMs } from "#contract/limits.ts";
import type { Command } from "#contract/wire/commands.ts";
import { type Context, inBackground } from "#sync/store/context.ts";
import type { ConversationRow } from "#sync/store/database.ts";
import { ownMarks } from "#sync/store/row-mapping.ts";
import { takeIn } from "./take-in.ts";

export type TellMarks = (row: ConversationRow, command: Extract<Command, { type: "mark" }>) => Promise<boolean>;

const againMs = 10_000; // when the server's row does not show a mark, it is told again after this long, then rarer
const againMaxMs = 5 * 60_000;

type Told = Marks & { times: number; cancel: () => void };

/** Tells the server how far this person's messages have been stored here and read, a while's worth at once. */
export class MarkReporter {
  readonly #context: Context;
  readonly #tell: TellMarks;
  #dirty = new Set<ConversationId>();
  #told = new Map<ConversationId, Told>();
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(context: Context, tell: TellMarks) {
    this.#context = context;
    this.#tell = tell;
  }

  /** After a transaction that may have moved the marks of these rows. */
  notice(rows: readonly ConversationRow[]): void {
    for (const row of rows) if (this.#missing(row)) this.#dirty.add(row.id);
    this.#schedule();
  }

  /** The link is new: everything the server lacks is told. */
  async recheck(): Promise<void> {
    for (const told of this.#told.values()) told.cancel();
    this.#told.clear();
    await this.#context.store.conversations.each((row) => {
      if (this.#missing(row)) this.#dirty.add(row.id);
    });
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    for (const told of this.#told.values()) told.cancel();
  }

  /** The marks the server's row does not show and was not told of lately. */
  #missing(row: ConversationRow): Marks | undefined {
    if (row.epoch === "") return undefined;
    const marks = clampMarks(ownMarks(row), row.head);
    if (marks.delivered <= row.delivered && marks.read <= row.read) {
      this.#told.get(row.id)?.cancel();
      this.#told.delete(row.id);
      return undefined;
    }
    const told = this.#told.get(row.id);
    return told && marks.delivered <= told.delivered && marks.read <= told.read ? undefined : marks;
  }

  #schedule(): void {
    if (this.#dirty.size === 0 || this.#cancel || this.#isStopped) return;
    this.#cancel = this.#context.platform.after(receiptCoalesceMs, () => {
      this.#cancel = undefined;
      inBackground(this.#context, this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const ids = [...this.#dirty];
    this.#dirty.clear();
    for (const row of await this.#context.store.conversations.bulkGet(ids)) {
      const marks = row && this.#missing(row);
      if (!row || !marks) continue;
      const isTold = await this.#tell(row, { type: "mark", conversation: row.id, ...marks }).catch(() => false);
      this.#remember(row.id, marks, isTold);
    }
  }

  #remember(id: ConversationId, marks: Marks, isTold: boolean): void {
    if (this.#isStopped) return;
    const before = this.#told.get(id);
    before?.cancel();
    const times = (before?.times ?? 0) + 1;
    const cancel = this.#context.platform.after(Math.min(againMaxMs, againMs * 2 ** (times - 1)), () => {
      const told = this.#told.get(id);
      if (told) this.#told.set(id, { delivered: 0, read: 0, times: told.times, cancel: () => {} });
      this.#dirty.add(id);
      this.#schedule();
    });
    this.#told.set(id, { ...(isTold ? marks : { delivered: 0, read: 0 }), times, cancel });
  }
}

/** The server took marks by HTTP and counted what is left up to `head`. */
export const tookMarks = (
  context: Context,
  { conversation: of, ...counted }: Marks & { conversation: ConversationId; unread: number; head: number },
) => takeIn(context, [{ type: "mine", of, ...counted }]);
