import * as v from "valibot";
import { Watermark } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { ConversationId } from "#contract/ids.ts";

/** What the routes of conversations have in common. */

/** A number as a query or a path carries it. */
export const NumberText = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
export const SeqParam = v.pipe(NumberText, Watermark);
/** Beyond every message: what is said of it is said of all there are. */
export const beyondNewestSeq = Number.MAX_SAFE_INTEGER;
export const ConversationIdParam = v.object({ id: ConversationId });

/** Why a message cannot be what it says it is. */
export const messageBodyRefusals: readonly ErrorCode[] = [
  "empty_message",
  "message_too_long",
  "invalid_text",
  "invalid_file_name",
  "file_not_found",
  "original_gone",
];
