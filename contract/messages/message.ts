import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { StoredBody } from "./body.ts";
import { Count, Seq } from "./positions.ts";

/** A message in the log. `sender` is the member number in this conversation. */
export const Message = v.object({
  seq: Seq,
  sender: Count,
  at: v.number(), // server time, epoch milliseconds, never decreasing within a conversation
  body: StoredBody,
  cid: v.optional(Uuid), // the sender's client id, sent to the author only
  // never delivered to the others, whatever their read state; sent to the author only
  held: v.optional(v.literal(true)),
  reactions: v.optional(v.string()), // as the reader sees them (`wire/reactions.ts`), absent if there are none
});
export type Message = v.InferOutput<typeof Message>;

/**
 * Kinds of stored messages: the body types, with kinds of their own for forwarded texts, texts with mentions, replies,
 * other edited texts and missed calls.
 */
export type MessageKind = StoredBody["type"] | "forwarded" | "mention" | "reply" | "edited" | "missed";

/** Missed calls have a kind of their own, because only they count as unread. */
export const toMessageKind = (body: StoredBody): MessageKind => {
  if (body.type === "call" && body.status === "missed") return "missed";
  if (body.type !== "text") return body.type;
  if (body.forwarded) return "forwarded";
  if (body.mentions) return "mention";
  if (body.reply !== undefined) return "reply";
  return body.edited === undefined ? "text" : "edited";
};

/** Whether messages of a kind count as unread: what people write, and missed calls. */
export const unreadKinds: Readonly<Record<MessageKind, boolean>> = {
  text: true,
  forwarded: true,
  mention: true,
  reply: true,
  edited: true,
  image: true,
  file: true,
  voice: true,
  event: false,
  call: false,
  missed: true,
  deleted: false,
  withheld: false,
};

/** Whether a message counts as unread. Own messages do not; kinds that this version does not know do. */
export const countsAsUnread = ({ cid, body }: Pick<Message, "cid" | "body">): boolean =>
  cid === undefined && unreadKinds[toMessageKind(body)] !== false;
