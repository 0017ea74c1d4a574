import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { StoredBody } from "./body.ts";
import { messageKinds, toMessageKind } from "./kinds.ts";
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

/** Whether a message counts as unread. Own messages do not; kinds that this version does not know do. */
export const countsAsUnread = ({ cid, body }: Pick<Message, "cid" | "body">): boolean =>
  cid === undefined && (messageKinds as Partial<typeof messageKinds>)[toMessageKind(body)]?.isUnread !== false;
