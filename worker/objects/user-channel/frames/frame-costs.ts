import { frameTokenBytes } from "#contract/limits/sockets.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import type { Command } from "#contract/wire/commands.ts";
import type { GlobalSearch } from "#contract/wire/global-search.ts";

/** Tokens for the length of a socket message, charged before it is read. */
export const costOfLength = (length: number): number => Math.floor(length / frameTokenBytes);

/**
 * Tokens by command, 1 if not listed, also of its frame. A page is read and serialized; a deletion, an edit, a reaction
 * or a pin notifies all members.
 */
const commandCosts: Partial<Record<Command["type"] | ClientFrame["type"], number>> = {
  page: 4,
  revised: 2,
  search: 2,
  changes: 2,
  deleteMessage: 4,
  deleteForEveryone: 4,
  deletePending: 4,
  editMessage: 4,
  react: 2,
  pinMessage: 4,
};

const costOfFrame = (frame: ClientFrame): number =>
  frame.type === "multicast" ? frame.to.length : (commandCosts[frame.type] ?? 1);

/** Tokens of a batch of frames. */
export const costOfFrames = (frames: readonly ClientFrame[]): number =>
  frames.reduce((sum, frame) => sum + costOfFrame(frame), 0);

/** Tokens of a command by HTTP. */
export const costOfCommand = (command: Command): number => {
  if (command.type === "send") return command.messages.length;
  return command.type === "multicast" ? command.to.length : (commandCosts[command.type] ?? 1);
};

/** Tokens of a search in several conversations: that of a search in each. */
export const costOfGlobalSearch = ({ targets }: GlobalSearch): number => targets.length * (commandCosts.search ?? 1);
