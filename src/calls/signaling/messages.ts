import * as v from "valibot";
import { callSignalMaxBytes } from "#contract/limits.ts";

/** What one side says of itself. `sound`: nothing is sent yet, its voice is, or it talks without a microphone. */
export const MediaState = v.object({
  n: v.number(), // later ones count
  muted: v.boolean(),
  video: v.boolean(),
  takesVideo: v.boolean(),
  /** It asked for the voice alone; otherwise it is the link that carries no picture. */
  wantsVideo: v.optional(v.boolean(), true),
  /** Its camera is on, whether or not anything is sent of it; otherwise the person switched it off. */
  camera: v.optional(v.boolean(), true),
  sound: v.picklist(["later", "sent", "none"]),
  hears: v.picklist(["nothing", "silence", "sound"]),
});
export type MediaState = v.InferOutput<typeof MediaState>;

export const SessionDescription = v.object({
  d: v.picklist(["offer", "answer"]),
  /** Which offer of the side that made it; an answer names the one it answers. */
  n: v.number(),
  sdp: v.string(),
});
export type SessionDescription = v.InferOutput<typeof SessionDescription>;

/** ICE candidates (RFC 8839): the line, the section it belongs to; all of one generation. */
export const IceCandidates = v.object({ u: v.string(), c: v.array(v.tuple([v.string(), v.string()])) });
export type IceCandidates = v.InferOutput<typeof IceCandidates>;

/** `hello` makes the other side know of this one, and begin. */
export const SignalItem = v.union([
  SessionDescription,
  IceCandidates,
  v.object({ m: MediaState }),
  v.object({ hello: v.literal(1) }),
]);
export type SignalItem = v.InferOutput<typeof SignalItem>;

/**
 * What travels between two devices in a call. `e` is the life of who sends it, `t` the life it is meant for (0 while
 * that is unknown), `s` the number of the first item and `a` how many came in a row from that life.
 */
export const SignalFrame = v.object({
  e: v.number(),
  t: v.number(),
  s: v.number(),
  a: v.number(),
  x: v.array(SignalItem),
});
export type SignalFrame = v.InferOutput<typeof SignalFrame>;

/**
 * Said over the data channel alone, which ends where the call's two devices are: the page goes, for good or to be loaded
 * again; or its person hung up. How the call ended and how long it was each side knows by itself.
 */
export const leavingText = "gone";
export const hangUpText = "bye";

const parseMessage = <T>(schema: v.GenericSchema<unknown, T>, text: string): T | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(text));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};

/** Undefined for what this version does not understand. */
export const parseSignal = (text: string): SignalFrame | undefined =>
  text.length > callSignalMaxBytes ? undefined : parseMessage(SignalFrame, text);
export const parseMediaState = (text: string): MediaState | undefined => parseMessage(MediaState, text);

/**
 * What a frame means to a life that knows another one, or none (0), of the device it comes from.
 * `drop`: it was meant for, or sent by, a life that is over. `adopt`: from now on the other's life is this one.
 * `renew`: the other began anew (its page was loaded again, or its peer connection made again), and so must this side.
 */
export const classifyFrame = (
  { e, t }: SignalFrame,
  mine: number,
  theirs: number,
): "take" | "adopt" | "renew" | "drop" => {
  if (t !== 0 && t !== mine) return "drop";
  if (e === theirs) return "take";
  if (theirs === 0) return "adopt";
  if (e < theirs) return "drop";
  return t === mine ? "adopt" : "renew";
};
