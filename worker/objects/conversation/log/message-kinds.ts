import * as v from "valibot";
import { StoredBody } from "#contract/messages/body.ts";
import { type MessageKind, toMessageKind } from "#contract/messages/message.ts";

/**
 * Properties of a kind. `isSystem`: written by the conversation itself. `canNameAuthor`: the stored body may name an
 * original author, which a text that is no forward cannot. Whether a kind counts as unread says `unreadKinds` in
 * `contract/messages/message.ts`.
 */
type MessageTraits = { isForwardable: boolean; canNameAuthor: boolean; isSystem: boolean };

const messageKinds: Readonly<Record<MessageKind, MessageTraits>> = {
  text: { isForwardable: true, canNameAuthor: false, isSystem: false },
  forwarded: { isForwardable: true, canNameAuthor: true, isSystem: false },
  mention: { isForwardable: true, canNameAuthor: false, isSystem: false },
  reply: { isForwardable: true, canNameAuthor: false, isSystem: false },
  edited: { isForwardable: true, canNameAuthor: false, isSystem: false },
  image: { isForwardable: true, canNameAuthor: true, isSystem: false },
  file: { isForwardable: true, canNameAuthor: true, isSystem: false },
  voice: { isForwardable: true, canNameAuthor: true, isSystem: false },
  event: { isForwardable: false, canNameAuthor: false, isSystem: true },
  call: { isForwardable: false, canNameAuthor: false, isSystem: true },
  missed: { isForwardable: false, canNameAuthor: false, isSystem: true },
  deleted: { isForwardable: false, canNameAuthor: false, isSystem: false },
  withheld: { isForwardable: false, canNameAuthor: false, isSystem: false },
};

export const getMessageTraits = (kind: MessageKind): MessageTraits => messageKinds[kind];

/** Kinds that meet a condition, as the list of an SQL `IN`. */
export const toKindList = (isIncluded: (kind: MessageKind) => boolean): string =>
  (Object.keys(messageKinds) as MessageKind[])
    .filter(isIncluded)
    .map((kind) => `'${kind}'`)
    .join(", ");

/** Columns of a body: plain text as it is, so that a search need not parse it, everything else as JSON. */
export const toBodyColumns = (body: StoredBody): { kind: MessageKind; body: string } => {
  const kind = toMessageKind(body);
  return { kind, body: kind === "text" && body.type === "text" ? body.text : JSON.stringify(body) };
};

export const fromBodyColumns = (kind: MessageKind, body: string): StoredBody =>
  kind === "text" ? { type: "text", text: body } : v.parse(StoredBody, JSON.parse(body));
