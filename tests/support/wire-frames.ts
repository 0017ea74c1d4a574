import type { CallFrame } from "#contract/calls/call.ts";
import type { WireClientFrame } from "#contract/wire/client-frames.ts";
import { inboxRow, message, relation } from "#contract/wire/compact-encoding.ts";
import type { ChangedReactions } from "#contract/wire/reactions.ts";
import {
  decodeServerFrame,
  originBase,
  type ServerFrameOf,
  type WireServerFrame,
} from "#contract/wire/server-frames.ts";

/** Frame of the server in its form on the wire, the reactions as if they were JSON. */
export type WireFrame =
  | WireServerFrame
  | ["r", number, number, since: number, revision: number, changed: readonly ChangedReactions[]]
  | ServerFrameOf<"liveText" | "liveEdit">
  | CallFrame;

/** Reads a frame of the server. Undefined if it is not of the protocol. Numbers stay relative to the socket's base. */
export const readWireFrame = (text: string): WireFrame | undefined => {
  const frame = decodeServerFrame(text, originBase);
  if (!frame || "event" in frame || frame.type === "liveText" || frame.type === "liveEdit") return frame;
  if (frame.type !== "reactions") return JSON.parse(text) as WireServerFrame;
  const { counter, target, since, revision, changed } = frame;
  return ["r", counter, target, since, revision, changed];
};

/** Encodes a frame in its form on the wire. */
export const writeWireFrame = (frame: WireClientFrame | WireServerFrame): string => JSON.stringify(frame);

const toBase = (now: number) => ({ counter: 0, now });
/** Decode parts of frames of a socket whose times are relative to `now`. */
export const decodeRow = (wire: ReturnType<typeof inboxRow.encode>, now: number) => inboxRow.decode(wire, toBase(now));
export const decodePerson = (wire: ReturnType<typeof relation.encode>) => relation.decode(wire, originBase);
export type WireMessage = ReturnType<typeof message.encode>;
export const decodeMessage = (wire: WireMessage, now: number) => message.decode(wire, toBase(now));
