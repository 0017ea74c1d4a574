import type { MediaState } from "#calls/signaling/messages.ts";
import type { CallMetrics } from "./call-metrics.ts";
import type { LocalDevices } from "./local-devices.ts";
import type { MediaView } from "./media-session.ts";
import type { VideoRequests } from "./video-requests.ts";

/** Current state of the local media. */
export type LocalMedia = {
  devices: LocalDevices;
  metrics: CallMetrics;
  video: VideoRequests;
  /** When the call was answered; 0 before. */
  startedAt: number;
};

const micMissingAfterMs = 1_500; // a microphone that is not open by then is reported as missing
const lowBandwidthAfterSeconds = 5; // requested video takes a moment to be sent

const toSoundState = ({ devices, startedAt }: LocalMedia): MediaState["sound"] => {
  if (devices.getTrack("audio")) return "sent";
  const isLate = performance.now() - startedAt > micMissingAfterMs;
  return devices.getState("audio") !== "waiting" || isLate ? "none" : "later";
};

/** Converts the local state to the message for the other side. */
export const toMediaState = (local: LocalMedia): Omit<MediaState, "n"> => {
  const { devices, metrics, video } = local;
  const { level } = metrics.ladder;
  const wantsRemoteVideo = video.wantsRemoteVideo && !video.isRemoteVideoHidden;
  return {
    muted: devices.isMuted,
    video: level.video !== "off" && devices.getTrack("video") !== undefined,
    takesVideo: level.takesVideo && wantsRemoteVideo,
    wantsVideo: wantsRemoteVideo,
    camera: video.isCameraOn,
    sound: toSoundState(local),
    hears: metrics.hears,
  };
};

const toMicState = ({ devices }: LocalMedia): MediaView["mic"] => {
  const state = devices.getState("audio");
  if (state === "on") return devices.isMuted ? "muted" : "on";
  return state === "off" || state === "suspended" ? "waiting" : state;
};

const toCameraState = ({ devices, metrics, video, startedAt }: LocalMedia, peer?: MediaState): MediaView["camera"] => {
  if (!video.isCameraOn) return "off";
  const state = devices.getState("video");
  if (state !== "on" && state !== "suspended") return state === "off" ? "waiting" : state;
  if (!video.isVideoWanted) return "unwanted";
  const { level, videoCooldown, heardFor } = metrics.ladder;
  const isLate =
    heardFor > lowBandwidthAfterSeconds && performance.now() - video.requestedAt > lowBandwidthAfterSeconds * 1_000;
  const isSuppressed = videoCooldown > 0 || peer?.takesVideo === false || isLate;
  return level.video === "off" && startedAt > 0 && isSuppressed ? "lowBandwidth" : "on";
};

/** Converts the local state and the other side's report to the view of the screens. */
export const toMediaView = (
  local: LocalMedia,
  peer: MediaState | undefined,
): Omit<MediaView, "remote" | "isVideoRestored"> => ({
  mic: toMicState(local),
  camera: toCameraState(local, peer),
  local: local.devices.cameraStream,
  isVoiceOnly: !local.video.wantsRemoteVideo,
  peer: {
    isMuted: peer?.muted === true,
    hasMic: peer?.sound !== "none",
    hasVideo: peer?.video === true,
    isCameraOff: peer?.camera === false,
    isVoiceOnly: peer?.wantsVideo === false,
  },
  quality: local.metrics.quality,
  bytes: local.metrics.bytes,
  isMicInaudible: local.metrics.isMicInaudible,
});
