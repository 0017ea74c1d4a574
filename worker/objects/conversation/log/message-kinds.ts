import * as v from "valibot";
import { StoredBody } from "#contract/conversations.ts";

/** Kinds of stored messages: the body types, with kinds of their own for forwarded texts and for missed calls. */
const messageKinds = {
  text: { countsAsUnread: true, isForwardable: true, isSearchable: true, isSystem: false },
  forwarded: { countsAsUnread: true, isForwardable: true, isSearchable: true, isSystem: false },
  image: { countsAsUnread: true, isForwardable: true, isSearchable: true, isSystem: false },
  file: { countsAsUnread: true, isForwardable: true, isSearchable: true, isSystem: false },
  voice: { countsAsUnread: true, isForwardable: true, isSearchable: false, isSystem: false },
  event: { countsAsUnread: false, isForwardable: false, isSearchable: false, isSystem: true },
  call: { countsAsUnread: false, isForwardable: false, isSearchable: false, isSystem: true },
  missed: { countsAsUnread: true, isForwardable: false, isSearchable: false, isSystem: true },
  deleted: { countsAsUnread: false, isForwardable: false, isSearchable: false, isSystem: false },
  withheld: { countsAsUnread: false, isForwardable: false, isSearchable: false, isSystem: false },
} as const;
export type MessageKind = keyof typeof messageKinds;
type MessageTraits = (typeof messageKinds)[MessageKind];

/** Properties of a kind. `isSystem`: written by the conversation itself. */
export const getMessageTraits = (kind: MessageKind): MessageTraits => messageKinds[kind];

/** Kinds with a property, as the list of an SQL `IN`. */
export const toKindList = (hasTrait: (traits: MessageTraits) => boolean): string =>
  Object.entries(messageKinds)
    .filter(([, traits]) => hasTrait(traits))
    .map(([kind]) => `'${kind}'`)
    .join(", ");

/** Columns of a body: plain text as it is, so that a search need not parse it, everything else as JSON. */
export const toBodyColumns = (body: StoredBody): { kind: MessageKind; body: string } => {
  // Missed calls have a kind of their own, because only they count as unread.
  if (body.type === "call" && body.status === "missed") return { kind: "missed", body: JSON.stringify(body) };
  if (body.type !== "text") return { kind: body.type, body: JSON.stringify(body) };
  return body.forwarded ? { kind: "forwarded", body: JSON.stringify(body) } : { kind: "text", body: body.text };
};

export const fromBodyColumns = (kind: MessageKind, body: string): StoredBody =>
  kind === "text" ? { type: "text", text: body } : v.parse(StoredBody, JSON.parse(body));
