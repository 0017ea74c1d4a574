import * as v from "valibot";
import { CallAsk } from "#contract/calls/call-commands.ts";
import { Body, Mark, Seq, Source } from "#contract/conversations.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { gapPageRows, searchQueryMaxLength, sendBatchMax, spreadMax } from "#contract/limits.ts";

// What the server checks a command by (see `commands.ts`). Only the server loads this file.

export const Send = v.strictObject({
  type: v.literal("send"),
  conversation: ConversationId,
  messages: v.pipe(
    v.array(v.strictObject({ cid: Uuid, body: Body, source: v.optional(Source) })),
    v.minLength(1),
    v.maxLength(sendBatchMax),
  ),
});
/** One body to many conversations, each message under its own client id: forwarding and broadcasting. */
export const SpreadBody = v.strictObject({
  body: Body,
  source: v.optional(Source),
  to: v.pipe(
    v.array(v.strictObject({ conversation: ConversationId, cid: Uuid })),
    v.minLength(1),
    v.maxLength(spreadMax),
  ),
});
const Spread = v.strictObject({ type: v.literal("spread"), ...SpreadBody.entries });
/** Deletes one's own message for everybody: a tombstone stays. Done twice it is still done. */
const Retract = v.strictObject({ type: v.literal("retract"), conversation: ConversationId, seq: Seq });
/**
 * Deletes one's own message for everybody by its client id, wherever it is by now: one that comes later is not taken in.
 * Done twice it is still done.
 */
const Withdraw = v.strictObject({ type: v.literal("withdraw"), conversation: ConversationId, cid: Uuid });
/** Messages changed after a revision, with the state they are in now. */
const Revised = v.strictObject({ type: v.literal("revised"), conversation: ConversationId, since: Mark });
const Mute = v.strictObject({ type: v.literal("mute"), conversation: ConversationId, muted: v.boolean() });
const MarkRead = v.strictObject({
  type: v.literal("mark"),
  conversation: ConversationId,
  delivered: Mark,
  read: Mark,
});
/**
 * Messages up to `upTo`, the newest the person had seen, go from one's own view: what came meanwhile stays.
 * `keep` clears a conversation that stays in the list; without it the list forgets it too.
 */
const Hide = v.strictObject({
  type: v.literal("hide"),
  conversation: ConversationId,
  upTo: Mark,
  keep: v.boolean(),
});
/**
 * Messages after or before a place, exclusive. `after` answers in ascending order, `before` in descending. `held` is the
 * place of a message the device has: the answer tells that message's time, so that the two logs can be compared.
 */
const Page = v.strictObject({
  type: v.literal("page"),
  conversation: ConversationId,
  direction: v.picklist(["after", "before"]),
  seq: Mark,
  held: v.optional(Seq),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(gapPageRows)),
});
const Search = v.strictObject({
  type: v.literal("search"),
  conversation: ConversationId,
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(searchQueryMaxLength)),
  before: Seq,
});
/** Rows changed since a cursor, newest first; `before` is where the page before this one ended. */
const Changes = v.strictObject({
  type: v.literal("changes"),
  since: Mark,
  before: v.optional(Mark),
});
/** Whether the other of a private conversation is here, or when they were last. */
const AskPresence = v.strictObject({ type: v.literal("presence"), conversation: ConversationId });
const inConversation = { conversation: ConversationId };
const [Dial, Answer, HangUp, Standing, Beat, PassSignal] = CallAsk.options;
export const CommandSchema = v.variant("type", [
  Send,
  Spread,
  Retract,
  Withdraw,
  Revised,
  MarkRead,
  Hide,
  Mute,
  Page,
  Search,
  Changes,
  AskPresence,
  v.strictObject({ ...Dial.entries, ...inConversation }),
  v.strictObject({ ...Answer.entries, ...inConversation }),
  v.strictObject({ ...HangUp.entries, ...inConversation }),
  v.strictObject({ ...Standing.entries, ...inConversation }),
  v.strictObject({ ...Beat.entries, ...inConversation }),
  v.strictObject({ ...PassSignal.entries, ...inConversation }),
]);
