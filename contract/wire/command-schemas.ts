import * as v from "valibot";
import { CallRequest } from "#contract/calls/call-commands.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { gapPageRows, muteMaxSeconds } from "#contract/limits/conversations.ts";
import {
  draftAgeMaxMs,
  editNumberMax,
  messageTextMaxLength,
  multicastMax,
  reactionEmojiMaxLength,
  sendBatchMax,
} from "#contract/limits/messages.ts";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { Body, ForwardSource, getEditNumber, ReplyPlace } from "#contract/messages/body.ts";
import { areMentionsValid, findMentions } from "#contract/messages/mentions.ts";
import { Seq, Watermark } from "#contract/messages/positions.ts";
import { MessageText } from "#contract/text.ts";
import { isSearchable, SearchFilter } from "./search-filter.ts";

// Server-side validation of commands (see `commands.ts`). Only the server loads this file.

/** A new message was never edited. */
const NewBody = v.pipe(
  Body,
  v.check((body) => getEditNumber(body) === 0, "invalid_input"),
);
/** Mentions name members of one group, so a body for other conversations has none. */
const BodyWithoutMentions = v.pipe(
  NewBody,
  v.check((body) => findMentions(body).length === 0, "invalid_input"),
);
const SentMessage = v.pipe(
  v.strictObject({ cid: Uuid, body: NewBody, source: v.optional(ForwardSource) }),
  v.check(({ body, source }) => (source ? findMentions(body).length === 0 : areMentionsValid(body)), "invalid_input"),
);

export const SendCommand = v.strictObject({
  type: v.literal("send"),
  conversation: ConversationId,
  messages: v.pipe(v.array(SentMessage), v.minLength(1), v.maxLength(sendBatchMax)),
});
/** One body to many conversations, each message with its own client id: forwarding and broadcasting. */
export const MulticastBody = v.strictObject({
  body: BodyWithoutMentions,
  source: v.optional(ForwardSource),
  to: v.pipe(
    v.array(v.strictObject({ conversation: ConversationId, cid: Uuid })),
    v.minLength(1),
    v.maxLength(multicastMax),
  ),
});
const MulticastCommand = v.strictObject({ type: v.literal("multicast"), ...MulticastBody.entries });
/** Replaces the caller's own message by a tombstone for everyone. Idempotent. */
const DeleteForEveryoneCommand = v.strictObject({
  type: v.literal("deleteForEveryone"),
  conversation: ConversationId,
  seq: Seq,
});
/**
 * Deletes the caller's own message for everyone by client id. If it has not arrived yet, it is refused later.
 * Idempotent.
 */
const DeletePendingCommand = v.strictObject({
  type: v.literal("deletePending"),
  conversation: ConversationId,
  cid: Uuid,
});
/** Text or caption of an edited message. A caption may become empty. */
export const EditFields = {
  /** Number of edits of this message that the device has seen or made. */
  edit: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(editNumberMax)),
  text: v.lazy((text) => (text === "" ? v.literal("") : MessageText)),
};
/** Replaces the text or caption of the caller's own message, named by seq or by client id. Idempotent. */
const EditMessageCommand = v.strictObject({
  type: v.literal("editMessage"),
  conversation: ConversationId,
  target: v.union([Seq, Uuid]),
  ...EditFields,
});
const oneEmoji = "^\\p{RGI_Emoji}$";
/** One emoji that is recommended for general interchange (Unicode Technical Standard 51). */
export const Emoji = v.pipe(v.string(), v.maxLength(reactionEmojiMaxLength), v.regex(new RegExp(oneEmoji, "v")));
/** Sets the caller's only reaction to a message; null removes it. Idempotent. */
const ReactCommand = v.strictObject({
  type: v.literal("react"),
  conversation: ConversationId,
  seq: Seq,
  emoji: v.nullable(Emoji),
});
/** Whether a message is pinned, as in requests. */
export const PinFields = v.strictObject({ pinned: v.boolean() });
/** Pins a message for all members, or unpins it. Idempotent. */
const PinMessageCommand = v.strictObject({
  type: v.literal("pinMessage"),
  conversation: ConversationId,
  seq: Seq,
  ...PinFields.entries,
});
/** Messages changed after a revision, in their current state. */
const RevisedCommand = v.strictObject({ type: v.literal("revised"), conversation: ConversationId, since: Watermark });
/** Length of a timed mute in seconds. */
export const MuteSeconds = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(muteMaxSeconds));
/** Changed flags of a conversation, as in requests (`FlagChange`). */
export const FlagFields = v.strictObject({
  marked: v.optional(v.boolean()),
  archived: v.optional(v.boolean()),
  pinned: v.optional(v.union([v.boolean(), v.pipe(v.number(), v.safeInteger(), v.minValue(1))])),
  known: v.optional(v.strictObject({ epoch: v.pipe(v.string(), v.maxLength(64)), counter: Watermark })),
});
/** Mutes a conversation, for a while or without an end, or unmutes it. Mentions can still notify. */
const MuteCommand = v.strictObject({
  type: v.literal("mute"),
  conversation: ConversationId,
  muted: v.boolean(),
  seconds: v.optional(MuteSeconds),
  exceptMentions: v.optional(v.literal(true)),
});
/**
 * Marks a conversation as unread, archives or pins it, or undoes that, for the caller alone. Idempotent. `known`:
 * newest change that the device had when the person chose, so that a late request does not undo what happened since.
 */
const SetConversationFlagsCommand = v.strictObject({
  type: v.literal("setConversationFlags"),
  conversation: ConversationId,
  ...FlagFields.entries,
});
/** Changed flags of a message, as in requests. A message deleted for oneself does not come back. */
export const MessageFlagFields = v.strictObject({
  starred: v.optional(v.boolean()),
  deleted: v.optional(v.literal(true)),
});
/** Stars a message or deletes it, for the caller alone. Idempotent. */
const SetMessageFlagsCommand = v.strictObject({
  type: v.literal("setMessageFlags"),
  conversation: ConversationId,
  seq: Seq,
  ...MessageFlagFields.entries,
});
/**
 * Draft of a conversation as a device has it. `base`: number of the last change of the draft that the device has seen.
 * `ago`: how long ago the text was changed, in milliseconds. `reply`: place of the message that it answers.
 */
export const DraftFields = v.strictObject({
  base: Watermark,
  ago: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(draftAgeMaxMs)),
  text: v.pipe(v.string(), v.maxLength(messageTextMaxLength)),
  reply: v.optional(ReplyPlace),
});
/** Shares a draft with the caller's other devices; an empty text ends it. Idempotent. */
const SetDraftCommand = v.strictObject({
  type: v.literal("setDraft"),
  conversation: ConversationId,
  ...DraftFields.entries,
});
const MarkCommand = v.strictObject({
  type: v.literal("mark"),
  conversation: ConversationId,
  delivered: Watermark,
  read: Watermark,
});
/**
 * Clears the history up to `upTo`, the newest message the person has seen. With `keep` the conversation stays in the
 * list, otherwise it is removed from it.
 */
const ClearHistoryCommand = v.strictObject({
  type: v.literal("clearHistory"),
  conversation: ConversationId,
  upTo: Watermark,
  keep: v.boolean(),
});
/**
 * Messages after or before a seq, both exclusive. `after` returns ascending order, `before` descending.
 */
const PageCommand = v.strictObject({
  type: v.literal("page"),
  conversation: ConversationId,
  direction: v.picklist(["after", "before"]),
  seq: Watermark,
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(gapPageRows)),
});
/** Criteria of a search. */
export const SearchFields = {
  query: v.pipe(v.string(), v.maxLength(searchQueryMaxLength)),
  filter: v.optional(SearchFilter),
};
const SearchCommand = v.pipe(
  v.strictObject({ type: v.literal("search"), conversation: ConversationId, ...SearchFields, before: Seq }),
  v.check((search) => isSearchable(search), "invalid_input"),
);
/** Rows changed after a cursor, newest first. `before` is where the previous page ended. */
const ChangesCommand = v.strictObject({
  type: v.literal("changes"),
  since: Watermark,
  before: v.optional(Watermark),
});
/** Presence of the peer in a private conversation. */
const PresenceCommand = v.strictObject({ type: v.literal("presence"), conversation: ConversationId });
const inConversation = { conversation: ConversationId };
const [Dial, Answer, HangUp, Standing, Beat, PassSignal] = CallRequest.options;
export const CommandSchema = v.variant("type", [
  SendCommand,
  MulticastCommand,
  DeleteForEveryoneCommand,
  DeletePendingCommand,
  EditMessageCommand,
  ReactCommand,
  PinMessageCommand,
  RevisedCommand,
  MarkCommand,
  ClearHistoryCommand,
  MuteCommand,
  SetConversationFlagsCommand,
  SetMessageFlagsCommand,
  SetDraftCommand,
  PageCommand,
  SearchCommand,
  ChangesCommand,
  PresenceCommand,
  v.strictObject({ ...Dial.entries, ...inConversation }),
  v.strictObject({ ...Answer.entries, ...inConversation }),
  v.strictObject({ ...HangUp.entries, ...inConversation }),
  v.strictObject({ ...Standing.entries, ...inConversation }),
  v.strictObject({ ...Beat.entries, ...inConversation }),
  v.strictObject({ ...PassSignal.entries, ...inConversation }),
]);
