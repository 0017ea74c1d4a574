import * as v from "valibot";
import { type Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "../../contract/commands";
import { Mark } from "../../contract/conversations";
import type { ErrorCode } from "../../contract/errors";
import { ConversationId } from "../../contract/ids";
import type { AppContext } from "../lib/app";
import { refuse } from "../lib/refusal";
import { userChannelOf } from "../objects/stubs";

/** What the routes of conversations have in common: each carries one command to the caller's channel. */

/** A number as a query or a path carries it. */
export const digits = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
export const Place = v.pipe(digits, Mark);
/** Beyond every message: what is said of it is said of all there are. */
export const newest = Number.MAX_SAFE_INTEGER;
export const Named = v.object({ id: ConversationId });

export const strangers: readonly ErrorCode[] = ["invalid_input", "conversation_not_found", "unavailable"];
/** Why a message cannot be what it says it is. */
export const unfit: readonly ErrorCode[] = [
  "empty_message",
  "message_too_long",
  "invalid_text",
  "invalid_file_name",
  "file_not_found",
  "original_gone",
];

const answerRefusal = (c: AppContext, { error, retryAfterMs }: Refusal) =>
  refuse(c, error, retryAfterMs === undefined ? {} : { retryAfterMs });

/** Has the caller's channel carry out a command and answers what came of it. */
export const carry = async <T extends Command["type"]>(c: AppContext, command: CommandOf<T>): Promise<Response> => {
  const { user } = c.var.caller;
  const result: CommandResults[T] | Refusal = await userChannelOf(c.env, user).execute<T>(user, command);
  return isRefusal(result) ? answerRefusal(c, result) : c.json(result, 200);
};
