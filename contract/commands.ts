import * as v from "valibot";
import { Body, InboxRow, Mark, Message, Seq } from "./conversations";
import { errorCodes } from "./errors";
import { ConversationId, Uuid } from "./ids";
import { gapPageRows, searchQueryMaxLength, sendBatchMax } from "./limits";
import { Relation } from "./people";

/**
 * Everything a device asks of the server once it is signed in. One union, two carriers: a frame when the
 * socket is open, an HTTP request when it is not. Both end in `UserChannel.execute`.
 */
export const Send = v.strictObject({
  type: v.literal("send"),
  conversation: ConversationId,
  messages: v.pipe(v.array(v.strictObject({ cid: Uuid, body: Body })), v.minLength(1), v.maxLength(sendBatchMax)),
});
const MarkRead = v.strictObject({
  type: v.literal("mark"),
  conversation: ConversationId,
  delivered: Mark,
  read: Mark,
});
const Hide = v.strictObject({ type: v.literal("hide"), conversation: ConversationId });
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
export const Command = v.variant("type", [Send, MarkRead, Hide, Page, Search, Changes]);
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
  before: v.nullable(v.number()), // where to go on, null when everything since the cursor is here
});
export type ChangesResult = v.InferOutput<typeof ChangesResult>;

export const Unread = v.object({ unread: Mark });
export const Hidden = v.object({ hidden: Mark });

/** A page of the conversation list; `before` is where the next one begins, null on the last. */
export const ListPage = v.object({ rows: v.array(InboxRow), before: v.nullable(v.number()) });
export type ListPage = v.InferOutput<typeof ListPage>;

export type CommandResults = {
  send: SendResult;
  mark: v.InferOutput<typeof Unread>;
  hide: v.InferOutput<typeof Hidden>;
  page: PageResult;
  search: SearchResult;
  changes: ChangesResult;
};

/** A refused command. `retryAfterMs` only with `rate_limited`. */
export const Refusal = v.object({
  error: v.picklist(errorCodes),
  retryAfterMs: v.optional(v.number()),
});
export type Refusal = v.InferOutput<typeof Refusal>;
export const isRefusal = (value: object): value is Refusal => "error" in value;
