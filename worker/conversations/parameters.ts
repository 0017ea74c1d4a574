import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { ConversationId } from "#contract/ids.ts";
import { Seq, Watermark } from "#contract/messages/positions.ts";

/** Parameters shared by the conversation routes. */

/** Number in a query or path. */
export const NumberText = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
export const SeqParam = v.pipe(NumberText, Watermark);
/** Position after every message: applies to all of them. */
export const beyondNewestSeq = Number.MAX_SAFE_INTEGER;
export const ConversationIdParam = v.object({ id: ConversationId });
export const MessageParams = v.object({ id: ConversationId, seq: v.pipe(NumberText, Seq) });

/** Reasons for refusing the text of a message. */
export const messageTextRefusals: readonly ErrorCode[] = ["empty_message", "message_too_long", "invalid_text"];
/** Reasons for refusing a message body. */
export const messageBodyRefusals: readonly ErrorCode[] = [
  ...messageTextRefusals,
  "invalid_file_name",
  "file_not_found",
  "original_gone",
  "original_edited",
];
