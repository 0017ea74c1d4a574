/** Runs tasks with the same key one after the other, in order of arrival. */
export class KeyedMutex<Key> {
  readonly #tails = new Map<Key, Promise<unknown>>();

  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const previous = this.#tails.get(key);
    const current = previous ? previous.then(work, work) : work();
    this.#tails.set(key, current);
    const cleanUp = (): void => {
      if (this.#tails.get(key) === current) this.#tails.delete(key);
    };
    current.then(cleanUp, cleanUp);
    return current;
  }
}
