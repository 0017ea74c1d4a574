import type { Uuid } from "#contract/ids.ts";
import type { Body, StoredBody } from "#contract/messages/body.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import type { CommandResults, Refusal, SearchResult } from "#contract/wire/commands.ts";
import type { ConversationNotice, UnreadState } from "./notices.ts";

/**
 * A message after the checks of the sender's channel. `refusal` applies only if the message is not stored yet.
 * `isCorrected`: the original author or the reply differs from what the device sent.
 */
export type CheckedMessage = { cid: Uuid; body: Body; refusal?: Refusal; isCorrected?: boolean };
export type RefusedMessage = Refusal & { cid: Uuid };

/**
 * Reactions of others to a member's own messages: the revision of the newest one (0 if there is none), the numbers of
 * people and of messages, and the newest ones with the preview of their message.
 */
export type ReactionNews = {
  revision: number;
  people: number;
  messages: number;
  newest: { seq: number; user: Uuid; emoji: string; preview: StoredBody; whole: boolean }[];
};

/** A member's read state, valid for the log at `head`. `unread` is present only when it was counted. */
export type MemberReadState = {
  epoch: string;
  head: number;
  revision: number;
  ownReadState: ReadState;
  hidden: number;
} & Partial<UnreadState>;

/**
 * Outcome of sending messages. `unused` lists client ids whose stored message does not reference the file sent now: the
 * message was deleted since, or has another body.
 */
export type SendOutcome = CommandResults["send"] & {
  refused: RefusedMessage[];
  cidsWithoutFile: Uuid[];
  notice: ConversationNotice;
};

/** Space left in the response of a search, and rows of messages that it may still read. */
export type SearchBudget = { messages: number; bytes: number; rows: number };

/**
 * Result of one search slice: size of the found messages and rows of messages read. `isLast`: the request ends with it,
 * because its response is full or it waited for the index.
 */
export type SearchSlice = SearchResult & { bytes: number; rows: number; isLast: boolean };
