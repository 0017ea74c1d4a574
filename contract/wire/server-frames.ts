import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security.ts";
import { Call, CallFrame, CallResult } from "#contract/calls/call.ts";
import { type ErrorCode, errorCodes } from "#contract/errors.ts";
import { PackedUuid } from "#contract/ids.ts";
import { frameMaxBytes, joinedFramesMax } from "#contract/limits.ts";
import { VersionedSettings } from "#contract/settings.ts";
import type { ClientFrame } from "./client-frames.ts";
import { WireMessage, WirePerson, WireRow } from "./compact-encoding.ts";
import { Count, Int, parseFrame, parseJson, Ref } from "./frame-parts.ts";

/**
 * Protocol of a device's socket. Frames are JSON arrays that begin with their type. The most frequent one, a text from
 * the peer of a private chat, has a shorter form (`LiveText`). JSON objects are call events (`{event: "call-system",
 * payload}`). This file defines the frames of the server, `client-frames.ts` those of devices.
 *
 * Each change of a person's inbox has a number, the change counter, and is one frame on each of the person's sockets. A
 * device that misses a number, or sees an unknown one in a pong, requests the changes since its last one. An "a" for
 * messages stored before repeats the current counter. The counter of a change and all times are relative to a base
 * given by the socket's welcome (`toSocketBase`); counters in welcomes, in answers to "c" and in pongs are absolute.
 *
 * A device may send several frames as one batch (`joinFrames`).
 *
 * Flow control: a device reports with "k" how many messages it has received since the welcome, in live texts, "m", "g"
 * and "q" frames, after every `creditReportMessages` messages and every quarter of `creditBytes`. A server that refuses
 * frames drops those without an answer, so after a rate-limit refusal a device sends "k" and "l" again.
 */
export const protocolVersion = 9;

export const pingFrame = ".";
/**
 * Automatic answer of the platform to pings, which does not wake the object: the person's change counter in base 36.
 */
export const toPongFrame = (counter: number): string => `.${counter.toString(36)}`;
export const parsePong = (frame: string): number | undefined => {
  const counter = frame.startsWith(".") ? Number.parseInt(frame.slice(1), 36) : Number.NaN;
  return Number.isSafeInteger(counter) ? counter : undefined;
};

/** Base of counters and times in a socket's frames. */
export type SocketBase = { counter: number; now: number };

const baseCounterStep = 16;
const baseNowStepMs = 2 ** 18;

/**
 * Base of a socket welcomed at this counter and time. Both are rounded down, so that sockets opened within some minutes
 * share a base and receive identical bytes.
 */
export const toSocketBase = ({ counter, now }: SocketBase): SocketBase => ({
  counter: counter - (counter % baseCounterStep),
  now: now - (now % baseNowStepMs),
});

/** Close codes of sockets. Those in `finalCloseCodes` must not be retried unchanged. */
export const closeCodes = {
  protocol: 4400,
  signedOut: 4401,
  behind: 4408,
  unwelcomed: 4410, // no hello in time
  replaced: 4409,
  tooLarge: 4413,
  rateLimited: 4429, // the reason may be the milliseconds to wait before the next attempt
} as const;
export const finalCloseCodes: readonly number[] = [closeCodes.protocol, closeCodes.signedOut, closeCodes.tooLarge];

const changesFields = [
  v.string(), // epoch
  Count, // counter
  v.number(), // now
  v.array(WireRow),
  v.array(WirePerson),
  v.array(Call),
  v.nullable(Count), // before
  v.nullable(VersionedSettings), // present if changed
  v.array(SecurityNotice), // security notices for this device
  Count, // the counter that these changes follow: the requested one, or 0
] as const;

const serverFrames = {
  w: v.strictTuple([v.literal("w"), Int, ...changesFields]), // welcome: version, changes since the hello's counter
  c: v.strictTuple([v.literal("c"), Ref, ...changesFields]), // answer to "c"
  // page, with the time of the message at the requested seq
  g: v.strictTuple([v.literal("g"), Ref, v.string(), Count, v.array(WireMessage), v.boolean(), v.nullable(Int)]),
  q: v.strictTuple([v.literal("q"), Ref, v.array(WireMessage), v.nullable(Count)]), // search results
  v: v.strictTuple([v.literal("v"), Ref, v.string(), Count, v.array(WireMessage), v.boolean()]), // changed messages
  y: v.strictTuple([v.literal("y"), Ref]), // done: answer to "d", "e", "z" and to requests that are only passed on
  j: v.strictTuple([v.literal("j"), Ref, CallResult]), // state of a call
  L: v.strictTuple([v.literal("L"), Ref, v.picklist([0, 1]), v.nullable(Int)]), // presence: online, last-seen time
  n: v.union([
    v.strictTuple([v.literal("n"), Ref, v.picklist(errorCodes)]), // refused
    v.strictTuple([v.literal("n"), Ref, v.picklist(errorCodes), Count]), // milliseconds to wait
  ]),
  x: v.strictTuple([v.literal("x"), v.picklist(errorCodes)]), // unreadable frame
  // Changes of the inbox: the second element is the counter, relative to the base
  a: v.tupleWithRest([v.literal("a"), Count], Int), // acknowledgement: ref, seq and time of each message
  m: v.union([
    v.strictTuple([v.literal("m"), Count, Count, v.array(WireMessage)]), // messages: handle, messages
    // with acknowledgements as in "a"
    v.strictTuple([v.literal("m"), Count, Count, v.array(WireMessage), v.array(Int)]),
  ]),
  i: v.strictTuple([v.literal("i"), Count, WireRow]), // whole row
  o: v.strictTuple([v.literal("o"), Count, Count, Count, Count]), // others' receipts: handle, delivered, read
  // own receipts: handle, delivered, read, unread, and the seq up to which it is counted
  u: v.strictTuple([v.literal("u"), Count, Count, Count, Count, Count, Count]),
  p: v.strictTuple([v.literal("p"), Count, WirePerson]), // relation to a person
  s: v.strictTuple([v.literal("s"), Count, VersionedSettings]), // settings
  // security notice; null for the session that caused it
  z: v.strictTuple([v.literal("z"), Count, v.nullable(SecurityNotice)]),
  b: v.strictTuple([v.literal("b"), Count, Count, Count]), // the device is behind: handle, head
  // changed messages: handle, previous revision, new revision, messages
  e: v.strictTuple([v.literal("e"), Count, Count, Count, Count, v.array(WireMessage)]),
  // Without a counter and best effort: typing (handle, member number)
  t: v.strictTuple([v.literal("t"), Count, Count]),
  // also without a counter: a person whose presence was queried changed its visibility
  l: v.strictTuple([v.literal("l")]),
  d: v.strictTuple([v.literal("d"), PackedUuid]), // also without a counter: this person deleted a status
} as const;
export type ServerFrame = v.InferOutput<(typeof serverFrames)[keyof typeof serverFrames]>;

/** A text from the peer of a private chat: five fields, no quotes, at most 12 bytes of overhead. */
export type LiveText = { counter: number; handle: number; seq: number; at: number; text: string };

export const encodeLiveText = ({ counter, handle, seq, at, text }: LiveText): string =>
  `${[counter, handle, seq, at].map((number) => number.toString(36)).join(",")},${text}`;

const liveTextPattern = /^([0-9a-z]{1,10}),([0-9a-z]{1,10}),([0-9a-z]{1,10}),(-?[0-9a-z]{1,10}),/;

const decodeLiveText = (frame: string): LiveText | undefined => {
  const match = liveTextPattern.exec(frame);
  if (!match) return undefined;
  const [counter = 0, handle = 0, seq = 0, at = 0] = match.slice(1).map((number) => Number.parseInt(number, 36));
  return { counter, handle, seq, at, text: frame.slice(match[0].length) };
};

/** Decodes a frame from the server. Undefined if it is not of this protocol. */
export const decodeServerFrame = (text: string): LiveText | ServerFrame | CallFrame | undefined => {
  if (text.startsWith("[")) return parseFrame(serverFrames, parseJson(text)) as ServerFrame | undefined;
  if (!text.startsWith("{")) return decodeLiveText(text);
  const parsed = v.safeParse(CallFrame, parseJson(text));
  return parsed.success ? parsed.output : undefined;
};

/** Joins encoded frames into as few batches as possible. */
export const joinFrames = (frames: readonly string[]): string[] => {
  const joined: string[][] = [];
  let bytes = 0;
  for (const frame of frames) {
    const current = joined.at(-1);
    bytes += frame.length * 3 + 2; // UTF-8 takes at most three bytes for a unit
    if (current && current.length < joinedFramesMax && bytes <= frameMaxBytes) {
      current.push(frame);
    } else {
      joined.push([frame]);
      bytes = frame.length * 3 + 2;
    }
  }
  return joined.map((batch) => (batch.length === 1 ? (batch[0] ?? "") : `[${batch.join()}]`));
};

export const encodeFrame = (frame: ClientFrame | ServerFrame | CallFrame): string => JSON.stringify(frame);

export const toRefusalFrame = (ref: number, error: ErrorCode, retryAfterMs?: number): ServerFrame =>
  retryAfterMs === undefined ? ["n", ref, error] : ["n", ref, error, retryAfterMs];
