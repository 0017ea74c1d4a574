import { expect, test } from "vitest";
import { fileMaxBytes, fileNameMaxLength, waveformBars } from "#contract/limits/files.ts";
import { fitWithin } from "#lib/media/image-resize.ts";
import { detectImageFormat } from "#lib/media/image-signature.ts";
import { replaceExtension, requireValidSize, toPlainFile } from "#lib/media/outgoing-file.ts";
import { isWorthShrinking } from "#lib/media/prepare-attachment.ts";
import { LevelTrack, toLoudness, toWaveform } from "#lib/media/waveform.ts";
import { addWebmDuration } from "#lib/media/webm-duration.ts";

const bytesOf = (...parts: (string | number[])[]): Uint8Array =>
  new Uint8Array(parts.flatMap((part) => (typeof part === "string" ? [...part].map((c) => c.charCodeAt(0)) : part)));
const chunk = (name: string, length: number) => bytesOf([0, 0, 0, length], name, Array(length + 4).fill(0));
const png = (...chunks: Uint8Array[]) => bytesOf("\x89PNG\r\n\x1a\n", ...chunks.map((part) => [...part]));

test("the type of a picture, and whether it is animated, is read from its bytes", () => {
  expect(detectImageFormat(bytesOf([0xff, 0xd8, 0xff, 0xe1]))).toEqual({ type: "image/jpeg", isAnimated: false });
  expect(detectImageFormat(bytesOf("GIF89a"))).toEqual({ type: "image/gif", isAnimated: true });
  expect(detectImageFormat(png(chunk("IHDR", 13), chunk("IDAT", 9)))).toEqual({ type: "image/png", isAnimated: false });
  expect(detectImageFormat(png(chunk("IHDR", 13), chunk("acTL", 8), chunk("IDAT", 9)))?.isAnimated).toBe(true);
  // An animation mark after the pixel data does not count.
  expect(detectImageFormat(png(chunk("IHDR", 13), chunk("IDAT", 9), chunk("acTL", 8)))?.isAnimated).toBe(false);
  const webp = (kind: string, flags: number) => bytesOf("RIFF", [0, 0, 0, 0], "WEBP", kind, [0, 0, 0, 10], [flags]);
  expect(detectImageFormat(webp("VP8X", 0x10))).toEqual({ type: "image/webp", isAnimated: false });
  expect(detectImageFormat(webp("VP8X", 0x12))?.isAnimated).toBe(true);
  expect(detectImageFormat(webp("VP8 ", 0x02))?.isAnimated).toBe(false);
});

test("bytes that are no picture are recognised as none, however short or broken", () => {
  for (const bytes of [bytesOf(), bytesOf("%PDF-1.7"), bytesOf("RIFF", [0, 0, 0, 0], "WAVE"), bytesOf([0xff, 0xd8])]) {
    expect(detectImageFormat(bytes)).toBeUndefined();
  }
  // A chunk that claims to be longer than the file ends the search.
  expect(detectImageFormat(png(bytesOf([0xff, 0xff, 0xff, 0xff], "IHDR")))?.isAnimated).toBe(false);
});

test("a picture keeps its aspect ratio, and a small one its size", () => {
  expect(fitWithin({ width: 4_000, height: 3_000 }, 1_600)).toEqual({ width: 1_600, height: 1_200 });
  expect(fitWithin({ width: 3_000, height: 4_000 }, 1_600)).toEqual({ width: 1_200, height: 1_600 });
  expect(fitWithin({ width: 320, height: 200 }, 1_600)).toEqual({ width: 320, height: 200 });
  expect(fitWithin({ width: 20_000, height: 3 }, 1_600)).toEqual({ width: 1_600, height: 1 });
});

test("a picture is encoded again only if that makes it smaller, or if browsers could not show it", () => {
  const jpeg = { type: "image/jpeg", isAnimated: false } as const;
  expect(isWorthShrinking(jpeg, 900_000, 120_000)).toBe(true);
  expect(isWorthShrinking(jpeg, 9_000, 9_000)).toBe(false);
  expect(isWorthShrinking(undefined, 9_000, 12_000)).toBe(true);
});

test("a file keeps its name except for forbidden characters", () => {
  const plain = (name: string, type = "") => toPlainFile(new File(["x"], name, { type })).body;
  expect(plain("C:\\Users\\Ana\\Été 2026.PDF", "application/pdf")).toMatchObject({
    type: "file",
    name: "Été 2026.PDF",
    mime: "application/pdf",
    size: 1,
  });
  expect(plain("facture\u202Efdp.exe").name).toBe("facturefdp.exe");
  expect(plain("..").name).toBe("file");
  // The type that the phone claims for a picture that cannot be decoded is not trusted.
  expect(plain("cassée.png", "image/png").mime).toBe("application/octet-stream");
  expect(plain("note.mp3", "audio/mpeg").mime).toBe("audio/mpeg");
  const long = replaceExtension(`${"é".repeat(200)}.jpeg`, "webp");
  expect(long).toHaveLength(fileNameMaxLength);
  expect(long.endsWith("é.webp")).toBe(true);
  expect(replaceExtension("IMG_0001.HEIC", "webp")).toBe("IMG_0001.webp");
});

test("an empty file and one over 25 MB are refused with their names", () => {
  expect(() => requireValidSize(new Blob([]))).toThrow(expect.objectContaining({ code: "empty" }));
  const sized = (size: number) => Object.defineProperty(new Blob(["x"]), "size", { value: size });
  expect(() => requireValidSize(sized(fileMaxBytes + 1))).toThrow(expect.objectContaining({ code: "tooLarge" }));
  expect(() => requireValidSize(sized(fileMaxBytes))).not.toThrow();
});

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

test("a waveform has a digit for each bar, from silent A to loud _", () => {
  expect(toWaveform([])).toBe("");
  expect(toWaveform([0, 0, 0])).toBe("A".repeat(waveformBars));
  expect(toWaveform([1])).toBe("_".repeat(waveformBars));
  const rising = toWaveform(Array.from({ length: 480 }, (_, at) => at / 479));
  expect(rising).toHaveLength(waveformBars);
  const heights = [...rising].map((digit) => digits.indexOf(digit));
  expect(heights).toEqual([...heights].sort((a, b) => a - b));
  expect(heights.at(-1)).toBe(63);
  // A quiet voice shows its shape; a silent room is not amplified into one.
  expect(digits.indexOf(toWaveform([0.5])[0] ?? "")).toBeGreaterThan(45);
  expect(digits.indexOf(toWaveform([0.02])[0] ?? "")).toBeLessThan(4);
});

test("the loudest sound of an hour is in the waveform, at its place", () => {
  const track = new LevelTrack();
  const hourMs = 3_600_000;
  for (let ms = 0; ms < hourMs; ms += 100) track.record(ms, ms === hourMs / 2 ? 1 : 0.1);
  expect(track.levels.length).toBeLessThanOrEqual(512);
  const bars = [...toWaveform(track.levels)].map((digit) => digits.indexOf(digit));
  expect([waveformBars / 2 - 1, waveformBars / 2]).toContain(bars.indexOf(63));
  expect(bars.filter((bar) => bar > 10)).toHaveLength(1);
});

test("a late timer leaves no hole in the waveform", () => {
  const track = new LevelTrack();
  track.record(0, 0.4);
  track.record(1_000, 0.6);
  expect(track.levels).toEqual([...Array(10).fill(0.4), 0.6]);
});

test("loudness follows perception: silence is zero, a voice is high, and the value is bounded", () => {
  expect(toLoudness(0)).toBe(0);
  expect(toLoudness(0.001)).toBe(0);
  expect(toLoudness(0.05)).toBeGreaterThan(0.5);
  expect(toLoudness(1)).toBe(1);
});

const ebml = bytesOf([0x1a, 0x45, 0xdf, 0xa3, 0x84], "webm");
const info = (...facts: number[]) => [0x15, 0x49, 0xa9, 0x66, 0x80 | facts.length, ...facts];
const scale = [0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40]; // one millisecond
const live = [0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
const cluster = [0x1f, 0x43, 0xb6, 0x75, 0x82, 1, 2];
const blobOf = (...parts: (number[] | Uint8Array)[]) => new Blob(parts.map((part) => new Uint8Array(part)));

test("a recording states its duration and keeps all its content", async () => {
  const recording = blobOf(ebml, live, info(...scale), cluster);
  const bytes = new Uint8Array(await (await addWebmDuration(recording, 61_500)).arrayBuffer());
  expect(bytes).toHaveLength(recording.size + 11 + 7); // The duration, and a size field of eight bytes instead of one.
  const at = bytes.findIndex((byte, i) => byte === 0x44 && bytes[i + 1] === 0x89);
  expect(new DataView(bytes.buffer).getFloat64(at + 3)).toBe(61_500);
  expect([...bytes.subarray(-cluster.length)]).toEqual(cluster);
  // A recording that states its duration is unchanged.
  const again = new Blob([bytes]);
  expect(await addWebmDuration(again, 5)).toBe(again);
});

test("a file that is no live WebM is unchanged", async () => {
  const sized = [0x18, 0x53, 0x80, 0x67, 0x92, ...info(...scale)];
  for (const blob of [
    blobOf([]),
    new Blob(["RIFF...."]),
    blobOf(ebml, sized),
    blobOf(ebml, live, cluster),
    blobOf(ebml),
  ]) {
    expect(await addWebmDuration(blob, 1_000)).toBe(blob);
  }
});
