import type { MediaState } from "#calls/signaling/messages.ts";
import type { Measures } from "./call-metrics.ts";
import type { Inputs } from "./local-devices.ts";
import type { MediaView } from "./media-session.ts";

/** How one's own side of a call is now. */
export type OwnSide = {
  inputs: Inputs;
  measures: Measures;
  isCameraOn: boolean;
  /** The other side's picture is wanted. */
  takesPictures: boolean;
  /** Wanted, but where it would show nobody looks. */
  isUnseen: boolean;
  /** The other side wants this one's. */
  isWanted: boolean;
  /** Since when the picture is asked for, by its person and by the other side. */
  askedAt: number;
  /** Since when both talk; 0 before. */
  startedAt: number;
};

const noSoundAfterMs = 1_500; // a microphone that is not there by then is told to the other side
const thinAfterSeconds = 5; // what is asked for takes a moment to be sent

const soundOf = ({ inputs, startedAt }: OwnSide): MediaState["sound"] => {
  if (inputs.track("audio")) return "sent";
  const isLate = performance.now() - startedAt > noSoundAfterMs;
  return inputs.state("audio") !== "waiting" || isLate ? "none" : "later";
};

/** What the other side is told of it. */
export const saidOf = (side: OwnSide): Omit<MediaState, "n"> => {
  const { inputs, measures, isCameraOn } = side;
  const { rung } = measures.rungs;
  const takesPictures = side.takesPictures && !side.isUnseen;
  return {
    muted: inputs.isMuted,
    video: rung.video !== "off" && inputs.track("video") !== undefined,
    takesVideo: rung.takesVideo && takesPictures,
    wantsVideo: takesPictures,
    camera: isCameraOn,
    sound: soundOf(side),
    hears: measures.hears,
  };
};

const micOf = ({ inputs }: OwnSide): MediaView["mic"] => {
  const state = inputs.state("audio");
  if (state === "on") return inputs.isMuted ? "muted" : "on";
  return state === "off" || state === "resting" ? "waiting" : state;
};

const cameraOf = (
  { inputs, measures, isCameraOn, isWanted, askedAt, startedAt }: OwnSide,
  peer?: MediaState,
): MediaView["camera"] => {
  if (!isCameraOn) return "off";
  const state = inputs.state("video");
  if (state !== "on" && state !== "resting") return state === "off" ? "waiting" : state;
  if (!isWanted) return "unwanted";
  const { rung, wait, heardFor } = measures.rungs;
  const isLate = heardFor > thinAfterSeconds && performance.now() - askedAt > thinAfterSeconds * 1_000;
  const isHeldBack = wait > 0 || peer?.takesVideo === false || isLate;
  return rung.video === "off" && startedAt > 0 && isHeldBack ? "thin" : "on";
};

/** What this person is shown of it, and of what the other side says of itself. */
export const viewOf = (side: OwnSide, peer: MediaState | undefined): Omit<MediaView, "remote" | "isSeenAgain"> => ({
  mic: micOf(side),
  camera: cameraOf(side, peer),
  local: side.inputs.picture,
  isVoiceOnly: !side.takesPictures,
  peer: {
    isMuted: peer?.muted === true,
    hasMic: peer?.sound !== "none",
    hasVideo: peer?.video === true,
    isCameraOff: peer?.camera === false,
    isVoiceOnly: peer?.wantsVideo === false,
  },
  quality: side.measures.quality,
  bytes: side.measures.bytes,
  isUnheard: side.measures.isUnheard,
});
