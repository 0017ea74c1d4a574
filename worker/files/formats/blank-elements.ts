/** Element of a format that consists of nested elements with stated sizes: boxes of MP4, EBML elements of WebM. */
export type Element = {
  /** Bytes before the content, or before the first child that is looked at. */
  headerBytes: number;
  /** Bytes of content that follow; 0 if its children are looked at one by one. */
  contentBytes: number;
  /** Whether the content is overwritten with zeros. */
  isBlank: boolean;
};

/**
 * Reads the element at a place, and may change its header. Undefined if more bytes are needed; with `isLast` there are
 * none.
 */
export type ReadElement = (bytes: Uint8Array, at: number, isLast: boolean) => Element | undefined;

const joinBytes = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
};

/** Overwrites the content of some elements of a file while it is streamed. Its length does not change. */
export async function* blankElements(
  chunks: AsyncIterable<Uint8Array>,
  readElement: ReadElement,
): AsyncGenerator<Uint8Array, void, void> {
  let remaining = 0; // remaining bytes of the current element
  let isBlank = false;
  /** Processes bytes in place. Returns how many of them are done. */
  const processBytes = (bytes: Uint8Array, isLast: boolean): number => {
    let at = 0;
    while (at < bytes.length) {
      if (remaining > 0) {
        const end = Math.min(bytes.length, at + remaining);
        if (isBlank) bytes.fill(0, at, end);
        remaining -= end - at;
        at = end;
        continue;
      }
      const element = readElement(bytes, at, isLast);
      if (!element) break;
      ({ contentBytes: remaining, isBlank } = element);
      at += element.headerBytes;
    }
    return at;
  };
  let pending = new Uint8Array(0); // start of an element that continues in the next chunk
  for await (const chunk of chunks) {
    const bytes = joinBytes(pending, chunk);
    const done = processBytes(bytes, false);
    pending = bytes.slice(done);
    if (done > 0) yield bytes.subarray(0, done);
  }
  processBytes(pending, true);
  if (pending.length > 0) yield pending;
}
