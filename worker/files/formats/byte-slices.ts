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

  addBytes(piece: Uint8Array): void {
    this.list.push(piece);
    this.#end = -1;
  }

  /** Inserts own bytes before the slice at this index. */
  insertBytes(at: number, piece: Uint8Array): void {
    this.list.splice(at, 0, piece);
  }
}

export const sumLengths = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((total, piece) => total + piece.length, 0);

export const toDataView = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Bytes in the range as Latin-1 text, for comparison with names and signatures. */
export const readLatin1 = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to));
