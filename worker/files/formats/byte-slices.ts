/** Parts of a file that are kept: views of its bytes in order, adjacent ones joined, with own bytes in between. */
export class ByteSlices {
  readonly list: Uint8Array[] = [];
  readonly #bytes: Uint8Array;
  #end = -1; // end of the last slice if it comes from the file, else -1

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  addRange(from: number, to: number): void {
    const last = this.list.at(-1);
    if (last && from === this.#end) {
      this.list[this.list.length - 1] = this.#bytes.subarray(from - last.length, to);
    } else {
      this.list.push(this.#bytes.subarray(from, to));
    }
    this.#end = to;
  }

  addBytes(bytes: Uint8Array): void {
    this.list.push(bytes);
    this.#end = -1;
  }

  /** Inserts own bytes before the slice at this index. */
  insertBytes(at: number, bytes: Uint8Array): void {
    this.list.splice(at, 0, bytes);
  }
}

export const sumLengths = (slices: readonly Uint8Array[]): number =>
  slices.reduce((total, bytes) => total + bytes.length, 0);
