import { groupCommitMs } from "#contract/limits/delivery.ts";

type PendingItem<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };

/**
 * Commits items that arrive close together in one transaction. An item that arrives while idle is committed
 * synchronously. Items that follow within `groupCommitMs` wait for the end of that interval.
 */
export class GroupCommit<Item, Result> {
  readonly #commit: (items: Item[]) => Result[];
  #waiting: PendingItem<Item, Result>[] = [];
  #lastAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `commit` writes all items synchronously and returns their results in order. */
  constructor(commit: (items: Item[]) => Result[]) {
    this.#commit = commit;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#timer !== undefined) return;
      // Bounded in case the clock was set back.
      const waitMs = Math.min(groupCommitMs, this.#lastAt + groupCommitMs - Date.now());
      if (waitMs <= 0) this.#flush();
      else this.#timer = setTimeout(() => this.#flush(), waitMs);
    });
  }

  #flush(): void {
    this.#timer = undefined;
    this.#lastAt = Date.now();
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      const results = this.#commit(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
