import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { avatarMaxBytes } from "#contract/limits/files.ts";
import type { Profile } from "#contract/people.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makeJpegWithLocation, makePng, makePngClaiming } from "#tests/worker/support/pictures.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { readImageHeader } from "#worker/lib/storage/image-header.ts";

const put = async (by: Person, body: BodyInit, type = "image/png") => {
  const response = await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers: { authorization: `Bearer ${by.token}`, "content-type": type },
    body,
  });
  return { status: response.status, body: (await response.json()) as Profile & { error_code?: string } };
};
const get = (by: Person, key: string, size = "", headers: Record<string, string> = {}) =>
  site.fetch(`${site.origin}/api/avatars/${key}${size && `?size=${size}`}`, {
    headers: { authorization: `Bearer ${by.token}`, ...headers },
  });
/** Keys of a person's stored pictures. */
const keptOf = async ({ id }: Person) => {
  const sizes = await Promise.all(["512", "50"].map((size) => env.AVATARS.list({ prefix: `${size}/${id}` })));
  return sizes.flatMap(({ objects }) => objects.map(({ key }) => key));
};
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

test("a picture becomes a square WebP of 512 pixels under a key of the person, the time and randomness", async () => {
  const person = await makePerson();
  const { status, body } = await put(person, makePng(300, 200));
  expect(status).toBe(200);
  expect(body.avatar_url).toMatch(new RegExp(`^${person.id}_\\d{13}_[\\w-]{22}\\.webp$`));
  const large = await get(person, body.avatar_url ?? "");
  expect(large.status).toBe(200);
  expect(readImageHeader(await bytesOf(large))).toEqual({ type: "webp", width: 512, height: 512 });
  const small = await get(person, body.avatar_url ?? "", "50");
  expect(readImageHeader(await bytesOf(small))).toEqual({ type: "webp", width: 50, height: 50 });
});

const encode = async (format: "image/jpeg" | "image/webp") => {
  const stream = new Response(makePng(80, 80)).body as ReadableStream<Uint8Array>;
  const output = await env.IMAGES.input(stream).output({ format });
  return output.response().arrayBuffer();
};
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

test.each([
  ["JPEG", () => encode("image/jpeg")],
  ["WebP", () => encode("image/webp")],
  ["GIF", () => gif],
])("a %s is accepted as a picture, whatever its name", async (_, make) => {
  expect((await put(await makePerson(), await make(), "application/octet-stream")).status).toBe(200);
});

test("location and other metadata of a picture are not stored", async () => {
  const person = await makePerson();
  const jpeg = await makeJpegWithLocation();
  expect(Buffer.from(jpeg).includes("Kinshasa")).toBe(true);
  const { body } = await put(person, jpeg, "image/jpeg");
  const kept = Buffer.from(await bytesOf(await get(person, body.avatar_url ?? "")));
  for (const trace of ["Exif", "GPS", "Kinshasa", "XMP"]) expect(kept.includes(trace)).toBe(false);
  const second = await put(person, makePng(60, 60));
  const png = Buffer.from(await bytesOf(await get(person, second.body.avatar_url ?? "")));
  expect(png.includes("secret place")).toBe(false);
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';
test.each([
  ["an SVG", svg, "image/svg+xml"],
  ["an SVG called PNG", svg, "image/png"],
  ["HTML called PNG", "<!doctype html><script>alert(1)</script>".padEnd(64), "image/png"],
  ["a PDF", "%PDF-1.7 ".padEnd(64), "image/jpeg"],
  ["a program", `MZ\u0090${" ".repeat(64)}`, "image/png"],
  ["nothing", "", "image/png"],
  ["a PNG's first bytes and no more", "\x89PNG\r\n\x1a\n".padEnd(64, "x"), "image/png"],
])("%s is refused as a picture", async (_, text, type) => {
  const person = await makePerson();
  const answer = await put(person, Buffer.from(text, "latin1"), type);
  expect(answer).toMatchObject({ status: 415, body: { error_code: "not_an_image" } });
  expect(await keptOf(person)).toEqual([]);
});

test("a picture with a valid header and broken data is refused", async () => {
  const answer = await put(await makePerson(), makePngClaiming(100, 100).slice(0, 60));
  expect(answer).toMatchObject({ status: 415, body: { error_code: "not_an_image" } });
});

test("a picture of 60,000 pixels a side is refused by its header, without decoding", async () => {
  const answer = await put(await makePerson(), makePngClaiming(60_000, 60_000));
  expect(answer).toMatchObject({ status: 400, body: { error_code: "image_too_many_pixels" } });
});

test("five megabytes are accepted and one byte more is refused, also without Content-Length", async () => {
  const person = await makePerson();
  const exact = new Uint8Array(avatarMaxBytes);
  exact.set(makePng(40, 40)); // bytes after the end of the picture are ignored by decoders
  expect((await put(person, exact)).status).toBe(200);
  const over = new Uint8Array(avatarMaxBytes + 1);
  over.set(makePng(40, 40));
  const before = await keptOf(person);
  expect(before).toHaveLength(1);
  const tooLarge = { status: 413, body: { error_code: "file_too_large" } };
  expect(await put(person, over)).toMatchObject(tooLarge);
  expect(await put(person, new Response(over).body as ReadableStream)).toMatchObject(tooLarge);
  expect(await keptOf(person)).toEqual(before);
});

test("a new picture replaces the old one, which is deleted in every size", async () => {
  const person = await makePerson();
  const first = (await put(person, makePng(40, 40))).body.avatar_url ?? "";
  await get(person, first, "50");
  const second = (await put(person, makePng(50, 50))).body.avatar_url ?? "";
  await expect.poll(() => keptOf(person)).toEqual([`512/${second}`]);
  expect((await get(person, first)).status).toBe(404);
  const { body } = await call("GET", `/api/users/${person.id}`, { token: person.token });
  expect(body).toMatchObject({ avatar_url: second });
});

test("a picture is served to signed-in users only, cacheable and never executable", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const key = (await put(ana, makePng(40, 40))).body.avatar_url ?? "";
  const response = await get(ben, key, "512");
  expect(response.headers.get("content-type")).toBe("image/webp");
  expect(response.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*sandbox/);
  expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  const etag = response.headers.get("etag") ?? "";
  const again = await get(ben, key, "512", { "if-none-match": etag });
  expect(again.status).toBe(304);
  expect(await again.text()).toBe("");
  expect((await site.fetch(`${site.origin}/api/avatars/${key}`, { headers: { "if-none-match": etag } })).status).toBe(
    401,
  );
});

test.each([
  "x.webp",
  "..%2f..%2fsecret",
  "01900000-0000-7000-8000-000000000000_1700000000000_AAAAAAAAAAAAAAAAAAAAAA.webp",
  "01900000-0000-7000-8000-000000000000_1700000000000_AAAAAAAAAAAAAAAAAAAAAA.png",
  "512%2f01900000",
])("there is no picture %s", async (key) => {
  const response = await get(await makePerson(), key);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error_code: "not_found" });
});

test("there are exactly two sizes", async () => {
  const person = await makePerson();
  const key = (await put(person, makePng(40, 40))).body.avatar_url ?? "";
  for (const size of ["51", "10000", "-1", "x"]) expect((await get(person, key, size)).status).toBe(400);
});

test("a person who has used up the day's pictures keeps the one they have", async () => {
  const person = await makePerson();
  const { body } = await put(person, makePng(60, 60));
  await drainBucket("avatar_by_user", person.id);
  expect(await put(person, makePng(30, 30))).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect((await get(person, body.avatar_url ?? "")).status).toBe(200);
  expect(await keptOf(person)).toEqual([`512/${body.avatar_url}`]);
});
