import type { StoredBody } from "./body.ts";

/**
 * Kinds of stored messages: the body types, with kinds of their own for forwarded texts, texts with mentions, replies,
 * other edited texts and missed calls.
 */
export type MessageKind = StoredBody["type"] | "forwarded" | "mention" | "reply" | "edited" | "missed";

type KindTraits = {
  /**
   * `content`: written by a person, so that it can be starred, copied, forwarded, saved and sent again. `system`:
   * written by the conversation itself, without status ticks. `tombstone`: a place in the log without content.
   */
  nature: "content" | "system" | "tombstone";
  /** Counts as unread. */
  isUnread: boolean;
  /** The stored body may name an original author, which a text that is no forward cannot. */
  canNameAuthor: boolean;
  /** Filter under which a search finds it, null if no search does. */
  searchedAs: "text" | "image" | "file" | "voice" | "call" | null;
};

const text = { nature: "content", isUnread: true, canNameAuthor: false, searchedAs: "text" } as const;
const attachment = { ...text, canNameAuthor: true };
const call = { nature: "system", isUnread: false, canNameAuthor: false, searchedAs: "call" } as const;
const tombstone = { nature: "tombstone", isUnread: false, canNameAuthor: false, searchedAs: null } as const;

/** Properties that all messages of a kind have in common. */
export const messageKinds: Readonly<Record<MessageKind, KindTraits>> = {
  text,
  forwarded: { ...text, canNameAuthor: true },
  mention: text,
  reply: text,
  edited: text,
  image: { ...attachment, searchedAs: "image" },
  file: { ...attachment, searchedAs: "file" },
  voice: { ...attachment, searchedAs: "voice" },
  call,
  missed: { ...call, isUnread: true }, // has a kind of its own for this
  event: { ...call, searchedAs: null },
  deleted: tombstone,
  withheld: tombstone,
};

export const toMessageKind = (body: StoredBody): MessageKind => {
  if (body.type === "call" && body.status === "missed") return "missed";
  if (body.type !== "text") return body.type;
  if (body.forwarded) return "forwarded";
  if (body.mentions) return "mention";
  if (body.reply !== undefined) return "reply";
  return body.edited === undefined ? "text" : "edited";
};

/** A later version may have stored a kind that this version does not know. */
const natureOf = (body: StoredBody): KindTraits["nature"] | undefined =>
  (messageKinds as Partial<typeof messageKinds>)[toMessageKind(body)]?.nature;

export const hasContent = (body: StoredBody): boolean => natureOf(body) === "content";
export const isSystemMessage = (body: StoredBody): boolean => natureOf(body) === "system";
export const isTombstone = (body: StoredBody): boolean => natureOf(body) === "tombstone";
