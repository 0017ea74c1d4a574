import { type QualityLevel, videoSizes } from "#calls/quality/quality-ladder.ts";

/** Sets encoding parameters of a sender. Has no effect before the session descriptions are exchanged. */
export async function setEncoding(sender: RTCRtpSender, encoding: RTCRtpEncodingParameters): Promise<void> {
  const parameters = sender.getParameters();
  const [first] = parameters.encodings;
  if (!first) return;
  const previous = JSON.stringify(first);
  Object.assign(first, encoding);
  if (JSON.stringify(first) === previous) return;
  await sender.setParameters(parameters);
}

/**
 * Encoding of a video track at a quality level. An active encoding without a track is padded by Chromium for some
 * seconds.
 */
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
    // A phone held upright reports the shorter edge as its width.
    scaleResolutionDownBy: Math.max(1, Math.min(width, height) / size.height),
  };
};

/**
 * Stops sending video, including retransmissions. Without a track alone Chromium retransmits lost video packets for up
 * to ten seconds, on a link that has no room for them. Changing `contentHint` makes it start a new stream, which has
 * nothing to retransmit.
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
