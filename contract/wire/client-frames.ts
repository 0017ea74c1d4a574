import * as v from "valibot";
import { CallRequest } from "#contract/calls/call-commands.ts";
import { Body } from "#contract/conversations.ts";
import { PackedUuid } from "#contract/ids.ts";
import { joinedFramesMax } from "#contract/limits.ts";
import { ConversationRef, Count, Int, parseFrame, parseJson, Ref } from "./frame-parts.ts";

const WireSource = v.strictTuple([ConversationRef, Count]); // where a forwarded message was read

/** Device → server (see `server-frames.ts`). A device writes these and reads none: only the server loads this file. */
const clientFrames = {
  h: v.strictTuple([v.literal("h"), Int, v.string(), Count]), // hello: version, epoch, counter
  s: v.union([
    v.strictTuple([v.literal("s"), Ref, ConversationRef, PackedUuid, v.union([v.string(), Body])]), // send
    v.strictTuple([v.literal("s"), Ref, ConversationRef, PackedUuid, v.union([v.string(), Body]), WireSource]), // forward
  ]),
  // one body to many: the refs of its messages are the frame's and those that follow it
  f: v.strictTuple([
    v.literal("f"),
    Ref,
    v.union([v.string(), Body]),
    v.nullable(WireSource),
    v.array(v.strictTuple([ConversationRef, PackedUuid])),
  ]),
  // delete one's own message for everybody: by its place, or by its client id wherever it is by now
  e: v.strictTuple([v.literal("e"), Ref, ConversationRef, v.union([Count, PackedUuid])]),
  v: v.strictTuple([v.literal("v"), Ref, ConversationRef, Count]), // what was changed after a revision
  z: v.strictTuple([v.literal("z"), Ref, ConversationRef, v.picklist([0, 1])]), // mute
  t: v.strictTuple([v.literal("t"), ConversationRef]), // I am typing; nobody keeps it, nobody answers
  r: v.strictTuple([v.literal("r"), ConversationRef, Count, Count]), // marks: delivered, read
  g: v.union([
    v.strictTuple([v.literal("g"), Ref, ConversationRef, v.picklist(["a", "b"]), Count, Count]), // page
    v.strictTuple([v.literal("g"), Ref, ConversationRef, v.picklist(["a", "b"]), Count, Count, Count]), // and a place held
  ]),
  q: v.strictTuple([v.literal("q"), Ref, ConversationRef, v.string(), Count]), // search
  c: v.strictTuple([v.literal("c"), Ref, Count, v.nullable(Count)]), // changes: since, before
  d: v.strictTuple([v.literal("d"), Ref, ConversationRef, Count, v.picklist([0, 1])]), // hide up to, keep
  j: v.strictTuple([v.literal("j"), Ref, ConversationRef, CallRequest]), // about a call
  l: v.strictTuple([v.literal("l"), v.picklist([0, 1])]), // whether this device is looked at; nobody answers
  L: v.strictTuple([v.literal("L"), Ref, ConversationRef]), // whether the other of a private conversation is here
  k: v.strictTuple([v.literal("k"), Count]), // credit: messages taken in since the welcome, all of them
} as const;
export type ClientFrame = v.InferOutput<(typeof clientFrames)[keyof typeof clientFrames]>;
export const clientFrameTypes = Object.keys(clientFrames) as ClientFrame[0][];

/** Those nobody waits for: the rest have a ref. */
const unansweredTypes: readonly unknown[] = ["h", "t", "r", "k", "l"];

/** What was written in one go. */
const parseBatch = (text: string): unknown[] => {
  const parsed = parseJson(text);
  return Array.isArray(parsed) && Array.isArray(parsed[0]) ? parsed : [parsed];
};

/** The refs under which a device waits for an answer to what could not be read, as far as they could be. */
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
 * The refs under which a device waits for answers to a message that is not read at all. Inside JSON's strings a quotation
 * mark has a backslash before it, so that no text looks like the beginning of a frame.
 */
export const listUnreadRefs = (text: string): number[] => {
  const refs: number[] = [];
  for (const [, type = "", ref] of text.matchAll(frameStart)) {
    if (!unansweredTypes.includes(type)) refs.push(Number(ref));
    if (refs.length === joinedFramesMax) break;
  }
  return refs;
};

/** What arrived from a device, in its order, or undefined when any of it is not of this protocol. The caller bounds its length. */
export const decodeClientFrames = (text: string): ClientFrame[] | undefined => {
  const all = parseBatch(text);
  const frames = all
    .slice(0, joinedFramesMax)
    .map((frame) => parseFrame(clientFrames, frame) as ClientFrame | undefined);
  return frames.length === all.length && frames.every((frame) => frame !== undefined) ? frames : undefined;
};
