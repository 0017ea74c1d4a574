import type { MediaState } from "#calls/signaling/messages.ts";
import type { CallMetrics } from "./call-metrics.ts";
import type { LocalDevices } from "./local-devices.ts";
import type { MediaView } from "./media-session.ts";

/** How one's own side of a call is now. */
export type LocalMedia = {
  devices: LocalDevices;
  metrics: CallMetrics;
  isCameraOn: boolean;
  /** The other side's picture is wanted. */
  wantsRemoteVideo: boolean;
  /** Wanted, but where it would show nobody looks. */
  isRemoteVideoHidden: boolean;
  /** The other side wants this one's. */
  isVideoWanted: boolean;
  /** Since when the picture is asked for, by its person and by the other side. */
  videoRequestedAt: number;
  /** Since when both talk; 0 before. */
  startedAt: number;
};

const micMissingAfterMs = 1_500; // a microphone that is not there by then is told to the other side
const lowBandwidthAfterSeconds = 5; // what is asked for takes a moment to be sent

const toSoundState = ({ devices, startedAt }: LocalMedia): MediaState["sound"] => {
  if (devices.getTrack("audio")) return "sent";
  const isLate = performance.now() - startedAt > micMissingAfterMs;
  return devices.getState("audio") !== "waiting" || isLate ? "none" : "later";
};

/** What the other side is told of it. */
export const toMediaState = (side: LocalMedia): Omit<MediaState, "n"> => {
  const { devices, metrics, isCameraOn } = side;
  const { level } = metrics.ladder;
  const takesPictures = side.wantsRemoteVideo && !side.isRemoteVideoHidden;
  return {
    muted: devices.isMuted,
    video: level.video !== "off" && devices.getTrack("video") !== undefined,
    takesVideo: level.takesVideo && takesPictures,
    wantsVideo: takesPictures,
    camera: isCameraOn,
    sound: toSoundState(side),
    hears: metrics.hears,
  };
};

const toMicState = ({ devices }: LocalMedia): MediaView["mic"] => {
  const state = devices.getState("audio");
  if (state === "on") return devices.isMuted ? "muted" : "on";
  return state === "off" || state === "resting" ? "waiting" : state;
};

const toCameraState = (
  { devices, metrics, isCameraOn, isVideoWanted, videoRequestedAt, startedAt }: LocalMedia,
  peer?: MediaState,
): MediaView["camera"] => {
  if (!isCameraOn) return "off";
  const state = devices.getState("video");
  if (state !== "on" && state !== "resting") return state === "off" ? "waiting" : state;
  if (!isVideoWanted) return "unwanted";
  const { level, videoCooldown, heardFor } = metrics.ladder;
  const isLate =
    heardFor > lowBandwidthAfterSeconds && performance.now() - videoRequestedAt > lowBandwidthAfterSeconds * 1_000;
  const isHeldBack = videoCooldown > 0 || peer?.takesVideo === false || isLate;
  return level.video === "off" && startedAt > 0 && isHeldBack ? "thin" : "on";
};

/** What this person is shown of it, and of what the other side says of itself. */
export const toMediaView = (
  side: LocalMedia,
  peer: MediaState | undefined,
): Omit<MediaView, "remote" | "isVideoRestored"> => ({
  mic: toMicState(side),
  camera: toCameraState(side, peer),
  local: side.devices.cameraStream,
  isVoiceOnly: !side.wantsRemoteVideo,
  peer: {
    isMuted: peer?.muted === true,
    hasMic: peer?.sound !== "none",
    hasVideo: peer?.video === true,
    isCameraOff: peer?.camera === false,
    isVoiceOnly: peer?.wantsVideo === false,
  },
  quality: side.metrics.quality,
  bytes: side.metrics.bytes,
  isMicInaudible: side.metrics.isMicInaudible,
});
