import type { MediaView } from "#calls/media/media-session.ts";
import type { CallView } from "#calls/views.ts";
import type { TextKey } from "#i18n/setup.ts";

/** Warning about a call, mostly about its media. */
export type CallWarning = {
  key: TextKey;
  tone: "danger" | "plain";
  remedy?: "camera" | "voiceMessage";
  /** Shown only if the condition lasts. */
  isLate?: true;
};

const micWarnings: Partial<Record<MediaView["mic"], TextKey>> = {
  refused: "calls.notice.micRefused",
  missing: "calls.notice.micMissing",
  taken: "calls.notice.micTaken",
};
const cameraWarnings: Partial<Record<MediaView["camera"], TextKey>> = {
  refused: "calls.notice.cameraRefused",
  missing: "calls.notice.cameraMissing",
  taken: "calls.notice.cameraTaken",
  unwanted: "calls.notice.cameraUnwanted",
};

/** Devices that worked earlier in this call; a missing one was unplugged. */
export type WorkingDevices = { mic: boolean; camera: boolean };

export const updateWorkingDevices = (before: WorkingDevices, { mic, camera }: MediaView): WorkingDevices => {
  const after = {
    mic: before.mic || mic === "on" || mic === "muted",
    camera: before.camera || ["on", "lowBandwidth", "unwanted"].includes(camera),
  };
  return after.mic === before.mic && after.camera === before.camera ? before : after;
};

const findPeerMicWarning = ({ peer }: MediaView): CallWarning | undefined => {
  if (!peer.hasMic) return { key: "calls.notice.peerNoMic", tone: "plain" };
  return peer.isMuted ? { key: "calls.notice.peerMuted", tone: "plain" } : undefined;
};

const findPeerVideoWarning = ({ peer, camera, isVoiceOnly }: MediaView): CallWarning | undefined => {
  // With the own camera on, its `unwanted` warning says more.
  if (peer.isVoiceOnly) return camera === "unwanted" ? undefined : { key: "calls.notice.peerVoiceOnly", tone: "plain" };
  return peer.isCameraOff && !isVoiceOnly ? { key: "calls.notice.peerCameraOff", tone: "plain" } : undefined;
};

/** Warnings about both sides' media and an unreachable phone, most severe first. A call that rings has none. */
export const listCallWarnings = (
  { state, media }: CallView,
  worked: WorkingDevices,
  isServerUnreachable = false,
): CallWarning[] => {
  if (state.phase === "ringing" || state.phase === "ended") return [];
  const isUp = state.phase === "connected";
  const warnings: (CallWarning | undefined)[] = [
    media.mic === "missing" && worked.mic
      ? { key: "calls.notice.micUnplugged", tone: "danger" }
      : micWarnings[media.mic] && { key: micWarnings[media.mic] as TextKey, tone: "danger" },
    media.mic === "waiting" ? { key: "calls.notice.micWaiting", tone: "plain", isLate: true } : undefined,
    isUp && media.isMicInaudible && media.mic === "on" ? { key: "calls.notice.unheard", tone: "danger" } : undefined,
  ];
  if (state.call.kind === "video") {
    warnings.push(
      media.camera === "lowBandwidth" ? { key: "calls.notice.thin", tone: "plain", remedy: "camera" } : undefined,
      media.camera === "missing" && worked.camera
        ? { key: "calls.notice.cameraUnplugged", tone: "plain" }
        : cameraWarnings[media.camera] && { key: cameraWarnings[media.camera] as TextKey, tone: "plain" },
      media.camera === "waiting" && media.mic !== "waiting"
        ? { key: "calls.notice.cameraWaiting", tone: "plain", isLate: true }
        : undefined,
      media.isVideoRestored ? { key: "calls.notice.seenAgain", tone: "plain" } : undefined,
    );
  }
  if (state.phase === "outgoing" && state.peer === "asleep")
    warnings.push({ key: "calls.notice.peerAsleep", tone: "plain", remedy: "voiceMessage" });
  if (isUp && isServerUnreachable) warnings.push({ key: "calls.notice.away", tone: "plain" });
  if (isUp && state.interruptedAt === undefined) {
    warnings.push(
      findPeerMicWarning(media),
      state.call.kind === "video" ? findPeerVideoWarning(media) : undefined,
      media.quality === 1 && media.camera !== "lowBandwidth" ? { key: "calls.notice.weak", tone: "plain" } : undefined,
    );
  }
  return warnings.filter((warning) => warning !== undefined);
};
