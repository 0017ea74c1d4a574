import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { Command } from "#contract/wire/commands.ts";

/** Questions; what changes something has ways of its own, by which it is told whether it was done. */
export type RequestCommand = Extract<
  Command,
  { type: "page" | "search" | "changes" | "revised" | "presence" | CallRequest["type"] }
>;
