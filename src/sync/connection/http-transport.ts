import type { Command, CommandResults } from "#contract/wire/commands.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

/**
 * Sends a command by HTTP and validates its result. Throws SyncError. The code is loaded with the first command: mostly
 * the socket is open.
 */
export const requestByHttp = async <T extends Command["type"]>(
  platform: Platform,
  command: Extract<Command, { type: T }>,
  signal?: AbortSignal,
): Promise<CommandResults[T]> => {
  const { sendHttpCommand } = await import("./http-command.ts").catch(() => {
    throw new SyncError("offline");
  });
  return sendHttpCommand<T>(platform, command, signal);
};
