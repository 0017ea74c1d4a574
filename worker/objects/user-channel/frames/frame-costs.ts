import { frameTokenBytes } from "#contract/limits.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import type { Command } from "#contract/wire/commands.ts";

/** Tokens of one message on a socket for its length alone, before anything of it is read. */
export const costOfLength = (length: number): number => Math.floor(length / frameTokenBytes);

/** What a frame asks for: reading a page takes the work of two marks, and what is deleted is told to all members. */
const frameCosts: Partial<Record<ClientFrame[0], number>> = { g: 2, v: 2, q: 2, c: 2, e: 4 };

const costOfFrame = (frame: ClientFrame): number => (frame[0] === "f" ? frame[4].length : (frameCosts[frame[0]] ?? 1));

/** Tokens of frames that travelled as one, each counted. */
export const costOfFrames = (frames: readonly ClientFrame[]): number =>
  frames.reduce((sum, frame) => sum + costOfFrame(frame), 0);

const commandCosts: Partial<Record<Command["type"], number>> = {
  page: 2,
  revised: 2,
  search: 2,
  changes: 2,
  retract: 4,
  withdraw: 4,
};

/** The same for a command that came by HTTP. */
export const costOfCommand = (command: Command): number => {
  if (command.type === "send") return command.messages.length;
  return command.type === "spread" ? command.to.length : (commandCosts[command.type] ?? 1);
};
