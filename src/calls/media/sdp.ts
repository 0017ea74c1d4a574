import { videoStartKbps, voiceBitrate, voiceFrameMs } from "#calls/quality/quality-ladder.ts";
import { isRelayOnly } from "#contract/calls/candidates.ts";

/**
 * Section of a session description (RFC 8866, RFC 9429). `stripDescription` changes outgoing descriptions,
 * `tuneRemoteDescription` incoming ones before they are applied. Codec options belong into the remote description: they
 * say what the other side wants to receive.
 */
type SdpSection = { kind: string; lines: string[] };

const parseSections = (sdp: string): SdpSection[] => {
  const sections: SdpSection[] = [{ kind: "session", lines: [] }];
  for (const line of sdp.split(/\r?\n/)) {
    if (line === "") continue;
    if (line.startsWith("m=")) sections.push({ kind: line.slice(2).split(" ", 1)[0] ?? "", lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections;
};

const joinSections = (sections: SdpSection[]): string => `${sections.flatMap(({ lines }) => lines).join("\r\n")}\r\n`;

/**
 * Lines removed from audio sections. Transport-wide feedback makes Chromium pad an audio call as soon as packets are
 * lost, and each header extension costs bytes in every packet. Only the section id (`mid`) is needed.
 */
const removedAudioLines = [/^a=rtcp-fb:\S+ transport-cc/, /^a=extmap:(?!.*:sdes:mid\b)/];

const keptVideoExtensions = /:sdes:mid\b|transport-wide-cc|video-orientation|abs-send-time/;

/** Whether the other side can do without a line. Candidates are sent separately. */
const isRemovableLine = (line: string, kind: string): boolean =>
  /^a=(candidate|end-of-candidates|rtcp:|rtcp-xr:|msid-semantic|remote-candidates)/.test(line) ||
  /^a=ssrc:\d+ (msid|mslabel|label):/.test(line) ||
  (kind === "audio" && removedAudioLines.some((pattern) => pattern.test(line))) ||
  (kind === "video" && line.startsWith("a=extmap:") && !keptVideoExtensions.test(line));

/**
 * Removes from a description what the other side does not need, and all addresses. Browsers write their preferred
 * candidate into the `c=` and `m=` lines.
 */
export const stripDescription = (sdp: string): string =>
  joinSections(
    parseSections(sdp).map(({ kind, lines }) => ({
      kind,
      lines: lines
        .filter((line) => !isRemovableLine(line, kind))
        .map((line) => line.replace(/^c=.*/, "c=IN IP4 0.0.0.0").replace(/^(m=\S+) (?!0 )\d+ /, "$1 9 ")),
    })),
  );

const findPayload = (lines: string[], codec: RegExp): string | undefined =>
  lines.map((line) => /^a=rtpmap:(\d+) (\S+)/.exec(line)).find((match) => codec.test(match?.[2] ?? ""))?.[1];

/** Sets format options (`fmtp`) of a payload type. */
const setFmtpOptions = (lines: string[], payload: string, options: Record<string, number>): string[] => {
  const start = `a=fmtp:${payload} `;
  const existing = lines.find((line) => line.startsWith(start))?.slice(start.length) ?? "";
  const kept = existing.split(";").map((option) => option.trim());
  const others = kept.filter((option) => option !== "" && !((option.split("=", 1)[0] ?? "") in options));
  const line = start + [...others, ...Object.entries(options).map(([name, value]) => `${name}=${value}`)].join(";");
  return lines
    .filter((other) => !other.startsWith(start))
    .flatMap((other) => (other.startsWith(`a=rtpmap:${payload} `) ? [other, line] : [other]));
};

/** Moves a payload type to the front; the first codec is the one that is sent. */
const preferPayload = (lines: string[], payload: string): string[] =>
  lines.map((line) => {
    if (!line.startsWith("m=")) return line;
    const [media, port, protocol, ...payloads] = line.split(" ");
    return [media, port, protocol, payload, ...payloads.filter((other) => other !== payload)].join(" ");
  });

const tuneAudio = (lines: string[], isRedundant: boolean): string[] => {
  const opus = findPayload(lines, /^opus\//i);
  if (opus === undefined) return lines;
  const red = findPayload(lines, /^red\/48000/i);
  const kept = lines.filter(
    (line) => !/^a=(max)?ptime:/.test(line) && !removedAudioLines.some((drop) => drop.test(line)),
  );
  const tuned = setFmtpOptions(kept, opus, {
    usedtx: 1,
    useinbandfec: 1,
    stereo: 0,
    "sprop-stereo": 0,
    maxaveragebitrate: voiceBitrate,
  });
  return [...preferPayload(tuned, isRedundant && red !== undefined ? red : opus), `a=ptime:${voiceFrameMs}`];
};

/** Sets where bandwidth estimation starts. Chromium probes in multiples of it; its default is 300 kbit/s. */
const tuneVideo = (lines: string[]): string[] => {
  const payload = findPayload(lines, /^(VP8|H264)\//i);
  return payload === undefined ? lines : setFmtpOptions(lines, payload, { "x-google-start-bitrate": videoStartKbps });
};

const remoteCandidate = /^a=(candidate|end-of-candidates|remote-candidates)/;

/**
 * Remote description as it is applied locally. `isRedundant`: this side sends its audio with RED (RFC 2198). Candidates
 * are removed, because the browser would check them before the call is accepted and so reveal this device's address.
 */
export const tuneRemoteDescription = (sdp: string, { isRedundant }: { isRedundant: boolean }): string =>
  joinSections(
    parseSections(sdp).map(({ kind, lines: all }) => {
      const lines = all.filter((line) => !remoteCandidate.test(line));
      return {
        kind,
        lines: kind === "audio" ? tuneAudio(lines, isRedundant) : kind === "video" ? tuneVideo(lines) : lines,
      };
    }),
  );

/**
 * Candidate as it may be sent. With hidden addresses only relay candidates are sent, without the address behind the
 * relay.
 */
export const toOutgoingCandidate = (candidate: string, isHidden: boolean): string | undefined => {
  if (!isHidden) return candidate;
  const anonymous = candidate.replace(/ raddr \S+/, " raddr 0.0.0.0").replace(/ rport \d+/, " rport 9");
  return isRelayOnly(anonymous) ? anonymous : undefined;
};

/** Selects the few codecs that are offered, because each one lengthens every description. */
export const selectCodecs = <C extends { mimeType: string; clockRate: number; sdpFmtpLine?: string }>(
  kind: "audio" | "video",
  codecs: readonly C[],
): C[] => {
  const named = (name: string, line = /(?:)/) =>
    codecs.filter(({ mimeType, sdpFmtpLine = "" }) => mimeType.toLowerCase() === name && line.test(sdpFmtpLine));
  if (kind === "audio") {
    return [...named("audio/opus"), ...named("audio/red").filter(({ clockRate }) => clockRate === 48_000)];
  }
  const h264 = named("video/h264", /packetization-mode=1.*profile-level-id=42e0/i).slice(0, 1);
  return [...named("video/vp8"), ...h264, ...named("video/rtx").slice(0, 1)];
};
