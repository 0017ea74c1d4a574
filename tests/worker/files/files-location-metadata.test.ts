import { expect, test } from "vitest";
import { ascii, box, makeHeic, photoLocation, trak, uint32 } from "#tests/support/people/iso-boxes.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import {
  completeFile,
  listFileKeys,
  makeRandomBytes,
  readStoredFile,
  uploadFile,
  uploadParts,
} from "#tests/worker/support/uploads.ts";

/** Location metadata of photos and videos, in file types that phones create and browsers do not display. */

const said = () => box("udta", box("\xa9xyz", ascii(photoLocation)), box("loci", ascii(photoLocation)));
const film = (...first: Buffer[]) =>
  Buffer.concat([
    ...first,
    box("mdat", ascii("moving pictures")),
    box(
      "moov",
      said(),
      trak("vide", said()),
      box("meta", ascii(`com.apple.quicktime.location.ISO6709 ${photoLocation}`)),
    ),
  ]);
const brand = (name: string) => box("ftyp", ascii(name), uint32(0), ascii(name));

test.each<[string, Buffer, string]>([
  ["an iPhone's photo", makeHeic(), "the picture"],
  ["a photo in AVIF", makeHeic("avif"), "the picture"],
  [
    "a large photo",
    makeHeic("heix", Buffer.concat([ascii("the picture"), Buffer.from(makeRandomBytes(300_000))])),
    "the picture",
  ],
  ["a sequence of photos", film(brand("hevc")), "moving pictures"],
  ["a 3GP film", film(brand("3gp5")), "moving pictures"],
  ["a film of an iPhone", film(brand("qt  ")), "moving pictures"],
  ["a QuickTime film without a brand", film(box("wide")), "moving pictures"],
])("%s says no longer where it was taken, and nothing in it moves", async (_, bytes, content) => {
  expect(bytes.includes(photoLocation)).toBe(true);
  const state = await uploadFile(await makePerson(), bytes, "IMG_0001.HEIC");
  expect(state).toMatchObject({ size: bytes.length, ready: { type: "application/octet-stream" } });
  const stored = (await readStoredFile(state.id))?.bytes ?? Buffer.alloc(0);
  expect(stored.length).toBe(bytes.length);
  expect(stored.includes(photoLocation)).toBe(false);
  expect(stored.indexOf(content)).toBe(bytes.indexOf(content));
});

/** Photo with this part replaced. */
const altered = (find: string, put: Buffer, after = 0): Buffer => {
  const bytes = Buffer.from(makeHeic());
  bytes.set(put, bytes.indexOf(find) + after);
  return bytes;
};

test.each<[string, Buffer]>([
  ["without a list of what is in it", altered("iinf", ascii("free"))],
  ["that does not say where anything stands", altered("iloc", ascii("free"))],
  ["whose boxes end beyond the file", makeHeic().subarray(0, 200)],
  ["in a version nobody knows", altered("iloc", Buffer.from([9]), 4)],
])("a photo %s is refused for good, for nobody knows what it tells", async (_, bytes) => {
  const ana = await makePerson();
  const id = await uploadParts(ana, bytes);
  expect(await completeFile(ana, id)).toMatchObject({ status: 415, body: { error_code: "broken_image" } });
  expect((await completeFile(ana, id)).status).toBe(404);
  expect((await listFileKeys("parts/")).filter((key) => key.includes(id))).toEqual([]);
});
