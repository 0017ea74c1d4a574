import * as v from "valibot";
import { SecurityNotice } from "#contract/auth/security-notice.ts";
import { Call, CallFrame, CallResult } from "#contract/calls/call.ts";
import { errorCodes } from "#contract/errors.ts";
import { frameMaxBytes, joinedFramesMax } from "#contract/limits/sockets.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { VersionedSettings } from "#contract/settings/settings.ts";
import {
  bit,
  type Codec,
  changeNumber,
  count,
  int,
  list,
  nullable,
  plain,
  type SocketBase,
  text,
  time,
  truth,
  uuid,
} from "./codec.ts";
import { inboxRow, message, relation } from "./compact-encoding.ts";
import { createFrameSet, type FrameType, type FrameValue, type FrameWire, frame, parseJson } from "./frame-set.ts";
import { decodeShortFrame, encodeShortFrame, type ShortFrame } from "./short-frames.ts";

/**
 * Protocol of a device's socket. Frames are JSON arrays that begin with the letter of their type; the most frequent
 * ones have shorter forms (`short-frames.ts`). JSON objects are call events (`{event: "call-system", payload}`). This
 * file declares the frames of the server, `app-frames.ts` and `client-frames.ts` those of devices. See
 * `docs/decisions/frames.md`.
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
 * live edits, `messages`, `page` and `search` frames, after every `creditReportMessages` messages and every
 * quarter of `creditBytes`. A server that refuses frames drops those without an answer, so after a rate-limit refusal a
 * device sends `received` and `foreground` again.
 */
export const protocolVersion = 29;

export const pingFrame = ".";
/**
 * Automatic answer of the platform to pings, which does not wake the object: the person's change counter in base 36.
 */
export const toPongFrame = (counter: number): string => `.${counter.toString(36)}`;
export const parsePong = (frame: string): number | undefined => {
  const counter = frame.startsWith(".") ? Number.parseInt(frame.slice(1), 36) : Number.NaN;
  return Number.isSafeInteger(counter) ? counter : undefined;
};

/** Base of a socket without a welcome. */
export const originBase: SocketBase = { counter: 0, now: 0 };
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

/** Place of a sent message: the ref under which it was sent, and where it is in the log. */
export type Ack = { ref: number; seq: number; at: number };
/** Places as one list of numbers, three each. */
const acks: Codec<Ack[], number[]> = {
  schema: v.array(int.schema),
  encode: (places, base) => places.flatMap(({ ref, seq, at }) => [ref, seq, at - base.now]),
  decode: (numbers, base) =>
    Array.from({ length: Math.floor(numbers.length / 3) }, (_, i) => {
      const [ref = 0, seq = 0, at = 0] = numbers.slice(3 * i);
      return { ref, seq, at: at + base.now };
    }),
};
/** Places of this device's sent messages. The numbers follow the counter directly. */
const acknowledgement: Codec<{ counter: number; acks: Ack[] }, ["a", number, ...number[]]> & FrameType = {
  letter: "a",
  hasRef: false,
  schema: v.tupleWithRest([v.literal("a"), changeNumber.schema], int.schema),
  encode: (frame, base) => ["a", changeNumber.encode(frame.counter, base), ...acks.encode(frame.acks, base)],
  decode: ([, counter, ...numbers], base) => ({
    counter: changeNumber.decode(counter, base),
    acks: acks.decode(numbers, base),
  }),
};

const ref = ["ref", count] as const; // the device's request number, repeated in the answer
const counter = ["counter", changeNumber] as const;
const conversation = ["target", count] as const; // its number in the person's inbox
const messages = ["messages", list(message)] as const;
/** Changes of the inbox, see `ChangesResult`. */
const changes = [
  ["epoch", text],
  ["counter", count],
  ["now", count],
  ["rows", list(inboxRow)],
  ["people", list(relation)],
  ["calls", list(plain(Call))],
  ["before", nullable(count)],
  ["settings", nullable(plain(VersionedSettings))],
  ["notices", list(plain(SecurityNotice))],
  ["since", count],
  ["draftHead", count],
] as const;
const error = ["error", plain(v.picklist(errorCodes))] as const;

/** Frames from server to device. A further field is one more line, at the end and optional for older clients. */
const serverFrames = {
  /** Answer to the hello: the changes since the device's counter. */
  welcome: frame("w", [["version", int], ...changes]),

  // Answers to requests, with the fields of their results (`commands.ts`)
  changes: frame("c", [ref, ...changes]),
  page: frame("g", [ref, ["epoch", text], ["head", count], messages, ["more", truth]]),
  search: frame("q", [ref, messages, ["before", nullable(count)]]),
  revisions: frame("v", [ref, ["epoch", text], ["revision", count], messages, ["more", truth]]),
  call: frame("j", [ref, ["result", plain(CallResult)]]),
  presence: frame("L", [ref, ["here", bit], ["seen_at", nullable(time)]]),
  /** The request was carried out. `revision`: of a reaction, of message flags or of a draft. */
  done: frame("y", [ref], [["revision", count]]),
  refusal: frame("n", [ref, error], [["retryAfterMs", count]]),

  /** A frame of the device was unreadable. */
  error: frame("x", [error]),

  // Changes of the inbox, numbered by the change counter
  acknowledgement,
  messages: frame("m", [counter, conversation, messages], [["acks", acks]]),
  row: frame("i", [counter, ["row", inboxRow]]),
  /** Receipts of the other members. */
  peerRead: frame("o", [counter, conversation, ["delivered", count], ["read", count]]),
  /** Own receipts. `unread` counts up to `head`. */
  ownRead: frame("u", [
    counter,
    conversation,
    ["delivered", count],
    ["read", count],
    ["unread", count],
    ["head", count],
  ]),
  person: frame("p", [counter, ["relation", relation]]),
  settings: frame("s", [counter, ["kept", plain(VersionedSettings)]]),
  /** Security notice, null for the session that caused it. */
  notice: frame("z", [counter, ["notice", nullable(plain(SecurityNotice))]]),
  /** Newest position of a conversation, for a device that is behind and receives no messages. */
  head: frame("b", [counter, conversation, ["head", count]]),
  /** Messages changed after the revision `since`: deleted, edited or anonymized. */
  revised: frame("e", [counter, conversation, ["since", count], ["revision", count], messages]),
  /** Draft, without content for the device that wrote it. `before`: number of the last change of any draft before. */
  draft: frame(
    "D",
    [counter, conversation, ["before", count]],
    [
      ["base", count],
      ["at", time],
      ["text", text],
    ],
    [["reply", plain(ReplyPlace)]],
  ),

  // Events without a counter, best effort
  /** A member is typing. */
  typing: frame("t", [conversation, ["member", count]]),
  /** A person whose presence was requested has changed its visibility. */
  presenceVisibility: frame("l", []),
  /** This person deleted a status. */
  postDeleted: frame("d", [["id", uuid]]),
  /** The push subscription of this session was made with a former key of the server. Sent after the welcome. */
  pushKeyChanged: frame("k", []),
};
const serverFrameSet = createFrameSet(serverFrames);
export type ServerFrame = FrameValue<typeof serverFrames> | ShortFrame;
export type ServerFrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;
/** JSON form of the frames that have one. */
export type WireServerFrame = FrameWire<typeof serverFrames>;

export const encodeServerFrame = (frame: ServerFrame, base: SocketBase): string =>
  frame.type === "liveText" || frame.type === "liveEdit" || frame.type === "reactions"
    ? encodeShortFrame(frame, base)
    : JSON.stringify(serverFrameSet.encode(frame, base));

/**
 * Decodes a frame from the server. Undefined if it is not of this protocol. A welcome is relative to the base that
 * follows from it.
 */
export const decodeServerFrame = (text: string, base = originBase): ServerFrame | CallFrame | undefined => {
  if (text.startsWith("[")) {
    const wire: WireServerFrame | undefined = serverFrameSet.parse(parseJson(text));
    if (wire?.[0] === "w") return serverFrameSet.decode(wire, toSocketBase({ counter: wire[3], now: wire[4] }));
    return wire && serverFrameSet.decode(wire, base);
  }
  if (!text.startsWith("{")) return decodeShortFrame(text, base);
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
