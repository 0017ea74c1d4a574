import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security-notice.ts";
import { Call, type CallResult } from "#contract/calls/call.ts";
import { InboxRow } from "#contract/conversations.ts";
import { errorCodes } from "#contract/errors.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Message } from "#contract/messages/message.ts";
import { Seq, Watermark } from "#contract/messages/positions.ts";
import { Relation } from "#contract/people.ts";
import { ConversationFlags } from "#contract/settings/conversation-flags.ts";
import { type Presence, VersionedSettings } from "#contract/settings/settings.ts";
import type { CommandSchema } from "./command-schemas.ts";

/**
 * Requests of a signed-in device. A command travels as a frame while the socket is open and as an HTTP request
 * otherwise. Both end in `UserChannel.execute`.
 */
export type Command = v.InferOutput<typeof CommandSchema>;
export type CommandOf<T extends Command["type"]> = Extract<Command, { type: T }>;

/**
 * Positions of the accepted messages in request order. A message that is missing was neither accepted nor refused; the
 * device sends it again.
 */
export const SendResult = v.object({
  epoch: v.string(),
  sent: v.array(v.object({ cid: Uuid, seq: Seq, at: v.number() })),
});
export type SendResult = v.InferOutput<typeof SendResult>;

/** Result of a multicast for each message. `epoch`: of the conversation's log. */
export const MulticastResult = v.object({
  sent: v.array(v.object({ conversation: ConversationId, epoch: v.string(), cid: Uuid, seq: Seq, at: v.number() })),
  refused: v.array(v.object({ cid: Uuid, error: v.picklist(errorCodes), retryAfterMs: v.optional(v.number()) })),
});
export type MulticastResult = v.InferOutput<typeof MulticastResult>;

/** Revision of the deletion, and who deleted the message before, as in its tombstone. */
const deletionFields = { revision: Watermark, by: v.optional(Watermark) };
export const DeleteForEveryoneResult = v.object(deletionFields);
/** Revision of the reaction, 0 if there was none to remove. */
export const ReactResult = v.object({ revision: Watermark });
/** Members who reacted to a message, by member number; `before` is where to continue, null on the last page. */
export const ReactorPage = v.object({
  reactors: v.array(v.object({ member: Watermark, emoji: v.string() })),
  before: v.nullable(Watermark),
});
export type ReactorPage = v.InferOutput<typeof ReactorPage>;
/** Pinned messages that the person sees, the one pinned last at the end. */
export const PinMessageResult = v.object({ pinned: v.array(Seq) });
/** Position of the deleted message, null if it had not arrived, and its deletion. */
export const DeletePendingResult = v.object({
  ...deletionFields,
  place: v.nullable(v.object({ seq: Seq, at: v.number() })),
});
export type DeletePendingResult = v.InferOutput<typeof DeletePendingResult>;

/** Revision and number of the last edit of the message, which may be a later one than the requested edit. */
export const EditMessageResult = v.object({ revision: Watermark, edited: Watermark });

/**
 * Number of the newest change of an inbox row that a result includes: `counter` under the inbox's `epoch`. A device
 * whose cursor is at or beyond it has the row at least as new.
 */
export const ChangeNumber = v.object({ epoch: v.string(), counter: v.number() });
export type ChangeNumber = v.InferOutput<typeof ChangeNumber>;

/** `until`: end of a timed mute. `exceptMentions`: mentions still notify. */
export const MuteResult = v.object({
  muted: v.boolean(),
  exceptMentions: v.optional(v.boolean()),
  until: v.optional(v.number()),
  change: v.optional(ChangeNumber),
});
/** Flags of the conversation after the request. */
export const FlagsResult = v.object({ ...ConversationFlags.entries, change: v.optional(ChangeNumber) });
/** Revision of the conversation's message flags after the request. */
export const MessageFlagsResult = v.object({ revision: Watermark });
/**
 * Number of the draft's last change, 0 if a newer draft of another device is stored and stays, or if there was nothing
 * to empty.
 */
export const DraftResult = v.object({ revision: Watermark });
/** Conversations the person has muted, last changed first. */
export const MuteList = v.object({ muted: v.array(ConversationId) });

/** Changed messages. `revision` is the one they bring a device at `since` to; `more` if further changes follow. */
export const RevisedResult = v.object({
  epoch: v.string(),
  revision: Watermark,
  messages: v.array(Message),
  more: v.boolean(),
});
export type RevisedResult = v.InferOutput<typeof RevisedResult>;

export const PageResult = v.object({
  epoch: v.string(),
  head: Watermark,
  messages: v.array(Message),
  more: v.boolean(), // whether there are more in this direction
});
export type PageResult = v.InferOutput<typeof PageResult>;

export const SearchResult = v.object({
  messages: v.array(Message), // descending
  before: v.nullable(Seq), // where to continue, null if the whole history was searched
});
export type SearchResult = v.InferOutput<typeof SearchResult>;

/**
 * Changes of a person's inbox. `counter` is the cursor to store after the last page. Another `epoch` than the device's
 * invalidates its cursor; it starts from 0.
 */
export const ChangesResult = v.object({
  epoch: v.string(),
  counter: v.number(),
  /** Cursor that these changes follow: the requested one, or 0 if the inbox does not know it. */
  since: v.number(),
  now: v.number(), // server time
  rows: v.array(InboxRow),
  people: v.array(Relation),
  calls: v.array(Call), // open now, whatever the cursor
  before: v.nullable(v.number()), // where to continue, null on the last page
  settings: v.nullable(VersionedSettings), // null if unchanged since the cursor
  draftHead: v.optional(Watermark, 0), // number of the last change of any draft, 0 without one
  notices: v.optional(v.array(SecurityNotice), []), // security notices after the cursor that this session did not cause
});
export type ChangesResult = v.InferOutput<typeof ChangesResult>;

/** Unread count of messages up to `head`. */
export const UnreadResult = v.object({ unread: Watermark, head: Watermark });
export const ClearHistoryResult = v.object({ hidden: Watermark, change: v.optional(ChangeNumber) });

/** Whether the request was passed on. */
export const RelayResult = v.object({ passed: v.boolean() });

/** Page of the conversation list. `before` is where the next page begins, null on the last. */
export const ListPage = v.object({ rows: v.array(InboxRow), before: v.nullable(v.number()) });
export type ListPage = v.InferOutput<typeof ListPage>;

export type CommandResults = {
  send: SendResult;
  multicast: MulticastResult;
  deleteForEveryone: v.InferOutput<typeof DeleteForEveryoneResult>;
  deletePending: DeletePendingResult;
  editMessage: v.InferOutput<typeof EditMessageResult>;
  react: v.InferOutput<typeof ReactResult>;
  pinMessage: v.InferOutput<typeof PinMessageResult>;
  revised: RevisedResult;
  mute: v.InferOutput<typeof MuteResult>;
  setConversationFlags: v.InferOutput<typeof FlagsResult>;
  setMessageFlags: v.InferOutput<typeof MessageFlagsResult>;
  setDraft: v.InferOutput<typeof DraftResult>;
  mark: v.InferOutput<typeof UnreadResult>;
  clearHistory: v.InferOutput<typeof ClearHistoryResult>;
  page: PageResult;
  search: SearchResult;
  changes: ChangesResult;
  presence: Presence;
  dial: CallResult;
  answer: CallResult;
  hangUp: CallResult;
  standing: CallResult;
  beat: v.InferOutput<typeof RelayResult>;
  signal: v.InferOutput<typeof RelayResult>;
};

/** A refused command. `retryAfterMs` only with `rate_limited` and `conversation_limited`. */
export const Refusal = v.object({
  error: v.picklist(errorCodes),
  retryAfterMs: v.optional(v.number()),
});
export type Refusal = v.InferOutput<typeof Refusal>;
export const isRefusal = (value: object): value is Refusal => "error" in value;
