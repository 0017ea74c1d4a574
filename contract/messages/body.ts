import * as v from "valibot";
import { CallBody } from "#contract/calls/call.ts";
import { FileName, MediaType } from "#contract/files.ts";
import { ConversationId, deletedUserId, Uuid } from "#contract/ids.ts";
import { fileMaxBytes, fileMaxPixels, thumbMaxLength, voiceMaxMs, waveformBars } from "#contract/limits/files.ts";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { isBlank, isPlainLine, MessageText } from "#contract/text.ts";
import { Mentions } from "./mentions.ts";
import { Count, Seq } from "./positions.ts";

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
 * Number of the last edit of an edited text or caption (`docs/decisions/message-editing.md`). Only the conversation
 * sets it.
 */
const editedField = { edited: v.optional(Seq) };
/** Message of a group that a private message answers: the id of the group and the seq, joined by a colon. */
export const GroupPlace = v.pipe(v.string(), v.regex(/^[0-9a-f-]{36}:[1-9]\d{0,14}$/));
export type GroupPlace = v.InferOutput<typeof GroupPlace>;
export const toGroupPlace = (group: Uuid, seq: number): GroupPlace => `${group}:${seq}`;
/** Group and seq of a place, undefined for anything else. */
export const parseGroupPlace = (place: number | string | undefined): { group: Uuid; seq: number } | undefined => {
  const [group = "", seq] = String(place).split(":");
  return seq === undefined ? undefined : { group, seq: Number(seq) };
};

/** Message that a message answers (docs/decisions/replies.md): a seq of the same conversation, or a `GroupPlace`. */
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
 * System message, written by the conversation and worded in the reader's language. The sender of the message is the
 * actor; `who` lists the affected member numbers. All but `pinned` are of groups.
 */
export const groupEvents = [
  "created",
  "added",
  "joined", // by accepting an invitation
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

/** Tombstone of a deleted message. `by`: member number of the group's owner, unless its author deleted it. */
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

/** The body with another text or caption, without mentions, as the edit of this number; 0 for an unedited message. */
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

/** Searchable text of a message. */
export const searchTextOfBody = (body: StoredBody): string => {
  if (body.type === "text") return body.text;
  if (body.type === "image") return body.text ?? "";
  return body.type === "file" ? `${body.name}\n${body.text ?? ""}` : "";
};
