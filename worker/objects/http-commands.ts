import type { ErrorCode } from "#contract/errors.ts";
import { type Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { getUserChannelStub } from "./stubs.ts";

/** The HTTP carrier's end: what a route does that stands for a command. */

/** What a stranger to a conversation hears of it, and everybody of one that is not there. */
export const nonMemberErrors: readonly ErrorCode[] = ["invalid_input", "conversation_not_found", "unavailable"];

export const respondWithRefusal = (c: AppContext, { error, retryAfterMs }: Refusal) =>
  refuse(c, error, retryAfterMs === undefined ? {} : { retryAfterMs });

/** Has the caller's channel carry out a command. */
export const executeCommand = async <T extends Command["type"]>(
  c: AppContext,
  command: CommandOf<T>,
): Promise<CommandResults[T] | Refusal> => {
  const { user, session } = c.var.caller;
  return getUserChannelStub(c.env, user).execute<T>(user, command, session);
};

/** The same, and answers what came of it. */
export const respondWithCommand = async <T extends Command["type"]>(
  c: AppContext,
  command: CommandOf<T>,
): Promise<Response> => {
  const result: CommandResults[T] | Refusal = await executeCommand<T>(c, command);
  return isRefusal(result) ? respondWithRefusal(c, result) : c.json(result, 200);
};
