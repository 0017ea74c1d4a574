import type { Platform } from "#sync/platform/platform.ts";

/** Local storage of a browser. */
export class ModelLocalStorage implements NonNullable<Platform["localStorage"]> {
  readonly #entries = new Map<string, string>();

  get length(): number {
    return this.#entries.size;
  }

  key(index: number): string | null {
    return [...this.#entries.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#entries.get(key) ?? null;
  }

  setItem(key: string, text: string): void {
    this.#entries.set(key, text);
  }

  removeItem(key: string): void {
    this.#entries.delete(key);
  }
}
