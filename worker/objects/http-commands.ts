import type { ErrorCode } from "#contract/errors.ts";
import { type Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { getUserChannelStub } from "./stubs.ts";

/** HTTP transport of commands: runs the command that a route stands for. */

/**
 * Errors of a request about a conversation the caller is not a member of, which equal those of a missing conversation.
 */
export const nonMemberErrors: readonly ErrorCode[] = ["invalid_input", "conversation_not_found", "unavailable"];

export const respondWithRefusal = (c: AppContext, { error, retryAfterMs }: Refusal) =>
  refuse(c, error, retryAfterMs === undefined ? {} : { retryAfterMs });

/** Runs a command in the caller's UserChannel. */
export const executeCommand = async <T extends Command["type"]>(
  c: AppContext,
  command: CommandOf<T>,
): Promise<CommandResults[T] | Refusal> => {
  const { user, session } = c.var.caller;
  return getUserChannelStub(c.env, user).execute<T>(command, session);
};

/** Runs a command in the caller's UserChannel and responds with its result or refusal. */
export const respondWithCommand = async <T extends Command["type"]>(
  c: AppContext,
  command: CommandOf<T>,
): Promise<Response> => {
  const result: CommandResults[T] | Refusal = await executeCommand<T>(c, command);
  return isRefusal(result) ? respondWithRefusal(c, result) : c.json(result, 200);
};
