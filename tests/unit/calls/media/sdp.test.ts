import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { selectCodecs, stripDescription, toOutgoingCandidate, tuneRemoteDescription } from "#calls/media/sdp.ts";
import { revealsAddress } from "#contract/calls/candidates.ts";

/** An offer of Chromium 156 after gathering candidates: audio, video and a data channel. */
const offer = readFileSync(new URL("../../../support/model/chromium-offer.sdp", import.meta.url), "utf8");

const section = (sdp: string, kind: string): string[] => {
  const lines = sdp.split("\r\n");
  const start = lines.findIndex((line) => line.startsWith(`m=${kind} `));
  const end = lines.findIndex((line, index) => index > start && line.startsWith("m="));
  return lines.slice(start, end === -1 ? undefined : end);
};

describe("a local description", () => {
  it("contains no address of this device", () => {
    expect(offer).toContain("192.0.2.2");
    expect(offer).toContain("fd00::2");
    expect(stripDescription(offer)).not.toMatch(/192\.0\.2\.2|fd00::2|a=candidate/);
    expect(section(stripDescription(offer), "audio")[1]).toBe("c=IN IP4 0.0.0.0");
  });

  it("keeps its sections, and a rejected one stays rejected", () => {
    const kinds = (sdp: string) => sdp.match(/^m=\w+ \d+/gm);
    expect(kinds(stripDescription(offer))).toEqual(["m=audio 9", "m=video 9", "m=application 9"]);
    const refused = offer.replace(/^m=video \d+/m, "m=video 0");
    expect(kinds(stripDescription(refused))).toEqual(["m=audio 9", "m=video 0", "m=application 9"]);
  });

  it("is less than two thirds as long, and stays the same when processed twice", () => {
    expect(stripDescription(offer).length).toBeLessThan(offer.length * 0.66);
    expect(stripDescription(stripDescription(offer))).toBe(stripDescription(offer));
  });

  it("keeps everything that a connection needs", () => {
    for (const needed of [
      "a=ice-ufrag:0p56",
      "a=fingerprint:sha-256",
      "a=setup:actpass",
      "a=rtcp-mux",
      "a=group:BUNDLE",
    ]) {
      expect(stripDescription(offer)).toContain(needed);
    }
    expect(section(stripDescription(offer), "application")).toContain("a=sctp-port:5000");
  });
});

describe("a remote description", () => {
  const tuned = tuneRemoteDescription(offer, { isRedundant: false });

  it("asks for low-bitrate audio: DTX, FEC, 24 kbit/s in packets of 60 ms, one channel", () => {
    const audio = section(tuned, "audio");
    const options = audio
      .find((line) => line.startsWith("a=fmtp:111 "))
      ?.slice("a=fmtp:111 ".length)
      .split(";");
    expect(options?.sort()).toEqual([
      "maxaveragebitrate=24000",
      "minptime=10",
      "sprop-stereo=0",
      "stereo=0",
      "usedtx=1",
      "useinbandfec=1",
    ]);
    expect(audio.filter((line) => /^a=(max)?ptime/.test(line))).toEqual(["a=ptime:60"]);
  });

  it("sets the options once each for a browser that had other values", () => {
    const firefox = offer.replace(
      /a=fmtp:111 .*/,
      "a=fmtp:111 maxplaybackrate=48000;stereo=1;useinbandfec=0\r\na=ptime:20\r\na=maxptime:40",
    );
    const audio = section(tuneRemoteDescription(firefox, { isRedundant: false }), "audio");
    const line = audio.find((line) => line.startsWith("a=fmtp:111 "));
    expect(line).toContain("maxplaybackrate=48000");
    expect(line).toContain(";stereo=0");
    expect(line).toContain("useinbandfec=1");
    expect(line).not.toMatch(/stereo=1|useinbandfec=0/);
    expect(audio.filter((line) => /^a=(max)?ptime/.test(line))).toEqual(["a=ptime:60"]);
  });

  it("has no transport-wide feedback for audio, and keeps it for video", () => {
    expect(section(offer, "audio").join()).toMatch(/transport-cc/);
    expect(section(tuned, "audio").join()).not.toMatch(/transport-cc|transport-wide-cc|abs-send-time|audio-level/);
    expect(section(tuned, "audio").join()).toContain("sdes:mid");
    expect(section(tuned, "video").join()).toMatch(/transport-cc/);
    expect(section(tuned, "video").join()).toMatch(/transport-wide-cc/);
  });

  it("prefers RED only if audio is sent twice", () => {
    const first = (isRedundant: boolean) =>
      section(tuneRemoteDescription(offer, { isRedundant }), "audio")[0]?.split(" ").slice(3);
    expect(first(false)?.slice(0, 2)).toEqual(["111", "63"]);
    expect(first(true)?.slice(0, 2)).toEqual(["63", "111"]);
    expect([...(first(true) ?? [])].sort()).toEqual([...(first(false) ?? [])].sort());
  });

  it("prefers Opus if there is no RED", () => {
    const without = offer.replace(/a=rtpmap:63 .*\r\na=fmtp:63 .*\r\n/, "").replace("111 63 ", "9 111 ");
    expect(section(tuneRemoteDescription(without, { isRedundant: true }), "audio")[0]).toMatch(/ 111 9 /);
  });

  it("lets video start at a low bitrate", () => {
    expect(section(tuned, "video")).toContain("a=fmtp:96 x-google-start-bitrate=100");
  });

  it("keeps audio without Opus, and the data channel, unchanged", () => {
    const odd = offer.replace(/opus\//g, "other/");
    expect(section(tuneRemoteDescription(odd, { isRedundant: true }), "audio")).toEqual(
      section(odd, "audio").filter((line) => !line.startsWith("a=candidate")),
    );
    const isNoCandidate = (line: string) => !line.startsWith("a=candidate");
    expect(section(tuned, "application")).toEqual(section(offer, "application").filter(isNoCandidate));
  });

  it("contains no candidate, which would be tried before the call is accepted", () => {
    expect(offer).toContain("a=candidate");
    expect(tuned).not.toContain("candidate");
  });

  it("stays the same when processed twice", () => {
    expect(tuneRemoteDescription(tuned, { isRedundant: false })).toBe(tuned);
  });
});

describe("a local candidate", () => {
  const host = "candidate:1 1 udp 2122194687 192.0.2.2 49335 typ host generation 0 ufrag 0p56";
  const mirrored = "candidate:2 1 udp 1685987071 198.51.100.7 49335 typ srflx raddr 192.0.2.2 rport 49335 generation 0";
  const relayed = "candidate:3 1 udp 41885439 203.0.113.9 50000 typ relay raddr 198.51.100.7 rport 49335 generation 0";

  it("is unchanged if the address need not be hidden", () => {
    for (const line of [host, mirrored, relayed]) expect(toOutgoingCandidate(line, false)).toBe(line);
  });

  it("is a relayed one without the related address if the address is hidden", () => {
    expect(toOutgoingCandidate(host, true)).toBeUndefined();
    expect(toOutgoingCandidate(mirrored, true)).toBeUndefined();
    expect(toOutgoingCandidate(relayed, true)).toBe(
      "candidate:3 1 udp 41885439 203.0.113.9 50000 typ relay raddr 0.0.0.0 rport 9 generation 0",
    );
  });
});

describe("a signal that must not reveal the device's address", () => {
  const relayed = "candidate:3 1 udp 41885439 203.0.113.9 50000 typ relay raddr 0.0.0.0 rport 9";
  const signal = (...lines: string[]) =>
    JSON.stringify({ e: 1, t: 2, s: 1, a: 0, x: [{ u: "0p56", c: lines.map((line) => [line, "0"]) }] });
  const described = (sdp: string) => JSON.stringify({ e: 1, t: 0, s: 1, a: 0, x: [{ d: "answer", n: 1, sdp }] });

  it("may contain relay candidates and a description without addresses", () => {
    expect(revealsAddress(signal(relayed))).toBe(false);
    expect(revealsAddress(signal(relayed, relayed.replace("raddr 0.0.0.0", "raddr ::")))).toBe(false);
    expect(revealsAddress(described(stripDescription(offer)))).toBe(false);
    expect(revealsAddress('{"hello":1}')).toBe(false);
  });

  it("is refused with any other candidate, also beside a relay candidate or inside a description", () => {
    const host = "candidate:1 1 udp 2122194687 192.0.2.2 49335 typ host generation 0";
    expect(revealsAddress(signal(host))).toBe(true);
    expect(revealsAddress(signal(relayed, host))).toBe(true);
    expect(revealsAddress(signal(host, relayed))).toBe(true);
    expect(revealsAddress(signal("candidate:9 1 udp 1 3f2a.local 9 typ host"))).toBe(true);
    expect(revealsAddress(signal(relayed.replace("raddr 0.0.0.0", "raddr 198.51.100.7")))).toBe(true);
    expect(revealsAddress(described(offer))).toBe(true);
    expect(revealsAddress(described(`${stripDescription(offer)}a=${host}\r\n`))).toBe(true);
    expect(revealsAddress(described("v=0\r\nc=IN IP6 2001:db8::7\r\n"))).toBe(true);
  });
});

describe("the offered codecs", () => {
  const codec = (mimeType: string, sdpFmtpLine?: string) => ({
    mimeType,
    clockRate: mimeType.startsWith("audio") ? 48_000 : 90_000,
    ...(sdpFmtpLine !== undefined && { sdpFmtpLine }),
  });

  it("are Opus before RED, and for video VP8 and one H264", () => {
    const audio = [codec("audio/red"), codec("audio/G722"), codec("audio/opus")];
    expect(selectCodecs("audio", audio).map(({ mimeType }) => mimeType)).toEqual(["audio/opus", "audio/red"]);
    const video = [
      codec("video/VP9", "profile-id=0"),
      codec("video/H264", "packetization-mode=0;profile-level-id=42e01f"),
      codec("video/H264", "packetization-mode=1;profile-level-id=42e01f"),
      codec("video/VP8"),
      codec("video/rtx"),
    ];
    expect(selectCodecs("video", video)).toEqual([video[3], video[2], video[4]]);
  });
});
