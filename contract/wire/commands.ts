import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security.ts";
import { Call, type CallResult } from "#contract/calls/call.ts";
import { InboxRow, Message, Seq, Watermark } from "#contract/conversations.ts";
import { errorCodes } from "#contract/errors.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { type Presence, VersionedSettings } from "#contract/settings.ts";
import type { CommandSchema } from "./command-schemas.ts";

/**
 * Everything a device asks of the server once it is signed in. One union, two carriers: a frame when the
 * socket is open, an HTTP request when it is not. Both end in `UserChannel.execute`.
 */
export type Command = v.InferOutput<typeof CommandSchema>;
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
export const MulticastResult = v.object({
  sent: v.array(v.object({ conversation: ConversationId, cid: Uuid, seq: Seq, at: v.number() })),
  refused: v.array(v.object({ cid: Uuid, error: v.picklist(errorCodes), retryAfterMs: v.optional(v.number()) })),
});
export type MulticastResult = v.InferOutput<typeof MulticastResult>;

export const RetractResult = v.object({ revision: Watermark });
/** Where the message stood and the revision it is deleted by; no place for one that had not come. */
export const WithdrawResult = v.object({
  revision: Watermark,
  place: v.nullable(v.object({ seq: Seq, at: v.number() })),
});
export type WithdrawResult = v.InferOutput<typeof WithdrawResult>;
export const MuteResult = v.object({ muted: v.boolean() });
/** The conversations a person has muted, those that changed last first. */
export const MuteList = v.object({ muted: v.array(ConversationId) });

/** `revision` is how far these messages bring a device that was at `since`; `more` when that is not all. */
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
  more: v.boolean(), // there is more in this direction
  /** Time of the message at the place the question names (`held`, else `seq`); null where the person sees none. */
  anchor: v.nullable(v.number()),
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
  /** The cursor these changes follow: the one asked about, or 0 where the inbox does not know that one as its own. */
  since: v.number(),
  now: v.number(), // the server's clock
  rows: v.array(InboxRow),
  people: v.array(Relation),
  calls: v.array(Call), // under way now, whatever the cursor
  before: v.nullable(v.number()), // where to go on, null when everything since the cursor is here
  settings: v.nullable(VersionedSettings), // null when they were not changed since the cursor
  notices: v.optional(v.array(SecurityNotice), []), // what became of the account since, but by this session
});
export type ChangesResult = v.InferOutput<typeof ChangesResult>;

/** What is left to read of the messages up to `head`. */
export const UnreadResult = v.object({ unread: Watermark, head: Watermark });
export const HideResult = v.object({ hidden: Watermark });

/** Whether it was passed on. */
export const RelayResult = v.object({ passed: v.boolean() });

/** A page of the conversation list; `before` is where the next one begins, null on the last. */
export const ListPage = v.object({ rows: v.array(InboxRow), before: v.nullable(v.number()) });
export type ListPage = v.InferOutput<typeof ListPage>;

export type CommandResults = {
  send: SendResult;
  spread: MulticastResult;
  retract: v.InferOutput<typeof RetractResult>;
  withdraw: WithdrawResult;
  revised: RevisedResult;
  mute: v.InferOutput<typeof MuteResult>;
  mark: v.InferOutput<typeof UnreadResult>;
  hide: v.InferOutput<typeof HideResult>;
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
