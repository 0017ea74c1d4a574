import * as v from "valibot";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { messageKinds, toMessageKind } from "#contract/messages/kinds.ts";
import type { Message } from "#contract/messages/message.ts";
import { Seq } from "#contract/messages/positions.ts";
import { listWebLinks } from "./links.ts";

/** Kinds by which a search can be filtered. A text or caption with a web address is also a link. */
const searchKinds = ["text", "image", "file", "voice", "link", "call"] as const;
export type SearchKind = (typeof searchKinds)[number];

const Time = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/**
 * Filter of a search (`docs/decisions/search.md`): member number of the sender, kind, and the time of sending in epoch
 * milliseconds, from `after` on and before `before`.
 */
export const SearchFilter = v.strictObject({
  from: v.optional(v.union([v.literal(0), Seq])),
  kind: v.optional(v.picklist(searchKinds)),
  after: v.optional(Time),
  before: v.optional(Time),
});
export type SearchFilter = v.InferOutput<typeof SearchFilter>;

/** Whether a search looks for something: a query without a text needs a filter. */
export const isSearchable = ({ query, filter }: { query: string; filter?: object | undefined }): boolean =>
  query !== "" || (filter !== undefined && Object.keys(filter).length > 0);

const hasLink = (body: Message["body"]): boolean =>
  "text" in body && body.text !== undefined && listWebLinks(body.text).length > 0;

/** Kinds under which a search finds a message; none for a system message of a group, a tombstone and a placeholder. */
export const listSearchKinds = (body: Message["body"]): SearchKind[] => {
  const kind = messageKinds[toMessageKind(body)].searchedAs;
  if (kind === null) return [];
  return hasLink(body) ? [kind, "link"] : [kind];
};

const isOfKind = (body: Message["body"], wanted: SearchKind | undefined): boolean => {
  const kind = messageKinds[toMessageKind(body)].searchedAs;
  if (kind === null) return false;
  return wanted === undefined || (wanted === "link" ? hasLink(body) : wanted === kind);
};

/**
 * Whether a search finds a message, by its filter and its text. Without `isTextFound` it finds all messages of the
 * filter.
 */
export const createMessageMatcher =
  (
    isTextFound: ((text: string) => boolean) | undefined,
    { from, kind, after = 0, before = Number.POSITIVE_INFINITY }: SearchFilter = {},
  ): ((message: Pick<Message, "sender" | "at" | "body">) => boolean) =>
  ({ sender, at, body }) =>
    (from === undefined || sender === from) &&
    at >= after &&
    at < before &&
    isOfKind(body, kind) &&
    (isTextFound === undefined || isTextFound(searchTextOfBody(body)));
