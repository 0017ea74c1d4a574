import * as v from "valibot";
import { CallBody } from "./calls/call.ts";
import { FileName, MediaType } from "./files.ts";
import { GroupCard } from "./groups.ts";
import { ConversationId, deletedUserId, Uuid } from "./ids.ts";
import {
  displayNameMaxLength,
  fileMaxBytes,
  fileMaxPixels,
  thumbMaxLength,
  voiceMaxMs,
  waveformBars,
} from "./limits.ts";
import { isBlank, isPlainLine, MessageText } from "./text.ts";

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A message's place in its conversation: 1, 2, 3 … without holes. */
export const Seq = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** A place, or 0 for "before the first message". */
export const Watermark = Count;

/** Where a forwarded message was read: the server looks whether its sender may still pass it on. */
export const ForwardSource = v.strictObject({ conversation: ConversationId, seq: Seq });
export type ForwardSource = v.InferOutput<typeof ForwardSource>;

/** Original author of a forwarded message, under the name in the directory; the reader may be that person. */
const Forwarded = v.strictObject({
  by: Uuid,
  name: v.pipe(
    v.string(),
    v.maxLength(displayNameMaxLength),
    v.check((name) => name === "" || (isPlainLine(name) && !isBlank(name)), "invalid_name"),
  ),
});

export type Forwarded = v.InferOutput<typeof Forwarded>;

/** The same of somebody whose account is gone: it names nobody. */
export const anonymousForward: Forwarded = { by: deletedUserId, name: "" };

const forwardedField = { forwarded: v.optional(Forwarded) };
const attachmentFields = {
  file: Uuid,
  name: FileName,
  mime: MediaType,
  size: v.pipe(Count, v.minValue(1), v.maxValue(fileMaxBytes)),
};
const Pixels = v.pipe(Count, v.minValue(1), v.maxValue(fileMaxPixels));

/** A picture: its thumbhash (base64url) is shown until it is here. */
const ImageBody = v.strictObject({
  type: v.literal("image"),
  ...attachmentFields,
  width: Pixels,
  height: Pixels,
  thumb: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]*$/), v.maxLength(thumbMaxLength)),
  text: v.optional(MessageText),
  ...forwardedField,
});
const FileBody = v.strictObject({
  type: v.literal("file"),
  ...attachmentFields,
  text: v.optional(MessageText),
  ...forwardedField,
});
const VoiceBody = v.strictObject({
  type: v.literal("voice"),
  ...attachmentFields,
  ms: v.pipe(Count, v.minValue(1), v.maxValue(voiceMaxMs)),
  waveform: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]*$/), v.maxLength(waveformBars)),
  ...forwardedField,
});

/**
 * What a message says. One variant each; calls and system lines join here, and every reader shows a kind it
 * does not know as an honest "not readable in this version".
 */
export const Body = v.variant("type", [
  v.strictObject({ type: v.literal("text"), text: MessageText, ...forwardedField }),
  ImageBody,
  FileBody,
  VoiceBody,
]);
export type Body = v.InferOutput<typeof Body>;
export type AttachedBody = Extract<Body, { file: Uuid }>;

/**
 * What happened in a group: a line of its own kind, written by the conversation, told in the reader's language. The
 * message's sender is who did it, `who` are the numbers of those it was done to.
 */
export const groupEvents = [
  "created",
  "added",
  "removed",
  "left",
  "renamed",
  "pictured",
  "unpictured",
  "owner",
] as const;
const EventBody = v.strictObject({
  type: v.literal("event"),
  event: v.picklist(groupEvents),
  who: v.optional(v.array(Count)),
  name: v.optional(v.string()), // of the group, as it is from then on
});
export type EventBody = v.InferOutput<typeof EventBody>;

/** What a deleted message leaves is its place, and so does what a blocked person wrote to the one who blocked them. */
export const StoredBody = v.variant("type", [
  ...Body.options,
  EventBody,
  CallBody,
  v.strictObject({ type: v.literal("deleted") }),
  v.strictObject({ type: v.literal("withheld") }),
]);
export type StoredBody = v.InferOutput<typeof StoredBody>;

export const findAttachment = (body: StoredBody): AttachedBody | undefined => ("file" in body ? body : undefined);

/** Whether somebody wrote it first whose account is gone. */
export const isAnonymized = (body: StoredBody): boolean => "forwarded" in body && body.forwarded?.by === deletedUserId;

/** Whether a message of somebody else waits to be read: where nothing is left of it, or nobody wrote it, nothing waits. */
export const countsAsUnread = ({ cid, body }: Pick<Message, "cid" | "body">): boolean =>
  cid === undefined &&
  (body.type === "call" ? body.status === "missed" : !["deleted", "withheld", "event"].includes(body.type));

/** The words in a message that a search looks through. */
export const searchTextOfBody = (body: StoredBody): string => {
  if (body.type === "text") return body.text;
  if (body.type === "image") return body.text ?? "";
  return body.type === "file" ? `${body.name}\n${body.text ?? ""}` : "";
};

/** A message as everyone stores it. `sender` is the member's number in this conversation. */
export const Message = v.object({
  seq: Seq,
  sender: Count,
  at: v.number(), // the server's clock, epoch milliseconds, never decreasing within a conversation
  body: StoredBody,
  cid: v.optional(Uuid), // the sender's client id; only its own author is told
  held: v.optional(v.literal(true)), // never reached the others, whatever their marks say; only its own author is told
});
export type Message = v.InferOutput<typeof Message>;

/** How far a member has come. Both only grow; `read` implies `delivered`. */
export const ReadState = v.object({ delivered: Watermark, read: Watermark });
export type ReadState = v.InferOutput<typeof ReadState>;

/** Receipts are cumulative and may arrive late, twice or out of order: merging takes the furthest of both. */
export const mergeReadStates = (a: ReadState, b: ReadState): ReadState => {
  const read = Math.max(a.read, b.read);
  return { delivered: Math.max(a.delivered, b.delivered, read), read };
};

/** A claim beyond the log is worth no more than the log. */
export const clampReadState = (marks: ReadState, head: number): ReadState =>
  mergeReadStates(
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
  head: Watermark, // the newest message's seq
  at: v.number(), // and its time; for an empty conversation when it began
  prior: v.nullable(v.number()), // the time of the message before it, null where that is not known
  sender: Count, // its sender's member number
  preview: v.nullable(StoredBody), // its body, cut to previewMaxLength; null when empty
  whole: v.boolean(), // true when `preview` is the complete body
  unread: Count,
  delivered: Watermark, // my own marks
  read: Watermark,
  othersDelivered: Watermark, // the least of the other members' marks; in a group as of the newest message they were told for
  othersRead: Watermark,
  hidden: Watermark, // messages up to here are gone from my view
  open: v.boolean(), // may I write here
  muted: v.boolean(),
  kept: v.boolean(), // stays in the list although nothing is left to see: cleared, not deleted
  revision: Watermark, // how often messages that had been stored were changed; see `Revised`
  group: v.nullable(GroupCard), // null for a private conversation
  gone: v.boolean(), // I am no longer a member, or the group is no more: nothing of it is mine to keep
});
export type InboxRow = v.InferOutput<typeof InboxRow>;

/** Whether the list shows a conversation: one with something left to see, or cleared without being deleted. */
export const isListed = (row: Pick<InboxRow, "head" | "hidden" | "kept" | "gone">): boolean =>
  !row.gone && (row.head > row.hidden || row.kept);

/** SPEC.md §4: what the sender sees. Derived, never stored. */
export type MessageStatus = "sending" | "sent" | "delivered" | "read";

export const toMessageStatus = (seq: number | undefined, others: ReadState): MessageStatus => {
  if (seq === undefined) return "sending";
  if (seq <= others.read) return "read";
  return seq <= others.delivered ? "delivered" : "sent";
};
