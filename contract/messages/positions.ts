import * as v from "valibot";

/** Positions in the log of a conversation, and how far members received and read it. */

const createCount = () => v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** A number of things, or 0. */
export const Count = createCount();

/** Position of a message in its conversation: 1, 2, 3 … without gaps. */
export const Seq = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** A seq, or 0 for "before the first message". */
export const Watermark = createCount();

/** Delivery and read watermarks of a member. Both only grow; `read` implies `delivered`. */
export const ReadState = v.object({ delivered: Watermark, read: Watermark });
export type ReadState = v.InferOutput<typeof ReadState>;

/** Merges cumulative receipts, which may be late, repeated or out of order, by taking the maximum of each. */
export const mergeReadStates = (a: ReadState, b: ReadState): ReadState => {
  const read = Math.max(a.read, b.read);
  return { delivered: Math.max(a.delivered, b.delivered, read), read };
};

/** Limits claimed watermarks to the head of the log. */
export const clampReadState = (claimed: ReadState, head: number): ReadState =>
  mergeReadStates(
    { delivered: 0, read: 0 },
    { delivered: Math.min(claimed.delivered, head), read: Math.min(claimed.read, head) },
  );
