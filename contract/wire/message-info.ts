import * as v from "valibot";
import { ConversationId, privateMembers } from "#contract/ids.ts";

/** Delivery of one's own message in a private conversation (`docs/decisions/message-info.md`). */

/**
 * Time at which a message was delivered or read, epoch milliseconds; null if it is not known any more. If it is not
 * exact, that happened then or earlier.
 */
const ReceiptTime = v.object({ at: v.nullable(v.number()), isExact: v.boolean() });
export type ReceiptTime = v.InferOutput<typeof ReceiptTime>;

/** Times of a message; null until it is delivered or read, as far as the other person shows it. */
export const MessageInfo = v.object({ delivered: v.nullable(ReceiptTime), read: v.nullable(ReceiptTime) });
export type MessageInfo = v.InferOutput<typeof MessageInfo>;

/** Id of a private conversation. */
export const PrivateConversationId = v.pipe(
  ConversationId,
  v.check((id) => privateMembers(id) !== undefined, "must be a private conversation"),
);

export const messageInfoPath = (conversation: ConversationId, seq: number): string =>
  `/api/conversations/${conversation}/messages/${seq}/info`;
