const elementsMin = 10_000;
const bytesPerElement = 64;

/**
 * Work that a file held in memory may cost: elements of its format (segments, chunks, blocks, boxes, items, extents).
 * Proportional to its size, because a parser spends time, and may keep something, for each element however small it is.
 * Honest files stay far below: a PNG of 25 MB in chunks of 1 kB has 25,000 elements, a HEIC photo of 200 megapixels with
 * its tiles 2,000, and a GIF two for each frame.
 */
export class WorkBudget {
  #elements: number;

  constructor(fileBytes: number) {
    this.#elements = elementsMin + Math.floor(fileBytes / bytesPerElement);
  }

  /** Counts one element. Returns false if the file has more of them than its size justifies. */
  takeElement(): boolean {
    return --this.#elements >= 0;
  }
}
