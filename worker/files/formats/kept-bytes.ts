/**
 * Parts of a file that are kept. They are moved together within the file's own bytes, so that any number of them costs
 * no further memory, and is written as one slice.
 */
export class KeptBytes {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  #end: number; // of what is in its place
  #run: { from: number; to: number }; // adjacent ranges that are not yet in their place

  /** `start`: place of the first range to keep. The bytes before it stay. */
  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = start;
    this.#run = { from: start, to: start };
  }

  /** Keeps a range. Ranges are kept in their order in the file; bytes before the end of the last one may have changed. */
  addRange(from: number, to: number): void {
    if (from !== this.#run.to) {
      this.#moveRun();
      this.#run.from = from;
    }
    this.#run.to = to;
  }

  /** All ranges so far, joined. */
  join(): Uint8Array {
    this.#moveRun();
    this.#run.from = this.#run.to;
    return this.#bytes.subarray(this.#start, this.#end);
  }

  #moveRun(): void {
    const { from, to } = this.#run;
    if (from !== this.#end) this.#bytes.copyWithin(this.#end, from, to);
    this.#end += to - from;
  }
}

export const sumLengths = (slices: readonly Uint8Array[]): number =>
  slices.reduce((total, bytes) => total + bytes.length, 0);
