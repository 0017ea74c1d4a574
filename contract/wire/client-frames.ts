import * as v from "valibot";
import { CallRequest } from "#contract/calls/call-commands.ts";
import { PackedUuid } from "#contract/ids.ts";
import { joinedFramesMax } from "#contract/limits/sockets.ts";
import { Body, ReplyPlace } from "#contract/messages/body.ts";
import { Count } from "#contract/messages/positions.ts";
import * as clientFrame from "./client-frame-types.ts";
import { FlagFields, MessageFlagFields } from "./command-schemas.ts";
import { WireText } from "./compact-encoding.ts";
import { ConversationRef, Int, parseFrame, parseJson, Ref } from "./frame-parts.ts";
import { SearchFilter } from "./search-filter.ts";

const Bit = v.picklist([0, 1]);
const SentBody = v.union([WireText, Body]);
export type SentBody = v.InferOutput<typeof SentBody>;
const WireSource = v.strictTuple([ConversationRef, Count]); // original of a forwarded message
const pageFields = [v.literal(clientFrame.page), Ref, ConversationRef, v.picklist(["a", "b"]), Count, Count] as const;
const searchFields = [v.literal(clientFrame.search), Ref, ConversationRef, v.string(), Count] as const;
const editFields = [
  v.literal(clientFrame.editMessage),
  Ref,
  ConversationRef,
  v.union([Count, PackedUuid]),
  v.string(),
] as const;

const draftFields = [v.literal(clientFrame.draft), Ref, ConversationRef, Count, Count, v.string()] as const;

/**
 * Frames from device to server (see `server-frames.ts`), by type. Devices only write them, so only the server loads
 * this file.
 */
const clientFrames = {
  // version, epoch, counter
  [clientFrame.hello]: v.strictTuple([v.literal(clientFrame.hello), Int, v.string(), Count]),
  [clientFrame.send]: v.union([
    v.strictTuple([v.literal(clientFrame.send), Ref, ConversationRef, PackedUuid, SentBody]),
    v.strictTuple([v.literal(clientFrame.send), Ref, ConversationRef, PackedUuid, SentBody, WireSource]),
  ]),
  // the refs of its messages start with that of the frame
  [clientFrame.multicast]: v.strictTuple([
    v.literal(clientFrame.multicast),
    Ref,
    SentBody,
    v.nullable(WireSource),
    v.array(v.strictTuple([ConversationRef, PackedUuid])),
  ]),
  // by seq or by client id
  [clientFrame.deleteMessage]: v.strictTuple([
    v.literal(clientFrame.deleteMessage),
    Ref,
    ConversationRef,
    v.union([Count, PackedUuid]),
  ]),
  // by seq or by client id; the text, and the number of edits that the device knows if there are any
  [clientFrame.editMessage]: v.union([v.strictTuple(editFields), v.strictTuple([...editFields, Count])]),
  // seq, and the emoji unless the reaction is removed
  [clientFrame.react]: v.union([
    v.strictTuple([v.literal(clientFrame.react), Ref, ConversationRef, Count]),
    v.strictTuple([v.literal(clientFrame.react), Ref, ConversationRef, Count, v.string()]),
  ]),
  // seq, whether it is pinned
  [clientFrame.pin]: v.strictTuple([v.literal(clientFrame.pin), Ref, ConversationRef, Count, Bit]),
  // after this revision
  [clientFrame.revisions]: v.strictTuple([v.literal(clientFrame.revisions), Ref, ConversationRef, Count]),
  [clientFrame.mute]: v.union([
    v.strictTuple([v.literal(clientFrame.mute), Ref, ConversationRef, Bit]),
    v.strictTuple([v.literal(clientFrame.mute), Ref, ConversationRef, v.literal(1), Count]), // for this many seconds
    // except mentions, without an end or for this many seconds
    v.strictTuple([v.literal(clientFrame.mute), Ref, ConversationRef, v.literal(1), v.nullable(Count), v.literal(1)]),
  ]),
  [clientFrame.flags]: v.strictTuple([v.literal(clientFrame.flags), Ref, ConversationRef, FlagFields]),
  [clientFrame.messageFlags]: v.strictTuple([
    v.literal(clientFrame.messageFlags),
    Ref,
    ConversationRef,
    Count,
    MessageFlagFields,
  ]),
  // base, milliseconds since it was written, text, and the seq that it answers
  [clientFrame.draft]: v.union([v.strictTuple(draftFields), v.strictTuple([...draftFields, ReplyPlace])]),
  [clientFrame.typing]: v.strictTuple([v.literal(clientFrame.typing), ConversationRef]),
  // delivered, read
  [clientFrame.receipts]: v.strictTuple([v.literal(clientFrame.receipts), ConversationRef, Count, Count]),
  [clientFrame.page]: v.union([
    v.strictTuple(pageFields), // after or before, seq, limit
    v.strictTuple([...pageFields, Count]), // with the seq of an anchor
  ]),
  // query, before, and the filter if there is one
  [clientFrame.search]: v.union([v.strictTuple(searchFields), v.strictTuple([...searchFields, SearchFilter])]),
  // since, before
  [clientFrame.changes]: v.strictTuple([v.literal(clientFrame.changes), Ref, Count, v.nullable(Count)]),
  // up to, keep listed
  [clientFrame.clearHistory]: v.strictTuple([v.literal(clientFrame.clearHistory), Ref, ConversationRef, Count, Bit]),
  [clientFrame.call]: v.strictTuple([v.literal(clientFrame.call), Ref, ConversationRef, CallRequest]),
  [clientFrame.foreground]: v.strictTuple([v.literal(clientFrame.foreground), Bit]),
  [clientFrame.presence]: v.strictTuple([v.literal(clientFrame.presence), Ref, ConversationRef]),
  [clientFrame.received]: v.strictTuple([v.literal(clientFrame.received), Count]), // in total
} as const;
export type ClientFrame = v.InferOutput<(typeof clientFrames)[keyof typeof clientFrames]>;
export const clientFrameTypes = Object.keys(clientFrames) as ClientFrame[0][];

/** Frames without an answer; all others have a ref. */
const unansweredTypes: readonly unknown[] = [
  clientFrame.hello,
  clientFrame.typing,
  clientFrame.receipts,
  clientFrame.received,
  clientFrame.foreground,
];

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
 * Refs of the frames in a refused message that expect an answer, found by a pattern instead of parsing. Quotes inside
 * JSON strings are escaped, so no text looks like the start of a frame.
 */
export const listRefsByPattern = (text: string): number[] => {
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
