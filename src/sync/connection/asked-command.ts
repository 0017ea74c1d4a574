import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { Command } from "#contract/wire/commands.ts";

/**
 * Commands sent as a request and answered with a result, over the socket or by HTTP. Messages, receipts and changes of
 * stored data have their own paths, which also confirm that the change was made.
 */
export type RequestCommand = Extract<
  Command,
  { type: "page" | "search" | "changes" | "revised" | "presence" | CallRequest["type"] }
>;
