import * as v from "valibot";
import { CallRequest } from "#contract/calls/call-commands.ts";
import { Body } from "#contract/conversations.ts";
import { PackedUuid } from "#contract/ids.ts";
import { joinedFramesMax } from "#contract/limits.ts";
import { ConversationRef, Count, Int, parseFrame, parseJson, Ref } from "./frame-parts.ts";

const WireSource = v.strictTuple([ConversationRef, Count]); // original of a forwarded message

/**
 * Frames from device to server (see `server-frames.ts`). Devices only write them, so only the server loads this file.
 */
const clientFrames = {
  h: v.strictTuple([v.literal("h"), Int, v.string(), Count]), // hello: version, epoch, counter
  s: v.union([
    v.strictTuple([v.literal("s"), Ref, ConversationRef, PackedUuid, v.union([v.string(), Body])]), // send
    v.strictTuple([v.literal("s"), Ref, ConversationRef, PackedUuid, v.union([v.string(), Body]), WireSource]), // forward
  ]),
  // multicast: the refs of its messages start with that of the frame
  f: v.strictTuple([
    v.literal("f"),
    Ref,
    v.union([v.string(), Body]),
    v.nullable(WireSource),
    v.array(v.strictTuple([ConversationRef, PackedUuid])),
  ]),
  // delete own message for everyone, by seq or by client id
  e: v.strictTuple([v.literal("e"), Ref, ConversationRef, v.union([Count, PackedUuid])]),
  v: v.strictTuple([v.literal("v"), Ref, ConversationRef, Count]), // changes after a revision
  z: v.strictTuple([v.literal("z"), Ref, ConversationRef, v.picklist([0, 1])]), // mute
  t: v.strictTuple([v.literal("t"), ConversationRef]), // typing; not stored, no answer
  r: v.strictTuple([v.literal("r"), ConversationRef, Count, Count]), // receipts: delivered, read
  g: v.union([
    v.strictTuple([v.literal("g"), Ref, ConversationRef, v.picklist(["a", "b"]), Count, Count]), // page
    // page with the seq of a held message
    v.strictTuple([v.literal("g"), Ref, ConversationRef, v.picklist(["a", "b"]), Count, Count, Count]),
  ]),
  q: v.strictTuple([v.literal("q"), Ref, ConversationRef, v.string(), Count]), // search
  c: v.strictTuple([v.literal("c"), Ref, Count, v.nullable(Count)]), // changes: since, before
  // clear history: up to, keep listed
  d: v.strictTuple([v.literal("d"), Ref, ConversationRef, Count, v.picklist([0, 1])]),
  j: v.strictTuple([v.literal("j"), Ref, ConversationRef, CallRequest]), // call command
  l: v.strictTuple([v.literal("l"), v.picklist([0, 1])]), // whether the device is in the foreground; no answer
  L: v.strictTuple([v.literal("L"), Ref, ConversationRef]), // presence of the peer in a private conversation
  k: v.strictTuple([v.literal("k"), Count]), // flow control: messages received since the welcome in total
} as const;
export type ClientFrame = v.InferOutput<(typeof clientFrames)[keyof typeof clientFrames]>;
export const clientFrameTypes = Object.keys(clientFrames) as ClientFrame[0][];

/** Frames without an answer; all others have a ref. */
const unansweredTypes: readonly unknown[] = ["h", "t", "r", "k", "l"];

/** Frames of a batch. */
const parseBatch = (text: string): unknown[] => {
  const parsed = parseJson(text);
  return Array.isArray(parsed) && Array.isArray(parsed[0]) ? parsed : [parsed];
};

/** Refs of unreadable frames that expect an answer, as far as they can be read. */
export const listMalformedRefs = (text: string): number[] =>
  parseBatch(text)
    .slice(0, joinedFramesMax)
    .flatMap((frame) => {
      if (!Array.isArray(frame) || parseFrame(clientFrames, frame) !== undefined) return [];
      const [type, ref]: unknown[] = frame;
      const expectsAnswer = clientFrameTypes.some((known) => known === type) && !unansweredTypes.includes(type);
      return expectsAnswer && v.is(Ref, ref) ? [ref] : [];
    });

const frameStart = /\["([a-zA-Z])",(\d{1,16})(?=[,\]])/g;

/**
 * Refs of a refused message that expect an answer, found without parsing. Quotes inside JSON strings are escaped, so no
 * text looks like the start of a frame.
 */
export const listUnreadRefs = (text: string): number[] => {
  const refs: number[] = [];
  for (const [, type = "", ref] of text.matchAll(frameStart)) {
    if (!unansweredTypes.includes(type)) refs.push(Number(ref));
    if (refs.length === joinedFramesMax) break;
  }
  return refs;
};

/**
 * Decodes a batch of client frames in order. Returns undefined if any frame is invalid. Callers must limit the input
 * length.
 */
export const decodeClientFrames = (text: string): ClientFrame[] | undefined => {
  const all = parseBatch(text);
  const frames = all
    .slice(0, joinedFramesMax)
    .map((frame) => parseFrame(clientFrames, frame) as ClientFrame | undefined);
  return frames.length === all.length && frames.every((frame) => frame !== undefined) ? frames : undefined;
};
