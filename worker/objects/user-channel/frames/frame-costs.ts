import { frameTokenBytes } from "#contract/limits/sockets.ts";
import * as clientFrame from "#contract/wire/client-frame-types.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import type { Command } from "#contract/wire/commands.ts";
import type { GlobalSearch } from "#contract/wire/global-search.ts";

/** Tokens for the length of a socket message, charged before it is read. */
export const costOfLength = (length: number): number => Math.floor(length / frameTokenBytes);

/**
 * Tokens by frame type, 1 if not listed. A page is read and serialized; a deletion, an edit, a reaction or a pin
 * notifies all members.
 */
const frameCosts: Partial<Record<ClientFrame[0], number>> = {
  [clientFrame.page]: 4,
  [clientFrame.revisions]: 2,
  [clientFrame.search]: 2,
  [clientFrame.changes]: 2,
  [clientFrame.deleteMessage]: 4,
  [clientFrame.editMessage]: 4,
  [clientFrame.react]: 2,
  [clientFrame.pin]: 4,
};

const costOfFrame = (frame: ClientFrame): number =>
  frame[0] === clientFrame.multicast ? frame[4].length : (frameCosts[frame[0]] ?? 1);

/** Tokens of a batch of frames. */
export const costOfFrames = (frames: readonly ClientFrame[]): number =>
  frames.reduce((sum, frame) => sum + costOfFrame(frame), 0);

const commandCosts: Partial<Record<Command["type"], number>> = {
  page: 4,
  revised: 2,
  search: 2,
  changes: 2,
  deleteForEveryone: 4,
  deletePending: 4,
  editMessage: 4,
  react: 2,
  pinMessage: 4,
};

/** Tokens of a command by HTTP. */
export const costOfCommand = (command: Command): number => {
  if (command.type === "send") return command.messages.length;
  return command.type === "multicast" ? command.to.length : (commandCosts[command.type] ?? 1);
};

/** Tokens of a search in several conversations: that of a search in each. */
export const costOfGlobalSearch = ({ targets }: GlobalSearch): number => targets.length * (commandCosts.search ?? 1);
