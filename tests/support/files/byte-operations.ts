/** Work done on bytes: a measure of a parser's cost that does not depend on the machine. */
export type ByteOperations = {
  /** Calls that read, search, copy or overwrite bytes. */
  calls: number;
  /** Bytes copied and overwritten. */
  bytes: number;
  /** Typed arrays and views created from others. */
  views: number;
};

type Method = (...args: never[]) => unknown;
type Methods = Record<string, Method>;

const bytesOf = Uint8Array.prototype as unknown as Methods;
const viewOf = DataView.prototype as unknown as Methods;
const readers = ["getUint8", "getUint16", "getUint32", "getBigUint64"];

/** Runs the work, and counts what it does with typed arrays and views. Other work must not run meanwhile. */
export const countByteOperations = async <T>(
  work: () => T | Promise<T>,
): Promise<{ result: T; counted: ByteOperations }> => {
  const counted: ByteOperations = { calls: 0, bytes: 0, views: 0 };
  const originals: [Methods, string, Method][] = [];
  const watch = (target: Methods, name: string, count: (result: unknown, args: readonly unknown[]) => void) => {
    const original = target[name] as Method;
    originals.push([target, name, original]);
    target[name] = function (this: unknown, ...args: never[]) {
      counted.calls++;
      const result = original.apply(this, args);
      count(result, args);
      return result;
    };
  };
  const ignore = () => undefined;
  for (const name of readers) watch(viewOf, name, ignore);
  watch(bytesOf, "indexOf", ignore);
  watch(bytesOf, "subarray", () => counted.views++);
  watch(bytesOf, "slice", (copy) => {
    counted.views++;
    counted.bytes += (copy as Uint8Array).length;
  });
  watch(bytesOf, "set", (_, [source]) => {
    counted.bytes += (source as ArrayLike<number>).length;
  });
  // `fill(value, from, to)` and `copyWithin(to, from, end)` both end with the end of a range.
  for (const name of ["fill", "copyWithin"]) {
    watch(bytesOf, name, (_, [, from, to]) => {
      counted.bytes += Math.max(0, (to as number) - (from as number));
    });
  }
  try {
    return { result: await work(), counted };
  } finally {
    for (const [target, name, original] of originals) target[name] = original;
  }
};
