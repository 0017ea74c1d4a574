import * as v from "valibot";
import type { ReadState } from "#contract/messages/positions.ts";
import type { ReceiptTime } from "#contract/wire/message-info.ts";

/** Advance of a watermark: its new seq, the time, and the seq before it. */
const ReceiptMark = v.tuple([v.number(), v.number(), v.number()]);
type ReceiptMark = v.InferOutput<typeof ReceiptMark>;
const MarkList = v.array(ReceiptMark);

/**
 * Recent advances of a member's delivered and read watermarks, in ascending order. A message was delivered with the
 * first advance at or beyond it. They stand in the member's row, which every receipt writes anyway.
 */
const ReceiptMarks = v.object({ delivered: MarkList, read: MarkList });
type ReceiptMarks = v.InferOutput<typeof ReceiptMarks>;

export const receiptMarksMax = 32; // of each watermark
const newestMarksKept = 16; // of them, never merged

/**
 * Adds an advance. If there are too many, an older one is merged into its successor: the one whose messages then appear
 * the least later than they were, in proportion to their age. The successor keeps the seq from which it is exact.
 */
const addMark = (marks: readonly ReceiptMark[], mark: ReceiptMark): ReceiptMark[] => {
  const all = [...marks, mark];
  if (all.length <= receiptMarksMax) return all;
  const now = mark[1];
  const delays = all
    .slice(0, -newestMarksKept)
    .map(([, at], index) => ((all[index + 1]?.[1] ?? at) - at) / (now - at + 1));
  return all.toSpliced(delays.indexOf(Math.min(...delays)), 1);
};

const parseMarks = (stored: string | null): ReceiptMarks =>
  stored === null ? { delivered: [], read: [] } : v.parse(ReceiptMarks, JSON.parse(stored));

/** Stored marks with the advances from one shown read state to the next. */
export const recordReceiptMarks = (
  stored: string | null,
  before: ReadState,
  after: ReadState,
  now: number,
): string | null => {
  const marks = parseMarks(stored);
  const record = (kind: keyof ReadState) => {
    if (after[kind] <= before[kind]) return;
    const at = Math.max(now, marks[kind].at(-1)?.[1] ?? 0); // the clock may have been set back
    marks[kind] = addMark(marks[kind], [after[kind], at, before[kind]]);
  };
  record("delivered");
  record("read");
  return JSON.stringify(marks);
};

/** Time at which a watermark passed a message that it includes. */
export const findReceiptTime = (stored: string | null, kind: keyof ReadState, seq: number): ReceiptTime => {
  const mark = parseMarks(stored)[kind].find(([upTo]) => upTo >= seq);
  return mark ? { at: mark[1], isExact: seq > mark[2] } : { at: null, isExact: false };
};
