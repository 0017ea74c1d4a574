/** What is kept of a file: views of its bytes in order, neighbours joined, with something of ours between them. */
export class ByteSlices {
  readonly list: Uint8Array[] = [];
  readonly #bytes: Uint8Array;
  #end = -1; // where the last piece ends, when it is one of the file

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

  /** Puts something of ours before the piece with this number. */
  insertBytes(at: number, piece: Uint8Array): void {
    this.list.splice(at, 0, piece);
  }
}

export const sumLengths = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((total, piece) => total + piece.length, 0);

export const toDataView = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The bytes from `from` up to `to` as Latin-1 text, for comparing with names and signatures. */
export const readLatin1 = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to));
