import * as v from "valibot";
import { CallRequest } from "#contract/calls/call-commands.ts";
import { Body, ForwardSource, Seq, Watermark } from "#contract/conversations.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { gapPageRows, multicastMax, searchQueryMaxLength, sendBatchMax } from "#contract/limits.ts";

// What the server checks a command by (see `commands.ts`). Only the server loads this file.

export const SendCommand = v.strictObject({
  type: v.literal("send"),
  conversation: ConversationId,
  messages: v.pipe(
    v.array(v.strictObject({ cid: Uuid, body: Body, source: v.optional(ForwardSource) })),
    v.minLength(1),
    v.maxLength(sendBatchMax),
  ),
});
/** One body to many conversations, each message under its own client id: forwarding and broadcasting. */
export const MulticastBody = v.strictObject({
  body: Body,
  source: v.optional(ForwardSource),
  to: v.pipe(
    v.array(v.strictObject({ conversation: ConversationId, cid: Uuid })),
    v.minLength(1),
    v.maxLength(multicastMax),
  ),
});
const MulticastCommand = v.strictObject({ type: v.literal("spread"), ...MulticastBody.entries });
/** Deletes one's own message for everybody: a tombstone stays. Done twice it is still done. */
const RetractCommand = v.strictObject({ type: v.literal("retract"), conversation: ConversationId, seq: Seq });
/**
 * Deletes one's own message for everybody by its client id, wherever it is by now: one that comes later is not taken in.
 * Done twice it is still done.
 */
const WithdrawCommand = v.strictObject({ type: v.literal("withdraw"), conversation: ConversationId, cid: Uuid });
/** Messages changed after a revision, with the state they are in now. */
const RevisedCommand = v.strictObject({ type: v.literal("revised"), conversation: ConversationId, since: Watermark });
const MuteCommand = v.strictObject({ type: v.literal("mute"), conversation: ConversationId, muted: v.boolean() });
const MarkCommand = v.strictObject({
  type: v.literal("mark"),
  conversation: ConversationId,
  delivered: Watermark,
  read: Watermark,
});
/**
 * Messages up to `upTo`, the newest the person had seen, go from one's own view: what came meanwhile stays.
 * `keep` clears a conversation that stays in the list; without it the list forgets it too.
 */
const HideCommand = v.strictObject({
  type: v.literal("hide"),
  conversation: ConversationId,
  upTo: Watermark,
  keep: v.boolean(),
});
/**
 * Messages after or before a place, exclusive. `after` answers in ascending order, `before` in descending. `held` is the
 * place of a message the device has: the answer tells that message's time, so that the two logs can be compared.
 */
const PageCommand = v.strictObject({
  type: v.literal("page"),
  conversation: ConversationId,
  direction: v.picklist(["after", "before"]),
  seq: Watermark,
  held: v.optional(Seq),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(gapPageRows)),
});
const SearchCommand = v.strictObject({
  type: v.literal("search"),
  conversation: ConversationId,
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(searchQueryMaxLength)),
  before: Seq,
});
/** Rows changed since a cursor, newest first; `before` is where the page before this one ended. */
const ChangesCommand = v.strictObject({
  type: v.literal("changes"),
  since: Watermark,
  before: v.optional(Watermark),
});
/** Whether the other of a private conversation is here, or when they were last. */
const PresenceCommand = v.strictObject({ type: v.literal("presence"), conversation: ConversationId });
const inConversation = { conversation: ConversationId };
const [Dial, Answer, HangUp, Standing, Beat, PassSignal] = CallRequest.options;
export const CommandSchema = v.variant("type", [
  SendCommand,
  MulticastCommand,
  RetractCommand,
  WithdrawCommand,
  RevisedCommand,
  MarkCommand,
  HideCommand,
  MuteCommand,
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
