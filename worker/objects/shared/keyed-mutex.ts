/** Lets work on the same thing be done in the order it came, one after the other. */
export class KeyedMutex<Key> {
  readonly #tails = new Map<Key, Promise<unknown>>();

  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const turn = before ? before.then(work, work) : work();
    this.#tails.set(key, turn);
    const leave = (): void => {
      if (this.#tails.get(key) === turn) this.#tails.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  }
}
