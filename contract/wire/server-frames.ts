import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security-notice.ts";
import { Call, CallFrame, CallResult } from "#contract/calls/call.ts";
import { type ErrorCode, errorCodes } from "#contract/errors.ts";
import { PackedUuid } from "#contract/ids.ts";
import { frameMaxBytes, joinedFramesMax } from "#contract/limits/sockets.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { Count } from "#contract/messages/positions.ts";
import { VersionedSettings } from "#contract/settings/settings.ts";
import type { ClientFrame } from "./client-frames.ts";
import { WireMessage, WirePerson, WireRow } from "./compact-encoding.ts";
import { Int, parseFrame, parseJson, Ref } from "./frame-parts.ts";
import { decodeReactions, type ReactionsFields } from "./reactions.ts";
import * as serverFrame from "./server-frame-types.ts";

/**
 * Protocol of a device's socket. Frames are JSON arrays that begin with their type (`client-frame-types.ts`,
 * `server-frame-types.ts`). Two have shorter forms: a text from the peer of a private chat (`LiveText`), and changed
 * reactions (`reactions.ts`). JSON objects are call events (`{event: "call-system",
 * payload}`). This file defines the frames of the server, `client-frames.ts` those of devices.
 *
 * Each change of a person's inbox has a number, the change counter, and is one frame on each of the person's sockets. A
 * device that misses a number, or sees an unknown one in a pong, requests the changes since its last one. An
 * acknowledgement of messages stored before repeats the current counter. The counter of a change and all times are
 * relative to a base given by the socket's welcome (`toSocketBase`); counters in welcomes, in answers to `changes` and
 * in pongs are absolute.
 *
 * A device may send several frames as one batch (`joinFrames`).
 *
 * Flow control: a device reports with `received` how many messages it has received since the welcome, in live texts,
 * live edits, `messages`, `page` and `searchResults` frames, after every `creditReportMessages` messages and every
 * quarter of `creditBytes`. A server that refuses frames drops those without an answer, so after a rate-limit refusal a
 * device sends `received` and `foreground` again.
 */
export const protocolVersion = 28;

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
  Count, // number of the last change of any draft
] as const;

// handle, and number of the last change of any draft before this one
const draftFields = [v.literal(serverFrame.draft), Count, Count, Count] as const;

const serverFrames = {
  [serverFrame.welcome]: v.strictTuple([v.literal(serverFrame.welcome), Int, ...changesFields]), // version
  [serverFrame.changes]: v.strictTuple([v.literal(serverFrame.changes), Ref, ...changesFields]),
  [serverFrame.page]: v.strictTuple([
    v.literal(serverFrame.page),
    Ref,
    v.string(), // epoch
    Count, // head
    v.array(WireMessage),
    v.boolean(), // more
    v.nullable(Int), // time of the message at the requested seq
  ]),
  [serverFrame.searchResults]: v.strictTuple([
    v.literal(serverFrame.searchResults),
    Ref,
    v.array(WireMessage),
    v.nullable(Count), // where to continue
  ]),
  [serverFrame.revisions]: v.strictTuple([
    v.literal(serverFrame.revisions),
    Ref,
    v.string(), // epoch
    Count, // revision
    v.array(WireMessage),
    v.boolean(), // more
  ]),
  [serverFrame.done]: v.union([
    v.strictTuple([v.literal(serverFrame.done), Ref]),
    v.strictTuple([v.literal(serverFrame.done), Ref, Count]), // revision of a reaction, of message flags or of a draft
  ]),
  [serverFrame.call]: v.strictTuple([v.literal(serverFrame.call), Ref, CallResult]),
  // online, last-seen time
  [serverFrame.presence]: v.strictTuple([v.literal(serverFrame.presence), Ref, v.picklist([0, 1]), v.nullable(Int)]),
  [serverFrame.refusal]: v.union([
    v.strictTuple([v.literal(serverFrame.refusal), Ref, v.picklist(errorCodes)]),
    v.strictTuple([v.literal(serverFrame.refusal), Ref, v.picklist(errorCodes), Count]), // milliseconds to wait
  ]),
  [serverFrame.error]: v.strictTuple([v.literal(serverFrame.error), v.picklist(errorCodes)]),
  // Changes of the inbox: the second element is the counter, relative to the base
  // ref, seq and time of each message
  [serverFrame.acknowledgement]: v.tupleWithRest([v.literal(serverFrame.acknowledgement), Count], Int),
  [serverFrame.messages]: v.union([
    v.strictTuple([v.literal(serverFrame.messages), Count, Count, v.array(WireMessage)]), // handle, messages
    // with fields of an acknowledgement
    v.strictTuple([v.literal(serverFrame.messages), Count, Count, v.array(WireMessage), v.array(Int)]),
  ]),
  [serverFrame.row]: v.strictTuple([v.literal(serverFrame.row), Count, WireRow]),
  // handle, delivered, read
  [serverFrame.peerReceipts]: v.strictTuple([v.literal(serverFrame.peerReceipts), Count, Count, Count, Count]),
  // handle, delivered, read, unread, and the seq up to which it is counted
  [serverFrame.ownReceipts]: v.strictTuple([
    v.literal(serverFrame.ownReceipts),
    Count,
    Count,
    Count,
    Count,
    Count,
    Count,
  ]),
  [serverFrame.person]: v.strictTuple([v.literal(serverFrame.person), Count, WirePerson]),
  [serverFrame.settings]: v.strictTuple([v.literal(serverFrame.settings), Count, VersionedSettings]),
  // null for the session that caused it
  [serverFrame.securityNotice]: v.strictTuple([
    v.literal(serverFrame.securityNotice),
    Count,
    v.nullable(SecurityNotice),
  ]),
  [serverFrame.head]: v.strictTuple([v.literal(serverFrame.head), Count, Count, Count]), // handle, head
  // handle, previous revision, new revision, messages
  [serverFrame.revised]: v.strictTuple([
    v.literal(serverFrame.revised),
    Count,
    Count,
    Count,
    Count,
    v.array(WireMessage),
  ]),
  [serverFrame.draft]: v.union([
    v.strictTuple(draftFields), // written by this device
    v.strictTuple([...draftFields, Count, Int, v.string()]), // base, time, text
    v.strictTuple([...draftFields, Count, Int, v.string(), ReplyPlace]), // with the place that it answers
  ]),
  [serverFrame.typing]: v.strictTuple([v.literal(serverFrame.typing), Count, Count]), // handle, member number
  [serverFrame.presenceVisibility]: v.strictTuple([v.literal(serverFrame.presenceVisibility)]),
  [serverFrame.postDeleted]: v.strictTuple([v.literal(serverFrame.postDeleted), PackedUuid]),
  [serverFrame.pushKeyChanged]: v.strictTuple([v.literal(serverFrame.pushKeyChanged)]),
} as const;
type ReactionsFrame = [typeof serverFrame.reactions, ...ReactionsFields];
export type ServerFrame = v.InferOutput<(typeof serverFrames)[keyof typeof serverFrames]> | ReactionsFrame;

const decodeReactionsFrame = (text: string): ReactionsFrame | undefined => {
  const fields = decodeReactions(text);
  return fields && [serverFrame.reactions, ...fields];
};

/** A text from the peer of a private chat: five fields, no quotes, at most 12 bytes of overhead. */
export type LiveText = { counter: number; handle: number; seq: number; at: number; text: string };

export const encodeLiveText = ({ counter, handle, seq, at, text }: LiveText): string =>
  `${[counter, handle, seq, at].map((number) => number.toString(36)).join(",")},${text}`;

/**
 * Edit of one text or caption without mentions, in a device's view the change from the revision before: the device
 * takes everything else from its own copy of the message. At most 14 bytes of overhead in a chat of ordinary length.
 */
export type LiveEdit = {
  counter: number;
  handle: number;
  seq: number;
  revision: number;
  edited: number;
  text: string;
};

export const encodeLiveEdit = ({ counter, handle, seq, revision, edited, text }: LiveEdit): string =>
  `~${[counter, handle, seq, revision, edited].map((number) => number.toString(36)).join(",")},${text}`;

const livePattern = /^(?:~(?:[0-9a-z]{1,10},){5}|(?:[0-9a-z]{1,10},){3}-?[0-9a-z]{1,10},)/;

const decodeLiveFrame = (frame: string): LiveText | LiveEdit | undefined => {
  const [start] = livePattern.exec(frame) ?? [];
  if (start === undefined) return undefined;
  const numbers = start.replace("~", "").split(",");
  const [counter = 0, handle = 0, seq = 0, at = 0, edited = 0] = numbers.map((number) => Number.parseInt(number, 36));
  const place = { counter, handle, seq, text: frame.slice(start.length) };
  return start.startsWith("~") ? { ...place, revision: at, edited } : { ...place, at };
};

/** Decodes a frame from the server. Undefined if it is not of this protocol. */
export const decodeServerFrame = (text: string): LiveText | LiveEdit | ServerFrame | CallFrame | undefined => {
  if (text.startsWith("[")) return parseFrame(serverFrames, parseJson(text)) as ServerFrame | undefined;
  if (!text.startsWith("{")) return decodeLiveFrame(text) ?? decodeReactionsFrame(text);
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
  retryAfterMs === undefined ? [serverFrame.refusal, ref, error] : [serverFrame.refusal, ref, error, retryAfterMs];
