/** Lets work on the same thing be done in the order it came, one after the other. */
export class Turns<Key> {
  readonly #last = new Map<Key, Promise<unknown>>();

  take<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = before ? before.then(work, work) : work();
    this.#last.set(key, turn);
    const leave = (): void => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  }
}
