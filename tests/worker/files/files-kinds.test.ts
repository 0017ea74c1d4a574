import { expect, test } from "vitest";
import { filePartBytes } from "#contract/limits/files.ts";
import { makeHostileFile } from "#tests/support/files/hostile-files.ts";
import { ebmlIds, element, endlessElement, makeEbmlHeader, makeTracks } from "#tests/support/people/ebml-elements.ts";
import { ascii, box, trak } from "#tests/support/people/iso-boxes.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import {
  completeFile,
  makeRandomBytes,
  readStoredFile,
  uploadFile,
  uploadParts,
} from "#tests/worker/support/uploads.ts";
import { sniffType } from "#worker/files/formats/sniff.ts";

const page = "<!doctype html><script>alert(document.cookie)</script>";
const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';

const webm = (type: string, ...kinds: number[]) =>
  Buffer.concat([
    makeEbmlHeader(type),
    endlessElement(ebmlIds.segment, element(ebmlIds.info, Buffer.alloc(9)), makeTracks(...kinds)),
  ]);

const mp4 = (brand: string, ...handlers: string[]) =>
  Buffer.concat([
    box("ftyp", ascii(brand), Buffer.alloc(8)),
    box("moov", ...handlers.map((handler) => trak(handler))),
    box("mdat", Buffer.alloc(50)),
  ]);

const ogg = (packet: string) =>
  Buffer.concat([ascii("OggS\0\x02"), Buffer.alloc(20), Buffer.from([1, 19]), ascii(packet), Buffer.alloc(20)]);

/** Frames of 128 kbit/s at 44,100 Hz: 417 bytes each. */
const mp3 = (frames: number) =>
  Buffer.concat(
    Array.from({ length: frames }, () => Buffer.concat([Buffer.from("fffb9000", "hex"), Buffer.alloc(413)])),
  );
const id3 = (length: number) =>
  Buffer.concat([ascii("ID3\x04\0\0\0\0"), Buffer.from([length >> 7, length & 0x7f]), Buffer.alloc(length)]);

test.each<[string, Buffer, string]>([
  ["a voice recorded by a browser", webm("webm", 2), "audio/webm"],
  ["a film recorded by a browser", webm("webm", 2, 1), "video/webm"],
  ["an Opus sound", ogg("OpusHead"), "audio/ogg"],
  ["a Vorbis sound", ogg("\x01vorbis"), "audio/ogg"],
  ["an MP4 sound", mp4("isom", "soun"), "audio/mp4"],
  ["an M4A sound", mp4("M4A "), "audio/mp4"],
  ["an MP4 film", mp4("mp42", "soun", "vide"), "video/mp4"],
  [
    "an MP4 whose tracks stand at its end",
    Buffer.concat([box("ftyp", ascii("isom"), Buffer.alloc(8)), box("mdat", Buffer.alloc(99))]),
    "video/mp4",
  ],
  ["an MP3", mp3(3), "audio/mpeg"],
  ["an MP3 with a tag", Buffer.concat([id3(300), mp3(3)]), "audio/mpeg"],
  ["a WAV", Buffer.concat([ascii("RIFF\x24\0\0\0WAVEfmt "), Buffer.alloc(28)]), "audio/wav"],
  ["a PDF", ascii("%PDF-1.7\n%stream"), "application/pdf"],
])("%s is recognised by its bytes", (_, bytes, type) => {
  expect(sniffType(bytes)).toBe(type);
});

test.each<[string, Buffer]>([
  ["an SVG", ascii(svg)],
  ["a page", ascii(page)],
  ["XML", ascii(`<?xml version="1.0"?>${svg}`)],
  ["a script", ascii("#!/bin/sh\nrm -rf /")],
  ["a program for Windows", ascii("MZ\x90\0")],
  ["a program for Linux", ascii("\x7fELF")],
  ["an archive", ascii("PK\x03\x04")],
  ["a page that begins like an MP3 tag", Buffer.concat([id3(20), ascii(page)])],
  ["a page behind one MP3 frame", Buffer.concat([mp3(1), ascii(page)])],
  ["a page that begins like a WebM", Buffer.concat([Buffer.from("1a45dfa3", "hex"), ascii(page)])],
  ["a Matroska film", webm("matroska", 1, 2)],
  ["a WebM with an endless document type", makeHostileFile("WebM: a document type of the whole file", 150_000)],
  ["a WebM without tracks", webm("webm")],
  ["a QuickTime film", mp4("qt  ", "vide")],
  ["an Ogg film", ogg("\x80theora")],
  ["a WAV's first bytes", ascii("RIFF\x24\0\0\0WAVE")],
  ["a PDF behind a page", ascii(`${page}%PDF-1.7`)],
  ["one byte", Buffer.from([0xff])],
])("%s is only served as a download, whatever its name", async (_, bytes) => {
  expect(sniffType(bytes)).toBe("application/octet-stream");
  const state = await uploadFile(await makePerson(), bytes, "photo.png");
  expect(state).toMatchObject({ size: bytes.length, ready: { type: "application/octet-stream", width: null } });
  const stored = await readStoredFile(state.id);
  expect(stored?.key).toMatch(/\.bin$/);
  expect(stored?.bytes.equals(bytes)).toBe(true);
});

test("the location is removed from an MP4 file, wherever it is, and nothing in it moves", async () => {
  const makeLocationBox = () => box("udta", box("\xa9xyz", ascii("+04.3224-015.3070/")));
  const film = Buffer.concat([
    box("ftyp", ascii("isom"), Buffer.alloc(8)),
    box("uuid", ascii("x".repeat(16)), ascii("<x:xmpmeta>+04.3224</x:xmpmeta>")),
    // Pictures that end where the next part begins, so that the following bytes cross a part boundary.
    box("mdat", Buffer.from(makeRandomBytes(filePartBytes - 103))),
    box(
      "moov",
      makeLocationBox(),
      trak("vide"),
      box("trak", box("tkhd", Buffer.alloc(20)), makeLocationBox()),
      box("meta", ascii("+04.3224")),
    ),
  ]);
  expect(film.toString("latin1").split("+04.3224")).toHaveLength(5);
  const state = await uploadFile(await makePerson(), film, "film.mp4");
  expect(state).toMatchObject({ size: film.length, ready: { type: "video/mp4" } });
  const bytes = (await readStoredFile(state.id))?.bytes ?? Buffer.alloc(0);
  expect(bytes.includes("+04.3224")).toBe(false);
  for (const name of ["ftyp", "mdat", "moov", "trak", "tkhd", "hdlr"])
    expect(bytes.indexOf(name)).toBe(film.indexOf(name));
  const mdat = film.indexOf("mdat");
  expect(bytes.subarray(mdat, mdat + filePartBytes - 103).equals(film.subarray(mdat, mdat + filePartBytes - 103))).toBe(
    true,
  );
  expect(bytes.toString("latin1").split("free")).toHaveLength(5);
});

test("a script that begins like a GIF is refused by its dimensions", async () => {
  const ana = await makePerson();
  const id = await uploadParts(ana, ascii(`GIF89a/*${" ".repeat(40)}*/=1;alert(1)`));
  expect(await completeFile(ana, id)).toMatchObject({ status: 400, body: { error_code: "image_too_many_pixels" } });
});

test("bytes that mislead parsers are parsed to the end", () => {
  const beginnings = [webm("webm", 2), mp4("isom", "soun"), ogg("OpusHead"), Buffer.concat([id3(9), mp3(2)])];
  for (const whole of beginnings) {
    for (let at = 0; at < whole.length; at++) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const bytes = Buffer.from(whole);
        bytes[at] = value;
        expect(typeof sniffType(bytes)).toBe("string");
      }
      expect(typeof sniffType(whole.subarray(0, at))).toBe("string");
    }
  }
});
