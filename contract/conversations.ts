import * as v from "valibot";
import { Uuid } from "./ids";
import { MessageText } from "./text";

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A message's place in its conversation: 1, 2, 3 … without holes. */
export const Seq = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** A place, or 0 for "before the first message". */
export const Mark = Count;

/**
 * What a message says. One variant each; files, voice, calls and system lines join here, and every reader
 * shows a kind it does not know as an honest "not readable in this version".
 */
export const Body = v.variant("type", [v.strictObject({ type: v.literal("text"), text: MessageText })]);
export type Body = v.InferOutput<typeof Body>;

/** What a deleted message leaves: its place. */
export const StoredBody = v.variant("type", [...Body.options, v.strictObject({ type: v.literal("deleted") })]);
export type StoredBody = v.InferOutput<typeof StoredBody>;

/** A message as everyone stores it. `sender` is the member's number in this conversation. */
export const Message = v.object({
  seq: Seq,
  sender: Count,
  at: v.number(), // the server's clock, epoch milliseconds, never decreasing within a conversation
  body: StoredBody,
  cid: v.optional(Uuid), // the sender's client id; only its own author is told
});
export type Message = v.InferOutput<typeof Message>;

/** How far a member has come. Both only grow; `read` implies `delivered`. */
export const Marks = v.object({ delivered: Mark, read: Mark });
export type Marks = v.InferOutput<typeof Marks>;

/** Receipts are cumulative and may arrive late, twice or out of order: merging takes the furthest of both. */
export const mergeMarks = (a: Marks, b: Marks): Marks => {
  const read = Math.max(a.read, b.read);
  return { delivered: Math.max(a.delivered, b.delivered, read), read };
};

/** A claim beyond the log is worth no more than the log. */
export const clampMarks = (marks: Marks, head: number): Marks =>
  mergeMarks(
    { delivered: 0, read: 0 },
    { delivered: Math.min(marks.delivered, head), read: Math.min(marks.read, head) },
  );

/**
 * One row of a person's inbox: all that the conversation list shows and all that a device needs to know
 * whether it has to ask for messages.
 */
export const InboxRow = v.object({
  handle: Count, // this person's short number for the conversation
  conversation: v.string(),
  kind: v.picklist(["private", "group"]),
  epoch: v.string(), // changes when the log was recreated: what is cached is void
  head: Mark, // the newest message's seq
  at: v.number(), // and its time; for an empty conversation when it began
  sender: Count, // its sender's member number
  preview: v.nullable(StoredBody), // its body, cut to previewMaxLength; null when empty
  whole: v.boolean(), // true when `preview` is the complete body
  unread: Count,
  delivered: Mark, // my own marks
  read: Mark,
  othersDelivered: Mark, // the least of the other members' marks
  othersRead: Mark,
  hidden: Mark, // messages up to here are gone from my view
  open: v.boolean(), // may I write here
});
export type InboxRow = v.InferOutput<typeof InboxRow>;

/** Whether the list shows a conversation: one with something left to see. */
export const isListed = (row: Pick<InboxRow, "head" | "hidden">): boolean => row.head > row.hidden;

/** SPEC.md §4: what the sender sees. Derived, never stored. */
export type MessageStatus = "sending" | "sent" | "delivered" | "read";

export const statusOf = (seq: number | undefined, others: Marks): MessageStatus => {
  if (seq === undefined) return "sending";
  if (seq <= others.read) return "read";
  return seq <= others.delivered ? "delivered" : "sent";
};

/** What to do with a message that arrives when everything up to `last` is here. */
export const placeOf = (seq: number, last: number): "apply" | "drop" | "gap" => {
  if (seq <= last) return "drop";
  return seq === last + 1 ? "apply" : "gap";
};
