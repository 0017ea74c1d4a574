import * as v from "valibot";
import { callSignalMaxBytes } from "#contract/limits/calls.ts";

/**
 * Media state one side reports about itself. `sound`: no audio is sent yet, audio is sent, or there is no microphone.
 */
export const MediaState = v.object({
  n: v.number(), // increases with each report; the highest counts
  muted: v.boolean(),
  video: v.boolean(),
  takesVideo: v.boolean(),
  /** False if the person asked for audio only. If true while `takesVideo` is false, the link cannot carry video. */
  wantsVideo: v.optional(v.boolean(), true),
  /** Whether the camera is on, even if its video is not sent. False means that the person switched it off. */
  camera: v.optional(v.boolean(), true),
  sound: v.picklist(["later", "sent", "none"]),
  hears: v.picklist(["nothing", "silence", "sound"]),
});
export type MediaState = v.InferOutput<typeof MediaState>;

export const SessionDescription = v.object({
  d: v.picklist(["offer", "answer"]),
  /** Number of the offer among those of its side; an answer names the offer it answers. */
  n: v.number(),
  sdp: v.string(),
});
export type SessionDescription = v.InferOutput<typeof SessionDescription>;

/**
 * ICE candidates (RFC 8839): candidate line and media section each, all of one ICE generation (`u`: username fragment).
 */
export const IceCandidates = v.object({ u: v.string(), c: v.array(v.tuple([v.string(), v.string()])) });
export type IceCandidates = v.InferOutput<typeof IceCandidates>;

/** `hello` tells the other side that this one exists, so that it begins. */
export const SignalItem = v.union([
  SessionDescription,
  IceCandidates,
  v.object({ m: MediaState }),
  v.object({ hello: v.literal(1) }),
]);
export type SignalItem = v.InferOutput<typeof SignalItem>;

/**
 * Frame between two devices in a call. `e`: generation of the sender; `t`: generation of the intended receiver (0 while
 * unknown); `s`: number of the first item; `a`: cumulative acknowledgement of the receiver's items.
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
 * Messages sent only over the data channel, which reaches exactly the two devices of the call: the page is closing or
 * reloading, or its person hung up. Each side knows by itself how the call ended and how long it lasted.
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

/** Returns undefined for a message this version does not understand. */
export const parseSignal = (text: string): SignalFrame | undefined =>
  text.length > callSignalMaxBytes ? undefined : parseMessage(SignalFrame, text);
export const parseMediaState = (text: string): MediaState | undefined => parseMessage(MediaState, text);

/**
 * Classifies a frame by the generations of both devices (0: unknown). `drop`: sent by or meant for an ended generation.
 * `rebind`: the other side's generation is the frame's from now on. `renew`: the other side began a new generation (its
 * page was reloaded or its peer connection rebuilt), so this side must as well.
 */
export const classifyFrame = (
  { e, t }: SignalFrame,
  ownGeneration: number,
  peerGeneration: number,
): "accept" | "rebind" | "renew" | "drop" => {
  if (t !== 0 && t !== ownGeneration) return "drop";
  if (e === peerGeneration) return "accept";
  if (peerGeneration === 0) return "rebind";
  if (e < peerGeneration) return "drop";
  return t === ownGeneration ? "rebind" : "renew";
};
