/**
 * Adaptive quality of what is sent (measured; see docs/decisions/call-media.md). Audio comes first, at a low bitrate,
 * and redundant where packets are lost. Video is small and only sent when audio runs well and the link carries it. If
 * video makes the audio bad, it is stopped in both directions.
 */
type VideoSize = "off" | "small" | "medium";
export type QualityLevel = {
  audioBitrate: number;
  /** RED: each audio packet also carries the one before it. */
  isRedundant: boolean;
  video: VideoSize;
  /** Whether the other side may send video. */
  takesVideo: boolean;
};

/** Link measurements of one window (half a second). */
export type LinkWindow = {
  seconds: number;
  /** Loss of sent packets as reported by the other side: 0 to 1. */
  outLoss: number | undefined;
  rttMs: number | undefined;
  /** Available outgoing bitrate in bit/s, known only if video is negotiated. */
  estimate: number | undefined;
  /** Target bitrate of the current video in bit/s, where the browser reports it. */
  videoTargetBitrate?: number | undefined;
  /** Concealed (missing) part of the received audio: 0 to 1. */
  concealed: number;
  /** Whether audio packets arrived. */
  isHeard: boolean;
};

export type QualityWishes = {
  /** Whether the camera is on. */
  isCameraOn: boolean;
  isDataSaver: boolean;
  /** State reported by the other side. */
  peer: { takesVideo: boolean; hasVideo: boolean };
};

export const voiceBitrate = 24_000;
const tinyVoiceBitrate = 12_000;
export const voiceFrameMs = 60;
export const videoStartKbps = 100;
export const videoSizes = {
  small: { width: 320, height: 240, framesPerSecond: 15, bitrate: 150_000 },
  medium: { width: 640, height: 480, framesPerSecond: 24, bitrate: 500_000 },
} as const;

const lossyShare = 0.08;
const lossySeconds = 5;
const settleSeconds = 15; // loss caused by video is reported for this long after it stopped, and is not the link's
const calmShare = 0.03;
const calmSeconds = 15;
const tinyEstimate = 30_000;
const roomyEstimate = 60_000;
const tightSeconds = 5;
const queueMs = 400; // a round trip longer than the shortest one by this much means that packets queue
const videoEstimate = 150_000;
const mediumEstimate = 600_000;
const maybeMediumEstimate = 400_000; // with small video alone the estimate does not grow, so the medium size is tried
const voiceFirstSeconds = 1.5;
const gapSeconds = 1.5;
const untestedSeconds = 10;
const untriedSeconds = 3;
const rampSeconds = 3; // the browser probes the bandwidth for this long
const mediumSeconds = 10;
const badShare = 0.15;
const badWindows = 2;
const squeezedShare = 0.6; // of the maximum video bitrate: with less, one bad window is enough
const goodShare = 0.05;
const cooldownSeconds = 20; // doubles each time video is stopped
const cooldownMaxSeconds = 160;
const steadySeconds = 120; // video that ran this long resets the cooldown
const mediumCooldownSeconds = 60;

export type QualityState = {
  level: QualityLevel;
  minRttMs: number;
  lossyFor: number;
  calmFor: number;
  tightFor: number;
  roomyFor: number;
  badRun: number;
  heardFor: number;
  unheardFor: number;
  videoFor: number;
  /** Good seconds that must pass before video is allowed again. */
  videoCooldown: number;
  videoDrops: number;
  /** Seconds since video was stopped. */
  droppedFor: number;
  mediumCooldown: number;
};

export const createQualityState = (isDataSaver: boolean): QualityState => ({
  level: {
    audioBitrate: isDataSaver ? tinyVoiceBitrate : voiceBitrate,
    isRedundant: false,
    video: "off",
    takesVideo: true,
  },
  minRttMs: Number.POSITIVE_INFINITY,
  lossyFor: 0,
  calmFor: 0,
  tightFor: 0,
  roomyFor: 0,
  badRun: 0,
  heardFor: 0,
  unheardFor: 0,
  videoFor: 0,
  videoCooldown: 0,
  videoDrops: 0,
  droppedFor: Number.POSITIVE_INFINITY,
  mediumCooldown: 0,
});

const accumulate = (before: number, is: boolean, seconds: number): number => (is ? before + seconds : 0);

/** Audio bitrate and redundancy. */
const stepAudio = (state: QualityState, window: LinkWindow, isDataSaver: boolean): QualityState => {
  const { seconds, outLoss = 0, rttMs, estimate } = window;
  const minRttMs = Math.min(state.minRttMs, rttMs ?? Number.POSITIVE_INFINITY);
  const isQueueing = rttMs !== undefined && rttMs > minRttMs + queueMs;
  // Loss caused by a full link: redundancy would fill it more.
  const isFull = (estimate !== undefined && estimate < tinyEstimate) || (outLoss > lossyShare && isQueueing);
  const droppedFor = state.droppedFor + seconds;
  const isLossy = outLoss > lossyShare && !isFull && droppedFor > settleSeconds;
  const lossyFor = accumulate(state.lossyFor, isLossy, seconds);
  const calmFor = accumulate(state.calmFor, outLoss < calmShare, seconds);
  const tightFor = accumulate(state.tightFor, isFull, seconds);
  const roomyFor = accumulate(
    state.roomyFor,
    !isQueueing && (estimate === undefined || estimate > roomyEstimate),
    seconds,
  );
  const wasTiny = state.level.audioBitrate === tinyVoiceBitrate;
  const isTiny = isDataSaver || (wasTiny ? roomyFor < calmSeconds : tightFor >= tightSeconds);
  const isRedundant =
    tightFor < tightSeconds && (state.level.isRedundant ? calmFor < calmSeconds : lossyFor >= lossySeconds);
  const level = { ...state.level, isRedundant, audioBitrate: isTiny ? tinyVoiceBitrate : voiceBitrate };
  return { ...state, level, minRttMs, droppedFor, lossyFor, calmFor, tightFor, roomyFor };
};

const canCarryVideo = ({ heardFor }: QualityState, { estimate, outLoss = 0, concealed }: LinkWindow): boolean => {
  if (heardFor < voiceFirstSeconds || concealed > goodShare || outLoss > lossyShare) return false;
  if (estimate === undefined || estimate > videoEstimate) return true;
  // Chromium's initial probe may be lost, and without video it never probes again.
  const isUntried = Math.round(estimate) === videoStartKbps * 1_000;
  return heardFor >= (isUntried ? untriedSeconds : untestedSeconds);
};

const chooseVideoSize = (
  state: QualityState,
  window: LinkWindow,
  { isCameraOn, isDataSaver, peer }: QualityWishes,
): VideoSize => {
  const { video } = state.level;
  if (!isCameraOn || !peer.takesVideo || state.videoCooldown > 0) return "off";
  if (video === "off") return canCarryVideo(state, window) ? "small" : "off";
  if (isDataSaver) return "small";
  const { estimate, outLoss = 0, concealed } = window;
  const isClean = outLoss < calmShare && concealed < goodShare;
  if (video === "medium") {
    return isClean && (estimate === undefined || estimate > maybeMediumEstimate) ? "medium" : "small";
  }
  if (estimate === undefined || !isClean || state.mediumCooldown > 0) return "small";
  return estimate >= mediumEstimate || (estimate >= maybeMediumEstimate && state.videoFor >= mediumSeconds)
    ? "medium"
    : "small";
};

/** Next quality level. Pure: the same windows give the same levels. */
export const stepQuality = (before: QualityState, window: LinkWindow, wishes: QualityWishes): QualityState => {
  const { seconds, concealed, isHeard, outLoss = 0, estimate, videoTargetBitrate = Number.POSITIVE_INFINITY } = window;
  const state = stepAudio(before, window, wishes.isDataSaver);
  const unheardFor = accumulate(state.unheardFor, !isHeard, seconds);
  // A silent voice sends few packets, so a window without one is no gap.
  const heardFor = accumulate(state.heardFor, unheardFor < gapSeconds, seconds);
  const isWithVideo = state.level.video !== "off" || (wishes.peer.hasVideo && state.level.takesVideo);
  // If no packets arrive at all, video is not the cause.
  const isBad = isWithVideo && isHeard && concealed > badShare;
  const badRun = isBad ? state.badRun + 1 : isHeard ? 0 : state.badRun;
  const { video: sent } = state.level;
  const isLongSent = sent !== "off" && state.videoFor > rampSeconds;
  const isDrowned = isLongSent && (outLoss > 0.2 || (estimate ?? 1e6) < roomyEstimate);
  const isSqueezed = isLongSent && videoTargetBitrate < squeezedShare * videoSizes[sent].bitrate;
  if (badRun >= (isSqueezed ? 1 : badWindows) || isDrowned) {
    const videoDrops = state.videoDrops + 1;
    const level: QualityLevel = { ...state.level, video: "off", takesVideo: false };
    const videoCooldown = Math.min(cooldownMaxSeconds, cooldownSeconds * 2 ** (videoDrops - 1));
    return {
      ...state,
      level,
      badRun: 0,
      heardFor,
      unheardFor,
      videoFor: 0,
      videoCooldown,
      videoDrops,
      droppedFor: 0,
    };
  }
  const isGood = isHeard && concealed < goodShare && outLoss < lossyShare;
  const videoCooldown = Math.max(0, state.videoCooldown - (isGood ? seconds : 0));
  const next = { ...state, badRun, heardFor, unheardFor, videoCooldown };
  const video = chooseVideoSize(next, window, wishes);
  const isSmaller = state.level.video === "medium" && video === "small";
  const videoFor = video === state.level.video && video !== "off" ? state.videoFor + seconds : 0;
  return {
    ...next,
    level: { ...state.level, video, takesVideo: videoCooldown === 0 },
    videoFor,
    videoDrops: videoFor > steadySeconds ? 0 : state.videoDrops,
    mediumCooldown: isSmaller ? mediumCooldownSeconds : Math.max(0, state.mediumCooldown - seconds),
  };
};
