import { type QualityLevel, videoSizes } from "#calls/quality/quality-ladder.ts";

/** Sets so much of what is sent by it; there is nothing to set before both sides described themselves. */
export async function setEncoding(sender: RTCRtpSender, encoding: RTCRtpEncodingParameters): Promise<void> {
  const parameters = sender.getParameters();
  const [first] = parameters.encodings;
  if (!first) return;
  const before = JSON.stringify(first);
  Object.assign(first, encoding);
  if (JSON.stringify(first) === before) return;
  await sender.setParameters(parameters);
}

/** How the pictures of a track go on this rung. An encoding that only has no track is padded for some seconds. */
export const createVideoEncoding = (
  { video }: QualityLevel,
  track: MediaStreamTrack | null,
): RTCRtpEncodingParameters => {
  if (video === "off" || track === null) return { active: false };
  const size = videoSizes[video];
  const { width = size.height, height = size.height } = track.getSettings();
  return {
    active: true,
    maxBitrate: size.bitrate,
    maxFramerate: size.framesPerSecond,
    // A phone held upright gives the shorter edge as its width.
    scaleResolutionDownBy: Math.max(1, Math.min(width, height) / size.height),
  };
};

/**
 * Ends the pictures, also those that left already: without a track alone Chromium sends again what the other side misses
 * of them for up to ten seconds, on a link that has no room for it. When their kind changes (`contentHint`) it begins a
 * new stream, and has nothing of the old one to send.
 */
export async function detachVideoTrack(sender: RTCRtpSender): Promise<void> {
  const { track } = sender;
  if (!track) return;
  const { contentHint } = track;
  track.contentHint = contentHint === "detail" ? "motion" : "detail";
  try {
    await sender.replaceTrack(null);
  } finally {
    track.contentHint = contentHint;
  }
}
