import { type MediaType, otherType } from "#contract/files.ts";
import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";
import { sniffMp4 } from "./mp4.ts";
import { sniffWebm } from "./webm.ts";

/**
 * Media type of a file that is not an image, detected from its first bytes only. Its name and declared type are
 * ignored. `complete-file.ts` decides between images and other files.
 */

const soundPackets = ["OpusHead", "\x01vorbis", "\x7fFLAC", "Speex   "];

/** Ogg (RFC 3533): a first page with the first packet of an audio codec. */
const sniffOgg = (bytes: Uint8Array): "audio/ogg" | undefined => {
  if (readLatin1(bytes, 0, 5) !== "OggS\0") return undefined;
  const packet = 27 + (bytes[26] ?? 0);
  const begin = readLatin1(bytes, packet, packet + 8);
  return soundPackets.some((name) => begin.startsWith(name)) ? "audio/ogg" : undefined;
};

const mpeg1 = 3;
const bitrates = {
  [mpeg1]: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  other: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const sampleRates = [44_100, 48_000, 32_000];

/** Length of the MPEG layer III frame at an offset; undefined if there is none (ISO/IEC 11172-3 §2.4.1). */
const readFrameLength = (bytes: Uint8Array, at: number): number | undefined => {
  if (at + 4 > bytes.length) return undefined;
  const header = toDataView(bytes).getUint32(at);
  const version = (header >>> 19) & 3;
  const rate = sampleRates[(header >>> 10) & 3];
  const kilobits = (version === mpeg1 ? bitrates[mpeg1] : bitrates.other)[(header >>> 12) & 15];
  if (header >>> 21 !== 0x7ff || version === 1 || ((header >>> 17) & 3) !== 1 || !rate || !kilobits) return undefined;
  const samples = version === mpeg1 ? 144 : 72;
  const divisor = version === mpeg1 ? 1 : version === 2 ? 2 : 4;
  return Math.floor((samples * kilobits * 1_000) / (rate / divisor)) + ((header >>> 9) & 1);
};

/** Start of the audio after an ID3v2 tag (id3.org, ID3v2.4.0 §3.1); 0 without one. */
const findId3End = (bytes: Uint8Array): number => {
  if (readLatin1(bytes, 0, 3) !== "ID3" || bytes.length < 10) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
  return 10 + ((a & 0x7f) << 21) + ((b & 0x7f) << 14) + ((c & 0x7f) << 7) + (d & 0x7f);
};

/** MP3: two consecutive frames, or a tag that extends beyond the bytes read. */
const sniffMp3 = (bytes: Uint8Array): "audio/mpeg" | undefined => {
  const start = findId3End(bytes);
  if (start >= bytes.length) return "audio/mpeg";
  const length = readFrameLength(bytes, start);
  if (length === undefined) return undefined;
  return start + length + 4 > bytes.length || readFrameLength(bytes, start + length) ? "audio/mpeg" : undefined;
};

const sniffWav = (bytes: Uint8Array): "audio/wav" | undefined =>
  readLatin1(bytes, 0, 4) === "RIFF" && readLatin1(bytes, 8, 16) === "WAVEfmt " ? "audio/wav" : undefined;

const sniffPdf = (bytes: Uint8Array): "application/pdf" | undefined =>
  readLatin1(bytes, 0, 5) === "%PDF-" ? "application/pdf" : undefined;

export const sniffType = (bytes: Uint8Array): MediaType =>
  sniffWebm(bytes) ??
  sniffMp4(bytes) ??
  sniffOgg(bytes) ??
  sniffWav(bytes) ??
  sniffPdf(bytes) ??
  sniffMp3(bytes) ??
  otherType;
