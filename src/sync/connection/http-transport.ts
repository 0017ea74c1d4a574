import * as v from "valibot";
import { CallResult } from "#contract/calls/call.ts";
import { Presence } from "#contract/settings.ts";
import {
  ChangesResult,
  type Command,
  type CommandResults,
  Hidden,
  Muted,
  PageResult,
  Passed,
  Retracted,
  RevisedResult,
  SearchResult,
  SendResult,
  SpreadResult,
  Unread,
  Withdrawn,
} from "#contract/wire/commands.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

const results = {
  send: SendResult,
  spread: SpreadResult,
  retract: Retracted,
  withdraw: Withdrawn,
  revised: RevisedResult,
  mute: Muted,
  mark: Unread,
  hide: Hidden,
  page: PageResult,
  search: SearchResult,
  changes: ChangesResult,
  presence: Presence,
  dial: CallResult,
  answer: CallResult,
  hangUp: CallResult,
  standing: CallResult,
  beat: Passed,
  signal: Passed,
} as const satisfies Record<Command["type"], v.GenericSchema>;

/** A command by HTTP. Throws a SyncError. */
export const askByHttp = async <T extends Command["type"]>(
  platform: Platform,
  command: Extract<Command, { type: T }>,
  signal?: AbortSignal,
): Promise<CommandResults[T]> => {
  const answer = await platform.request(toHttpRequest(command), { signal });
  const parsed = v.safeParse(results[command.type], answer);
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output as CommandResults[T];
};
