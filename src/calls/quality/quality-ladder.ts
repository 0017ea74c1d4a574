/**
 * What is sent, by how the link is (measured; see docs/decisions/call-media.md): voice first, at the price of little; twice
 * where packets are lost; pictures small, only when voice runs well and the link carries them; and whoever hears badly
 * because of pictures does away with them, both ways.
 */
type VideoSize = "off" | "small" | "medium";
export type QualityLevel = {
  audioBitrate: number;
  /** RED: each packet of voice carries the one before it. */
  isRedundant: boolean;
  video: VideoSize;
  /** Whether the other side may send pictures. */
  takesVideo: boolean;
};

/** How the link was in the last half second. */
export type LinkWindow = {
  seconds: number;
  /** Of what is sent, as the other side reports it: 0 to 1. */
  outLoss: number | undefined;
  rttMs: number | undefined;
  /** Bits a second the link carries upwards; known only where pictures are negotiated. */
  estimate: number | undefined;
  /** Bits a second that the browser gives the pictures of now, where it tells. */
  videoTargetBitrate?: number | undefined;
  /** Audible gaps in what is heard: 0 to 1. */
  concealed: number;
  /** Something was heard in it. */
  isHeard: boolean;
};

export type QualityWishes = {
  /** The person's camera is on. */
  isCameraOn: boolean;
  isDataSaver: boolean;
  /** What the other side says of itself. */
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
const settleSeconds = 15; // what pictures drowned is reported up to as long after they went, and is no loss of the link
const calmShare = 0.03;
const calmSeconds = 15;
const tinyEstimate = 30_000;
const roomyEstimate = 60_000;
const tightSeconds = 5;
const queueMs = 400; // a round trip this much longer than the shortest one: packets wait somewhere
const videoEstimate = 150_000;
const mediumEstimate = 600_000;
const maybeMediumEstimate = 400_000; // with small pictures alone the estimate does not grow: then it is tried
const voiceFirstSeconds = 1.5;
const gapSeconds = 1.5;
const untestedSeconds = 10;
const untriedSeconds = 3;
const rampSeconds = 3; // the browser looks for the width of the link as long as that
const mediumSeconds = 10;
const badShare = 0.15;
const badWindows = 2;
const squeezedShare = 0.6; // of the bits that pictures may have: with less, one bad window is enough
const goodShare = 0.05;
const cooldownSeconds = 20; // doubles with each time pictures had to go
const cooldownMaxSeconds = 160;
const steadySeconds = 120; // pictures that ran this long start from the beginning
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
  /** Good seconds in which nothing may be sent but voice. */
  videoCooldown: number;
  videoDrops: number;
  /** Seconds since pictures had to go. */
  droppedFor: number;
  mediumCooldown: number;
};

export const createQualityState = (isThrifty: boolean): QualityState => ({
  level: {
    audioBitrate: isThrifty ? tinyVoiceBitrate : voiceBitrate,
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

/** Voice: how many bits, and once or twice. */
const stepAudio = (state: QualityState, window: LinkWindow, isThrifty: boolean): QualityState => {
  const { seconds, outLoss = 0, rttMs, estimate } = window;
  const bestRttMs = Math.min(state.minRttMs, rttMs ?? Number.POSITIVE_INFINITY);
  const isQueueing = rttMs !== undefined && rttMs > bestRttMs + queueMs;
  // Lost because the link is full: sending it twice would fill it more.
  const isFull = (estimate !== undefined && estimate < tinyEstimate) || (outLoss > lossyShare && isQueueing);
  const fellFor = state.droppedFor + seconds;
  const isLossy = outLoss > lossyShare && !isFull && fellFor > settleSeconds;
  const lossyFor = accumulate(state.lossyFor, isLossy, seconds);
  const calmFor = accumulate(state.calmFor, outLoss < calmShare, seconds);
  const tightFor = accumulate(state.tightFor, isFull, seconds);
  const roomyFor = accumulate(
    state.roomyFor,
    !isQueueing && (estimate === undefined || estimate > roomyEstimate),
    seconds,
  );
  const wasTiny = state.level.audioBitrate === tinyVoiceBitrate;
  const isTiny = isThrifty || (wasTiny ? roomyFor < calmSeconds : tightFor >= tightSeconds);
  const isRedundant =
    tightFor < tightSeconds && (state.level.isRedundant ? calmFor < calmSeconds : lossyFor >= lossySeconds);
  const rung = { ...state.level, isRedundant, audioBitrate: isTiny ? tinyVoiceBitrate : voiceBitrate };
  return { ...state, level: rung, minRttMs: bestRttMs, droppedFor: fellFor, lossyFor, calmFor, tightFor, roomyFor };
};

const canCarryVideo = ({ heardFor }: QualityState, { estimate, outLoss = 0, concealed }: LinkWindow): boolean => {
  if (heardFor < voiceFirstSeconds || concealed > goodShare || outLoss > lossyShare) return false;
  if (estimate === undefined || estimate > videoEstimate) return true;
  // What Chromium tries a link with as it begins may be lost, and without pictures it never tries again.
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

/** What to send now. Pure: the same windows give the same rungs. */
export const stepQuality = (before: QualityState, window: LinkWindow, wishes: QualityWishes): QualityState => {
  const { seconds, concealed, isHeard, outLoss = 0, estimate, videoTargetBitrate = Number.POSITIVE_INFINITY } = window;
  const state = stepAudio(before, window, wishes.isDataSaver);
  const unheardFor = accumulate(state.unheardFor, !isHeard, seconds);
  // A silent voice sends a packet now and then; a window without one is no gap.
  const heardFor = accumulate(state.heardFor, unheardFor < gapSeconds, seconds);
  const isWithVideo = state.level.video !== "off" || (wishes.peer.hasVideo && state.level.takesVideo);
  // When nothing comes at all, pictures are not what keeps it away.
  const isBad = isWithVideo && isHeard && concealed > badShare;
  const badRun = isBad ? state.badRun + 1 : isHeard ? 0 : state.badRun;
  const { video: sent } = state.level;
  const isLongSent = sent !== "off" && state.videoFor > rampSeconds;
  const isDrowned = isLongSent && (outLoss > 0.2 || (estimate ?? 1e6) < roomyEstimate);
  const isSqueezed = isLongSent && videoTargetBitrate < squeezedShare * videoSizes[sent].bitrate;
  if (badRun >= (isSqueezed ? 1 : badWindows) || isDrowned) {
    const falls = state.videoDrops + 1;
    const rung: QualityLevel = { ...state.level, video: "off", takesVideo: false };
    const wait = Math.min(cooldownMaxSeconds, cooldownSeconds * 2 ** (falls - 1));
    return {
      ...state,
      level: rung,
      badRun: 0,
      heardFor,
      unheardFor,
      videoFor: 0,
      videoCooldown: wait,
      videoDrops: falls,
      droppedFor: 0,
    };
  }
  const isGood = isHeard && concealed < goodShare && outLoss < lossyShare;
  const wait = Math.max(0, state.videoCooldown - (isGood ? seconds : 0));
  const next = { ...state, badRun, heardFor, unheardFor, wait };
  const video = chooseVideoSize(next, window, wishes);
  const isSmaller = state.level.video === "medium" && video === "small";
  const videoFor = video === state.level.video && video !== "off" ? state.videoFor + seconds : 0;
  return {
    ...next,
    level: { ...state.level, video, takesVideo: wait === 0 },
    videoFor,
    videoDrops: videoFor > steadySeconds ? 0 : state.videoDrops,
    mediumCooldown: isSmaller ? mediumCooldownSeconds : Math.max(0, state.mediumCooldown - seconds),
  };
};
