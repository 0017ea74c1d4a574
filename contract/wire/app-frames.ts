import * as v from "valibot";
import { CallRequest } from "#contract/calls/call-commands.ts";
import { ConversationId } from "#contract/ids.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { Count } from "#contract/messages/positions.ts";
import { bit, type Codec, count, int, list, optional, plain, text, tuple, uuid } from "./codec.ts";
import type { Command } from "./commands.ts";
import { sentBody } from "./compact-encoding.ts";
import { createFrameSet, type FrameValue, frame } from "./frame-set.ts";
import type { SearchFilter } from "./search-filter.ts";
import { originBase } from "./server-frames.ts";

const conversationRef = plain(v.union([Count, ConversationId])); // its number in the inbox, or its id before there is one
export const refField = ["ref", count] as const; // the device's request number, repeated in the answer
export const conversationField = ["conversation", conversationRef] as const;
const [ref, conversation] = [refField, conversationField];
const source = tuple([conversation, ["seq", count]]); // original of a forwarded message
const direction: Codec<"after" | "before", "a" | "b"> = {
  schema: v.picklist(["a", "b"]),
  encode: (value) => (value === "after" ? "a" : "b"),
  decode: (wire) => (wire === "a" ? "after" : "before"),
};
/** Only the schema of the command checks it: devices do not load the schema with the socket. */
const filter: Codec<SearchFilter> = plain(v.unknown() as v.GenericSchema<unknown, SearchFilter>);

/**
 * Frames from device to server that the app sends. Those of commands have the names and fields of their commands
 * (`command-schemas.ts`). The app sends all other commands by HTTP.
 */
export const appFrames = {
  /** First frame of a socket: protocol version, and the device's epoch and change counter. */
  hello: frame("h", [
    ["version", int],
    ["epoch", text],
    ["counter", count],
  ]),
  /** Message to a conversation, written or forwarded. */
  send: frame("s", [ref, conversation, ["cid", uuid], ["body", sentBody]], [["source", source]]),
  /** One body to many conversations. The refs of its messages start with that of the frame. */
  multicast: frame("f", [
    ref,
    ["body", sentBody],
    ["source", optional(source)],
    ["to", list(tuple([conversation, ["cid", uuid]]))],
  ]),
  react: frame("x", [ref, conversation, ["seq", count]], [["emoji", text, null]]),
  setDraft: frame(
    "D",
    [ref, conversation, ["base", count], ["ago", count], ["text", text]],
    [["reply", plain(ReplyPlace)]],
  ),
  /** This person is typing. Not stored. */
  typing: frame("t", [conversation]),
  /** Own receipts. The answer is the change of the row that results. */
  mark: frame("r", [conversation, ["delivered", count], ["read", count]]),
  page: frame("g", [ref, conversation, ["direction", direction], ["seq", count], ["limit", count]]),
  search: frame("q", [ref, conversation, ["query", text], ["before", count]], [["filter", filter]]),
  /** Request for the messages changed after a revision. */
  revised: frame("v", [ref, conversation, ["since", count]]),
  changes: frame("c", [ref, ["since", count], ["before", optional(count)]]),
  call: frame("j", [ref, conversation, ["request", plain(CallRequest)]]),
  /** Request for the presence of the peer in a private conversation. */
  presence: frame("L", [ref, conversation]),
  /** Whether the device is in the foreground. */
  foreground: frame("l", [["isForeground", bit]]),
  /** Flow control: number of messages received since the welcome. */
  received: frame("k", [["messages", count]]),
};
export type AppFrame = FrameValue<typeof appFrames>;
const appFrameSet = createFrameSet(appFrames);

export const encodeAppFrame = (frame: AppFrame): string => JSON.stringify(appFrameSet.encode(frame, originBase));

/** Commands that are sent as frames, besides messages. */
type FrameCommand = Extract<Command, { type: Exclude<AppFrame["type"], "send" | "multicast"> | CallRequest["type"] }>;

/** Frame of a command. */
export const toAppFrame = (command: FrameCommand, ref: number, conversation: number | ConversationId): AppFrame => {
  const place = { ref, conversation };
  if (!("call" in command)) return { ...command, ...place };
  const { conversation: _, ...request } = command;
  return { type: "call", ...place, request };
};
