import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { joinedFramesMax } from "#contract/limits/sockets.ts";
import { Count } from "#contract/messages/positions.ts";
import { appFrames, conversationField as conversation, refField as ref } from "./app-frames.ts";
import { bit, type Codec, count, mark, optional, plain, text, uuid } from "./codec.ts";
import { FlagFields, MessageFlagFields } from "./command-schemas.ts";
import { createFrameSet, type FrameValue, type FrameWire, frame, parseJson } from "./frame-set.ts";
import { originBase } from "./server-frames.ts";

/** Seq of a message, or its client id. */
const messageKey: Codec<number | string> = {
  schema: v.union([Count, uuid.schema]),
  encode: (key, base) => (typeof key === "number" ? key : uuid.encode(key, base)),
  decode: (wire, base) => (typeof wire === "number" ? wire : uuid.decode(wire, base)),
};

/**
 * Frames from device to server: those of the app, and of the commands that the app sends by HTTP. Only the server loads
 * this file.
 */
const clientFrames = {
  ...appFrames,
  /** Deletion of an own message for everyone. */
  deleteMessage: frame("e", [ref, conversation, ["target", messageKey]]),
  editMessage: frame("E", [ref, conversation, ["target", messageKey], ["text", text]], [["edit", count, 0]]),
  pinMessage: frame("P", [ref, conversation, ["seq", count], ["pinned", bit]]),
  mute: frame("z", [ref, conversation, ["muted", bit]], [["seconds", optional(count)]], [["exceptMentions", mark]]),
  setConversationFlags: frame("y", [ref, conversation, ["flags", plain(FlagFields)]]),
  setMessageFlags: frame("Y", [ref, conversation, ["seq", count], ["flags", plain(MessageFlagFields)]]),
  clearHistory: frame("d", [ref, conversation, ["upTo", count], ["keep", bit]]),
};
const clientFrameSet = createFrameSet(clientFrames);
export type ClientFrame = FrameValue<typeof clientFrames>;
export type ClientFrameOf<T extends ClientFrame["type"]> = Extract<ClientFrame, { type: T }>;
export type WireClientFrame = FrameWire<typeof clientFrames>;

/** Letters of the frames that expect an answer. */
const answeredLetters: readonly unknown[] = Object.values(clientFrames).flatMap(({ letter, hasRef }) =>
  hasRef ? [letter] : [],
);

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
      if (!Array.isArray(frame) || clientFrameSet.parse(frame) !== undefined) return [];
      const [letter, ref]: unknown[] = frame;
      return answeredLetters.includes(letter) && v.is(Count, ref) ? [ref] : [];
    });

const frameStart = /\["([a-zA-Z])",(\d{1,16})(?=[,\]])/g;

/**
 * Refs of the frames in a refused message that expect an answer, found by a pattern instead of parsing. Quotes inside
 * JSON strings are escaped, so no text looks like the start of a frame.
 */
export const listRefsByPattern = (text: string): number[] => {
  const refs: number[] = [];
  for (const [, letter, ref] of text.matchAll(frameStart)) {
    if (answeredLetters.includes(letter)) refs.push(Number(ref));
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
  const frames: (WireClientFrame | undefined)[] = all
    .slice(0, joinedFramesMax)
    .map((frame) => clientFrameSet.parse(frame));
  return frames.length === all.length && frames.every((frame) => frame !== undefined)
    ? frames.map((frame) => clientFrameSet.decode(frame, originBase))
    : undefined;
};

/**
 * Converts a frame to a command, still to be validated by its schema, which refuses frames that are no commands. `idOf`
 * maps the number of a conversation to its id; for an unknown one it returns an id that no schema accepts.
 */
export const toCommand = (
  frame: ClientFrame,
  conversation: ConversationId,
  idOf: (conversation: number | ConversationId) => ConversationId = String,
): unknown => {
  const sourceOf = (source: { conversation: number | ConversationId; seq: number } | undefined) =>
    source ? { source: { ...source, conversation: idOf(source.conversation) } } : {};
  switch (frame.type) {
    case "send": {
      const { type, cid, body, source } = frame;
      return { type, conversation, messages: [{ cid, body, ...sourceOf(source) }] };
    }
    case "multicast": {
      const { type, body, source } = frame;
      const to = frame.to.map(({ conversation: target, cid }) => ({ conversation: idOf(target), cid }));
      return { type, body, ...sourceOf(source), to };
    }
    case "deleteMessage": {
      const { target } = frame;
      return typeof target === "number"
        ? { type: "deleteForEveryone", conversation, seq: target }
        : { type: "deletePending", conversation, cid: target };
    }
    case "setConversationFlags":
      return { ...frame.flags, type: frame.type, conversation };
    case "setMessageFlags":
      return { ...frame.flags, type: frame.type, conversation, seq: frame.seq };
    case "changes":
      return { type: frame.type, since: frame.since, before: frame.before };
    case "call":
      return { ...frame.request, conversation };
    default: {
      const { ref: _, ...command } = { ref: undefined, ...frame };
      return { ...command, conversation };
    }
  }
};
