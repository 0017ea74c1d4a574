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
import { Mentions } from "./mentions.ts";
import { ConversationFlags } from "./settings/conversation-flags.ts";
import { isBlank, isPlainLine, MessageText } from "./text.ts";

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Position of a message in its conversation: 1, 2, 3 … without gaps. */
export const Seq = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** A seq, or 0 for "before the first message". */
export const Watermark = Count;

/** Original of a forwarded message. The server checks that the sender may read it. */
export const ForwardSource = v.strictObject({ conversation: ConversationId, seq: Seq });
export type ForwardSource = v.InferOutput<typeof ForwardSource>;

/** Original author of a forwarded message with the name from the directory. The reader may be that person. */
const Forwarded = v.strictObject({
  by: Uuid,
  name: v.pipe(
    v.string(),
    v.maxLength(displayNameMaxLength),
    v.check((name) => name === "" || (isPlainLine(name) && !isBlank(name)), "invalid_name"),
  ),
});

export type Forwarded = v.InferOutput<typeof Forwarded>;

/** Author of a forward after the original author deleted their account. */
export const anonymousForward: Forwarded = { by: deletedUserId, name: "" };

const forwardedField = { forwarded: v.optional(Forwarded) };
const mentionsField = { mentions: v.optional(Mentions) };
/**
 * Number of the last edit of an edited text or caption (`docs/decisions/message-editing.md`). Only the conversation sets
 * it.
 */
const editedField = { edited: v.optional(Seq) };
/** Message of a group that a message of a private conversation answers: the id of the group and the seq, joined by a colon. */
export const GroupPlace = v.pipe(v.string(), v.regex(/^[0-9a-f-]{36}:[1-9]\d{0,14}$/));
export type GroupPlace = v.InferOutput<typeof GroupPlace>;
export const toGroupPlace = (group: Uuid, seq: number): GroupPlace => `${group}:${seq}`;
/** Group and seq of a place, undefined for anything else. */
export const parseGroupPlace = (place: number | string | undefined): { group: Uuid; seq: number } | undefined => {
  const [group = "", seq] = String(place).split(":");
  return seq === undefined ? undefined : { group, seq: Number(seq) };
};

/** Message that a message answers (`docs/decisions/replies.md`): the seq of one of the same conversation, or a `GroupPlace`. */
export const ReplyPlace = v.union([Seq, GroupPlace]);
export type ReplyPlace = v.InferOutput<typeof ReplyPlace>;
const replyField = { reply: v.optional(ReplyPlace) };
const attachmentFields = {
  file: Uuid,
  name: FileName,
  mime: MediaType,
  size: v.pipe(Count, v.minValue(1), v.maxValue(fileMaxBytes)),
};
const Pixels = v.pipe(Count, v.minValue(1), v.maxValue(fileMaxPixels));

/** Image. Its thumbhash (base64url) is shown until the file is loaded. */
const ImageBody = v.strictObject({
  type: v.literal("image"),
  ...attachmentFields,
  width: Pixels,
  height: Pixels,
  thumb: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]*$/), v.maxLength(thumbMaxLength)),
  text: v.optional(MessageText),
  ...forwardedField,
  ...mentionsField,
  ...replyField,
  ...editedField,
});
const FileBody = v.strictObject({
  type: v.literal("file"),
  ...attachmentFields,
  text: v.optional(MessageText),
  ...forwardedField,
  ...mentionsField,
  ...replyField,
  ...editedField,
});
const VoiceBody = v.strictObject({
  type: v.literal("voice"),
  ...attachmentFields,
  ms: v.pipe(Count, v.minValue(1), v.maxValue(voiceMaxMs)),
  waveform: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]*$/), v.maxLength(waveformBars)),
  ...forwardedField,
  ...replyField,
});

/** Content of a message that a person sends. Older clients reject frames with a kind that they do not know. */
export const Body = v.variant("type", [
  v.strictObject({
    type: v.literal("text"),
    text: MessageText,
    ...forwardedField,
    ...mentionsField,
    ...replyField,
    ...editedField,
  }),
  ImageBody,
  FileBody,
  VoiceBody,
]);
export type Body = v.InferOutput<typeof Body>;
export type AttachedBody = Extract<Body, { file: Uuid }>;

/**
 * System message, written by the conversation and worded in the reader's language. The sender of the message is the actor;
 * `who` lists the affected member numbers. All but `pinned` are of groups.
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
  "deleted", // a message of the member in `who`
  "pinned", // a message; also in private conversations
] as const;
const EventBody = v.strictObject({
  type: v.literal("event"),
  event: v.picklist(groupEvents),
  who: v.optional(v.array(Count)),
  name: v.optional(v.string()), // of the group, as of this change
});
export type EventBody = v.InferOutput<typeof EventBody>;

/** Tombstone of a deleted message. `by`: member number of the group's owner, if it was not its author who deleted it. */
const Tombstone = v.strictObject({ type: v.literal("deleted"), by: v.optional(Count) });
export type Tombstone = v.InferOutput<typeof Tombstone>;
export const createTombstone = (by: number | undefined): Tombstone =>
  by === undefined ? { type: "deleted" } : { type: "deleted", by };

/** Bodies in the log, including tombstones (`deleted`) and placeholders for undelivered messages (`withheld`). */
export const StoredBody = v.variant("type", [
  ...Body.options,
  EventBody,
  CallBody,
  Tombstone,
  v.strictObject({ type: v.literal("withheld") }),
]);
export type StoredBody = v.InferOutput<typeof StoredBody>;

export const findAttachment = (body: StoredBody): AttachedBody | undefined => ("file" in body ? body : undefined);

/** Place of the message that a message answers. */
export const findReplyTarget = (body: StoredBody): ReplyPlace | undefined => ("reply" in body ? body.reply : undefined);

/** The same body as an answer to another message, or to none. */
export const withReply = (body: Body, reply: ReplyPlace | undefined): Body => {
  const { reply: _, ...content } = body;
  return reply === undefined ? content : { ...content, reply };
};

/** Number of the last edit of a message, 0 if it was never edited. */
export const getEditNumber = (body: StoredBody): number => ("edited" in body ? (body.edited ?? 0) : 0);

/** Bodies whose text or caption their author may change. */
type EditableBody = Extract<Body, { type: "text" | "image" | "file" }>;
export const isEditableBody = (body: StoredBody): body is EditableBody =>
  (body.type === "text" || body.type === "image" || body.type === "file") && !body.forwarded;

/** The body with another text or caption, without mentions, as the edit of this number; 0 for a message without edits. */
export const withText = (body: EditableBody, text: string, edited: number): EditableBody => {
  const { text: _text, mentions: _mentions, edited: _edited, ...content } = body;
  const fields = { ...(text === "" ? {} : { text }), ...(edited === 0 ? {} : { edited }) };
  return { ...content, ...fields } as EditableBody;
};

/** The body as a new message: a copy was never edited. */
export const withoutEdits = <T extends StoredBody>(body: T): T => {
  const { edited: _, ...content } = body as T & { edited?: number };
  return content as T;
};

/** Whether a forward's original author deleted their account. */
export const isAnonymized = (body: StoredBody): boolean => "forwarded" in body && body.forwarded?.by === deletedUserId;

/**
 * Kinds of stored messages: the body types, with kinds of their own for forwarded texts, texts with mentions, replies,
 * other edited texts and missed calls.
 */
export type MessageKind = StoredBody["type"] | "forwarded" | "mention" | "reply" | "edited" | "missed";

/** Missed calls have a kind of their own, because only they count as unread. */
export const toMessageKind = (body: StoredBody): MessageKind => {
  if (body.type === "call" && body.status === "missed") return "missed";
  if (body.type !== "text") return body.type;
  if (body.forwarded) return "forwarded";
  if (body.mentions) return "mention";
  if (body.reply !== undefined) return "reply";
  return body.edited === undefined ? "text" : "edited";
};

/** Whether messages of a kind count as unread. Tombstones, placeholders and system messages other than missed calls do not. */
export const unreadKinds: Readonly<Record<MessageKind, boolean>> = {
  text: true,
  forwarded: true,
  mention: true,
  reply: true,
  edited: true,
  image: true,
  file: true,
  voice: true,
  event: false,
  call: false,
  missed: true,
  deleted: false,
  withheld: false,
};

/** Whether a message counts as unread. Own messages do not; kinds that this version does not know do. */
export const countsAsUnread = ({ cid, body }: Pick<Message, "cid" | "body">): boolean =>
  cid === undefined && unreadKinds[toMessageKind(body)] !== false;

/** Searchable text of a message. */
export const searchTextOfBody = (body: StoredBody): string => {
  if (body.type === "text") return body.text;
  if (body.type === "image") return body.text ?? "";
  return body.type === "file" ? `${body.name}\n${body.text ?? ""}` : "";
};

/** A message in the log. `sender` is the member number in this conversation. */
export const Message = v.object({
  seq: Seq,
  sender: Count,
  at: v.number(), // server time, epoch milliseconds, never decreasing within a conversation
  body: StoredBody,
  cid: v.optional(Uuid), // the sender's client id, sent to the author only
  // never delivered to the others, whatever their read state; sent to the author only
  held: v.optional(v.literal(true)),
  reactions: v.optional(v.string()), // as the reader sees them (`wire/reactions.ts`), absent if there are none
});
export type Message = v.InferOutput<typeof Message>;

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

/**
 * Inbox row: everything the conversation list shows, and everything a device needs to decide whether to request
 * messages.
 */
export const InboxRow = v.object({
  handle: Count, // this person's short number for the conversation
  conversation: v.string(),
  kind: v.picklist(["private", "group"]),
  epoch: v.string(), // identity of the log; a new one invalidates cached messages
  head: Watermark, // seq of the newest message
  at: v.number(), // its time, or the creation time of an empty conversation
  prior: v.nullable(v.number()), // time of the message before it, null if unknown
  sender: Count, // its sender's member number
  preview: v.nullable(StoredBody), // its body, cut to previewMaxLength; null if empty
  whole: v.boolean(), // whether `preview` is the complete body
  unread: Count,
  mentions: v.optional(v.array(Seq), []), // of the person: the newest unread ones
  delivered: Watermark, // own watermarks
  read: Watermark,
  othersDelivered: Watermark, // lowest watermarks of the other members; in groups as of the last notification
  othersRead: Watermark,
  hidden: Watermark, // seq up to which the person cleared the history
  open: v.boolean(), // whether the person may write; see `hasLeftGroup`
  muted: v.boolean(), // see `isMutedAt`
  mutedUntil: v.nullable(v.number()), // end of a timed mute, null if it has none
  mutedExceptMentions: v.optional(v.boolean(), false), // mentions notify while it is muted
  ...ConversationFlags.entries,
  flagsRevision: v.optional(Watermark, 0), // of the person's flags of messages (`MessageFlags`), 0 without any
  kept: v.boolean(), // stays in the list although its history is cleared
  revision: Watermark, // number of changes to stored messages; see `RevisedResult`
  pinnedMessages: v.optional(v.array(Seq), []), // those that the person sees, pinned last at the end
  group: v.nullable(GroupCard), // null in a private conversation
  gone: v.boolean(), // the group has ended, or the person left it and keeps no history; devices delete its data
});
export type InboxRow = v.InferOutput<typeof InboxRow>;

/**
 * Whether the person was a member of a group and keeps the history they had, without any change to it
 * (docs/decisions/former-members.md).
 */
export const hasLeftGroup = ({ group, open, gone }: Pick<InboxRow, "group" | "open" | "gone">): boolean =>
  group !== null && !open && !gone;

/** Whether a conversation has ended for the person: they are not in the group any more, with or without its history. */
export const hasEnded = (row: Pick<InboxRow, "group" | "open" | "gone">): boolean => row.gone || hasLeftGroup(row);

/** Whether a conversation is muted at a time. A timed mute ends without a change of the row. */
export const isMutedAt = ({ muted, mutedUntil }: Pick<InboxRow, "muted" | "mutedUntil">, at: number): boolean =>
  muted && (mutedUntil ?? Number.POSITIVE_INFINITY) > at;

/** Whether mentions are the only messages of a conversation that notify at a time. */
export const isMutedExceptMentionsAt = (
  row: Pick<InboxRow, "muted" | "mutedUntil" | "mutedExceptMentions">,
  at: number,
): boolean => row.mutedExceptMentions && isMutedAt(row, at);

/** Whether the list shows a conversation: it has visible messages, or was cleared without being deleted. */
export const isListed = (row: Pick<InboxRow, "head" | "hidden" | "kept" | "gone">): boolean =>
  !row.gone && (row.head > row.hidden || row.kept);

/** SPEC.md §4: delivery status shown to the sender. Derived, never stored. */
export type MessageStatus = "sending" | "sent" | "delivered" | "read";

export const toMessageStatus = (seq: number | undefined, others: ReadState): MessageStatus => {
  if (seq === undefined) return "sending";
  if (seq <= others.read) return "read";
  return seq <= others.delivered ? "delivered" : "sent";
};
