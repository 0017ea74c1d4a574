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
 * What goes over a device's one socket. Frames are JSON arrays whose first element says what they are; the
 * commonest, one text from the other person of a private chat, has a form of its own (`LiveText`). Frames
 * that are JSON objects belong to calls (`{event: "call-system", payload}`). Those of the server stand here, those of
 * a device in `client-frames.ts`.
 *
 * Every change of a person's inbox has a number, the counter, and makes exactly one frame to each of the
 * person's sockets: a device that sees a number left out, or hears in a pong of one it has not seen, asks
 * for the changes since the last it has. An "a" for what was stored before repeats the counter as it stands.
 * The counter of a change and every time are relative to a base that the socket's welcome gives (`baseOf`); the
 * counters of welcomes, of answers to "c" and of pongs are absolute.
 *
 * What a device writes in one go may travel as one: an array of frames (`joinFrames`).
 *
 * A device says with "k" how many messages it has taken in since the welcome, counting each one in live texts,
 * "m", "g" and "q" frames: every `creditReportMessages` messages, and every quarter of `creditBytes`. A server that refuses
 * frames drops those nobody answers: after a refusal for their rate a device says "k" and "l" again.
 */
export const protocolVersion = 9;

export const pingFrame = ".";
/** The platform answers pings without waking the object: with the person's counter in base 36. */
export const toPongFrame = (counter: number): string => `.${counter.toString(36)}`;
export const parsePong = (frame: string): number | undefined => {
  const counter = frame.startsWith(".") ? Number.parseInt(frame.slice(1), 36) : Number.NaN;
  return Number.isSafeInteger(counter) ? counter : undefined;
};

/** What counters and times in a socket's frames are relative to. */
export type SocketBase = { counter: number; now: number };

const baseCounterStep = 16;
const baseNowStepMs = 2 ** 18;

/**
 * The base of a socket that was welcomed at this counter and time: both rounded down, so that sockets which came
 * within some minutes have the same, and are told of a change in the same words.
 */
export const toSocketBase = ({ counter, now }: SocketBase): SocketBase => ({
  counter: counter - (counter % baseCounterStep),
  now: now - (now % baseNowStepMs),
});

/** Why a socket ended. Those in `finalCloseCodes` are not to be tried again as they are. */
export const closeCodes = {
  protocol: 4400,
  signedOut: 4401,
  behind: 4408,
  unwelcomed: 4410, // no hello came in time
  replaced: 4409,
  tooLarge: 4413,
  rateLimited: 4429, // the reason may be the milliseconds to wait before another try
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
  v.nullable(VersionedSettings), // when they were changed
  v.array(SecurityNotice), // what this device has not been told of
  Count, // the counter that all of this follows: the one asked about, or 0
] as const;

const serverFrames = {
  w: v.strictTuple([v.literal("w"), Int, ...changesFields]), // welcome: version, changes since the hello's counter
  c: v.strictTuple([v.literal("c"), Ref, ...changesFields]), // answer to "c"
  // a page, and the time of the message at the place it was asked from
  g: v.strictTuple([v.literal("g"), Ref, v.string(), Count, v.array(WireMessage), v.boolean(), v.nullable(Int)]),
  q: v.strictTuple([v.literal("q"), Ref, v.array(WireMessage), v.nullable(Count)]), // found messages
  v: v.strictTuple([v.literal("v"), Ref, v.string(), Count, v.array(WireMessage), v.boolean()]), // what was changed
  y: v.strictTuple([v.literal("y"), Ref]), // done: the answer to "d", "e", "z", and to what goes to nobody but the other side
  j: v.strictTuple([v.literal("j"), Ref, CallResult]), // how a call stands
  L: v.strictTuple([v.literal("L"), Ref, v.picklist([0, 1]), v.nullable(Int)]), // whether they are here, when they were last
  n: v.union([
    v.strictTuple([v.literal("n"), Ref, v.picklist(errorCodes)]), // refused
    v.strictTuple([v.literal("n"), Ref, v.picklist(errorCodes), Count]), // not before so many milliseconds
  ]),
  x: v.strictTuple([v.literal("x"), v.picklist(errorCodes)]), // a frame that could not be read
  // Changes of the inbox: the second element is the counter, from the welcome's on.
  a: v.tupleWithRest([v.literal("a"), Count], Int), // sent: then ref, seq, time for each
  m: v.union([
    v.strictTuple([v.literal("m"), Count, Count, v.array(WireMessage)]), // messages: handle, messages
    v.strictTuple([v.literal("m"), Count, Count, v.array(WireMessage), v.array(Int)]), // and, as in "a", those sent here
  ]),
  i: v.strictTuple([v.literal("i"), Count, WireRow]), // a row as it now is
  o: v.strictTuple([v.literal("o"), Count, Count, Count, Count]), // others' marks: handle, delivered, read
  // mine: handle, delivered, read, unread and the place up to which that is counted
  u: v.strictTuple([v.literal("u"), Count, Count, Count, Count, Count, Count]),
  p: v.strictTuple([v.literal("p"), Count, WirePerson]), // how a person stands to me
  s: v.strictTuple([v.literal("s"), Count, VersionedSettings]), // how I want things
  // what became of my account; null for the session that did it
  z: v.strictTuple([v.literal("z"), Count, v.nullable(SecurityNotice)]),
  b: v.strictTuple([v.literal("b"), Count, Count, Count]), // you are behind: handle, head
  // changed messages: handle, the revision they follow, the one they lead to, and they themselves
  e: v.strictTuple([v.literal("e"), Count, Count, Count, Count, v.array(WireMessage)]),
  // Not a change of the inbox, and lost if nobody hears it: who is typing (handle, member number)
  t: v.strictTuple([v.literal("t"), Count, Count]),
  l: v.strictTuple([v.literal("l")]), // nor this: whom I asked about lets themselves be seen now, or no more
  d: v.strictTuple([v.literal("d"), PackedUuid]), // nor this: I deleted this status
} as const;
export type ServerFrame = v.InferOutput<(typeof serverFrames)[keyof typeof serverFrames]>;

/** One text from the other person of a private chat: five fields, no quotes, at most 12 bytes of its own. */
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

/** What arrived from the server, or undefined when it is not of this protocol. */
export const decodeServerFrame = (text: string): LiveText | ServerFrame | CallFrame | undefined => {
  if (text.startsWith("[")) return parseFrame(serverFrames, parseJson(text)) as ServerFrame | undefined;
  if (!text.startsWith("{")) return decodeLiveText(text);
  const parsed = v.safeParse(CallFrame, parseJson(text));
  return parsed.success ? parsed.output : undefined;
};

/** Encoded frames that were written in one go, as few as they fit into. */
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
