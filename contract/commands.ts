import * as v from "valibot";
import { Call, CallAsk, type CallResult } from "./calls";
import { Body, InboxRow, Mark, Message, Seq } from "./conversations";
import { errorCodes } from "./errors";
import { ConversationId, Uuid } from "./ids";
import { gapPageRows, searchQueryMaxLength, sendBatchMax, spreadMax } from "./limits";
import { Relation } from "./people";

/** Where a forwarded message was read: the server looks whether its sender may still pass it on. */
export const Source = v.strictObject({ conversation: ConversationId, seq: Seq });
export type Source = v.InferOutput<typeof Source>;

/**
 * Everything a device asks of the server once it is signed in. One union, two carriers: a frame when the
 * socket is open, an HTTP request when it is not. Both end in `UserChannel.execute`.
 */
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
/** Messages after or before a place, exclusive. `after` answers in ascending order, `before` in descending. */
const Page = v.strictObject({
  type: v.literal("page"),
  conversation: ConversationId,
  direction: v.picklist(["after", "before"]),
  seq: Mark,
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
const inConversation = { conversation: ConversationId };
const [Dial, Answer, HangUp, Standing, Beat, PassSignal] = CallAsk.options;
export const Command = v.variant("type", [
  Send,
  Spread,
  Retract,
  Revised,
  MarkRead,
  Hide,
  Mute,
  Page,
  Search,
  Changes,
  v.strictObject({ ...Dial.entries, ...inConversation }),
  v.strictObject({ ...Answer.entries, ...inConversation }),
  v.strictObject({ ...HangUp.entries, ...inConversation }),
  v.strictObject({ ...Standing.entries, ...inConversation }),
  v.strictObject({ ...Beat.entries, ...inConversation }),
  v.strictObject({ ...PassSignal.entries, ...inConversation }),
]);
export type Command = v.InferOutput<typeof Command>;
export type CommandOf<T extends Command["type"]> = Extract<Command, { type: T }>;

/**
 * Where the messages stand now, in the order they were asked for. One that is not in `sent` was not taken in yet
 * and not refused either: it is to be sent again, and that answer will tell.
 */
export const SendResult = v.object({
  epoch: v.string(),
  sent: v.array(v.object({ cid: Uuid, seq: Seq, at: v.number() })),
});
export type SendResult = v.InferOutput<typeof SendResult>;

/** Each message of a spread by itself: one that was refused says why. */
export const SpreadResult = v.object({
  sent: v.array(v.object({ conversation: ConversationId, cid: Uuid, seq: Seq, at: v.number() })),
  refused: v.array(v.object({ cid: Uuid, error: v.picklist(errorCodes) })),
});
export type SpreadResult = v.InferOutput<typeof SpreadResult>;

export const Retracted = v.object({ revision: Mark });
export const Muted = v.object({ muted: v.boolean() });
/** The conversations a person has muted, those that changed last first. */
export const MuteList = v.object({ muted: v.array(ConversationId) });

/** `revision` is how far these messages bring a device that was at `since`; `more` when that is not all. */
export const RevisedResult = v.object({
  epoch: v.string(),
  revision: Mark,
  messages: v.array(Message),
  more: v.boolean(),
});
export type RevisedResult = v.InferOutput<typeof RevisedResult>;

export const PageResult = v.object({
  epoch: v.string(),
  head: Mark,
  messages: v.array(Message),
  more: v.boolean(), // there is more in this direction
});
export type PageResult = v.InferOutput<typeof PageResult>;

export const SearchResult = v.object({
  messages: v.array(Message), // descending
  before: v.nullable(Seq), // where to go on, null when the whole history was searched
});
export type SearchResult = v.InferOutput<typeof SearchResult>;

/**
 * What changed for a person. `counter` is the cursor to keep once every page is in; `epoch` other than the
 * one the device knows means that its cursor means nothing and it starts from 0.
 */
export const ChangesResult = v.object({
  epoch: v.string(),
  counter: v.number(),
  now: v.number(), // the server's clock
  rows: v.array(InboxRow),
  people: v.array(Relation),
  calls: v.array(Call), // under way now, whatever the cursor
  before: v.nullable(v.number()), // where to go on, null when everything since the cursor is here
});
export type ChangesResult = v.InferOutput<typeof ChangesResult>;

/** What is left to read of the messages up to `head`. */
export const Unread = v.object({ unread: Mark, head: Mark });
export const Hidden = v.object({ hidden: Mark });

/** Whether it was passed on. */
export const Passed = v.object({ passed: v.boolean() });

/** A page of the conversation list; `before` is where the next one begins, null on the last. */
export const ListPage = v.object({ rows: v.array(InboxRow), before: v.nullable(v.number()) });
export type ListPage = v.InferOutput<typeof ListPage>;

export type CommandResults = {
  send: SendResult;
  spread: SpreadResult;
  retract: v.InferOutput<typeof Retracted>;
  revised: RevisedResult;
  mute: v.InferOutput<typeof Muted>;
  mark: v.InferOutput<typeof Unread>;
  hide: v.InferOutput<typeof Hidden>;
  page: PageResult;
  search: SearchResult;
  changes: ChangesResult;
  dial: CallResult;
  answer: CallResult;
  hangUp: CallResult;
  standing: CallResult;
  beat: v.InferOutput<typeof Passed>;
  signal: v.InferOutput<typeof Passed>;
};

/** A refused command. `retryAfterMs` only with `rate_limited`. */
export const Refusal = v.object({
  error: v.picklist(errorCodes),
  retryAfterMs: v.optional(v.number()),
});
export type Refusal = v.InferOutput<typeof Refusal>;
export const isRefusal = (value: object): value is Refusal => "error" in value;
