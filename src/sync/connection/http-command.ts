import * as v from "valibot";
import { CallResult } from "#contract/calls/call.ts";
import { Presence } from "#contract/settings/settings.ts";
import {
  ChangesResult,
  ClearHistoryResult,
  type Command,
  type CommandResults,
  DeleteForEveryoneResult,
  DeletePendingResult,
  DraftResult,
  EditMessageResult,
  FlagsResult,
  MessageFlagsResult,
  MulticastResult,
  MuteResult,
  PageResult,
  PinMessageResult,
  ReactResult,
  RelayResult,
  RevisedResult,
  SearchResult,
  SendResult,
  UnreadResult,
} from "#contract/wire/commands.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

const resultSchemas = {
  send: SendResult,
  multicast: MulticastResult,
  deleteForEveryone: DeleteForEveryoneResult,
  deletePending: DeletePendingResult,
  editMessage: EditMessageResult,
  react: ReactResult,
  pinMessage: PinMessageResult,
  revised: RevisedResult,
  mute: MuteResult,
  setConversationFlags: FlagsResult,
  setMessageFlags: MessageFlagsResult,
  setDraft: DraftResult,
  mark: UnreadResult,
  clearHistory: ClearHistoryResult,
  page: PageResult,
  search: SearchResult,
  changes: ChangesResult,
  presence: Presence,
  dial: CallResult,
  answer: CallResult,
  hangUp: CallResult,
  standing: CallResult,
  beat: RelayResult,
  signal: RelayResult,
} as const satisfies Record<Command["type"], v.GenericSchema>;

/** Sends a command by HTTP and validates its result. Throws SyncError. */
export const sendHttpCommand = async <T extends Command["type"]>(
  platform: Platform,
  command: Extract<Command, { type: T }>,
  signal?: AbortSignal,
): Promise<CommandResults[T]> => {
  const body = await platform.request(toHttpRequest(command), { signal });
  const parsed = v.safeParse(resultSchemas[command.type], body);
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output as CommandResults[T];
};
