import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { pictureMaxBytes, postBytesMax, postFormMaxBytes, postGraphemesMax } from "#contract/limits/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makeJpegWithLocation, makePng, makePngClaiming } from "#tests/worker/support/pictures.ts";
import {
  deletePost,
  listPostPictures,
  makePostForm,
  publishPost,
  readFeedPage,
  requestPostPicture,
  sendPostForm,
  toShownPosts,
} from "#tests/worker/support/posts.ts";
import { cookieSite, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";
import { readImageHeader } from "#worker/lib/storage/image-header.ts";

const isPublished = { status: 201 };
const refusedAs = (status: number, error_code: string) => ({ status, body: { error_code } });
const ofPerson = async (person: Person) =>
  toShownPosts(await readFeedPage(person)).filter(({ author }) => author === person.id);
const rowsOf = async (author: Uuid) =>
  (await env.DB.prepare("SELECT * FROM tala_posts WHERE user_id = ?").bind(author).all()).results;
const headerOf = async (response: Response) => readImageHeader(new Uint8Array(await response.arrayBuffer()));

test("a text, a picture, and a text with a picture are first in everybody's feed once published", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const ids = [createUuid(), createUuid(), createUuid()];
  const first = await publishPost(ana, { id: ids[0] as Uuid, content: "Mbote na bino banso !\nOza malamu ?" });
  expect(first).toMatchObject({ status: 201, body: { id: ids[0] } });
  expect(Math.abs(first.body.created_at - Date.now())).toBeLessThan(10_000);
  expect(await publishPost(ana, { id: ids[1] as Uuid }, makePng(60, 30))).toMatchObject(isPublished);
  const both = await publishPost(ana, { id: ids[2] as Uuid, content: "Au marché" }, makePng(30, 60));
  expect(both).toMatchObject(isPublished);
  expect(toShownPosts(await readFeedPage(ben)).slice(0, 3)).toEqual([
    {
      id: ids[2],
      number: both.body.number,
      content: "Au marché",
      author: ana.id,
      audience: "everyone",
      picture: [30, 60, "1QcSHQRnh4"],
    },
    {
      id: ids[1],
      number: expect.any(Number),
      content: "",
      author: ana.id,
      audience: "everyone",
      picture: [60, 30, "1QcSHQRnh4"],
    },
    {
      id: ids[0],
      number: first.body.number,
      content: "Mbote na bino banso !\nOza malamu ?",
      author: ana.id,
      audience: "everyone",
      picture: null,
    },
  ]);
  expect((await readFeedPage(ben)).authors).toContainEqual([expect.any(String), ana.username, null]);
  expect(JSON.stringify(await readFeedPage(ben))).not.toContain(ana.phone.slice(1));
});

test("a picture is re-encoded in two sizes, without metadata and never larger than it was", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [wide, little] = [createUuid(), createUuid()];
  await publishPost(ana, { id: wide }, makePng(1_600, 800));
  await publishPost(ana, { id: little }, await makeJpegWithLocation());
  expect(await headerOf(await requestPostPicture(ben, ana.id, wide, "large"))).toEqual({
    type: "webp",
    width: 1_280,
    height: 640,
  });
  expect(await headerOf(await requestPostPicture(ben, ana.id, wide, "small"))).toEqual({
    type: "webp",
    width: 200,
    height: 100,
  });
  const kept = await requestPostPicture(ben, ana.id, little);
  expect(kept.headers.get("content-type")).toBe("image/webp");
  expect(kept.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
  const bytes = Buffer.from(await kept.arrayBuffer());
  expect(readImageHeader(new Uint8Array(bytes))).toEqual({ type: "webp", width: 64, height: 64 });
  for (const trace of ["Exif", "GPS", "Kinshasa", "XMP"]) expect(bytes.includes(trace)).toBe(false);
  const again = await site.fetch(`${site.origin}/api/tala/pictures/${ana.id}_${little}`, {
    headers: { authorization: `Bearer ${ben.token}`, "if-none-match": kept.headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
  expect((await requestPostPicture(undefined, ana.id, little)).status).toBe(401);
  expect((await requestPostPicture(ben, ben.id, little)).status).toBe(404);
});

test("the picture sizes on a page are those the server measured, not those claimed", async () => {
  const ana = await makePerson();
  const claimed = { width: 1_280, height: 1, thumb: "" };
  await publishPost(ana, { picture: claimed }, makePng(40, 20));
  expect((await ofPerson(ana))[0]?.picture).toEqual([40, 20, ""]);
});

test("the same status sent again after a lost answer is published once, answered alike, and does not count against the limit", async () => {
  const ana = await makePerson();
  const id = createUuid();
  const first = await publishPost(ana, { id, content: "Une seule fois" }, makePng(20, 20));
  const stored = await listPostPictures(ana.id);
  expect(stored).toHaveLength(2);
  await drainBucket("post_by_user", ana.id);
  for (let time = 0; time < 3; time++) {
    const again = await publishPost(ana, { id, content: "Une seule fois" }, makePng(50, 50));
    expect(again).toMatchObject({ status: 201, body: first.body });
  }
  expect(await rowsOf(ana.id)).toHaveLength(1);
  expect(await listPostPictures(ana.id)).toEqual(stored);
  expect(await headerOf(await requestPostPicture(ana, ana.id, id))).toMatchObject({ width: 20 });
});

test("the same status sent by two tabs at once is one, with one set of pictures", async () => {
  const ana = await makePerson();
  const id = createUuid();
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => publishPost(ana, { id, content: "Ensemble" }, makePng(20, 20))),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.number)).size).toBe(1);
  expect(await rowsOf(ana.id)).toHaveLength(1);
  expect(await listPostPictures(ana.id)).toHaveLength(2);
  expect((await requestPostPicture(ana, ana.id, id)).status).toBe(200);
});

test("an id that belongs to another person publishes nothing and changes nothing of theirs", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const id = createUuid();
  await publishPost(ana, { id, content: "À moi" }, makePng(20, 20));
  const before = await rowsOf(ana.id);
  expect(await publishPost(ben, { id, content: "À moi aussi" }, makePng(30, 30))).toMatchObject(
    refusedAs(400, "invalid_input"),
  );
  expect(await rowsOf(ana.id)).toEqual(before);
  expect(await rowsOf(ben.id)).toEqual([]);
  expect(await listPostPictures(ben.id)).toEqual([]);
  expect(await headerOf(await requestPostPicture(ben, ana.id, id))).toMatchObject({ width: 20 });
});

/** Storage with one method replaced. */
const changing = <T extends object>(binding: T, methods: Partial<T>): T =>
  new Proxy(binding, {
    get: (target, key) => {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** Directory that fails at the row of a status: before it is written, or right after. */
const breakingDirectory = (when: "before" | "after"): D1Database =>
  changing(env.DB, {
    prepare: (query) => {
      const statement = env.DB.prepare(query);
      if (!/^insert into "tala_posts"/i.test(query)) return statement;
      if (when === "before") throw new Error("the directory is away");
      return changing(statement, {
        bind: (...values: unknown[]) =>
          changing(statement.bind(...values), {
            raw: async () => {
              await statement.bind(...values).run();
              throw new Error("the answer is lost");
            },
          }),
      });
    },
  });

test("whatever fails during publishing, a repeat publishes it once, with its picture", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const breakingAtOnce = changing(env.AVATARS, { put: () => Promise.reject(new Error("away")) as never });
  let puts = 0;
  const breakingHalfway = changing(env.AVATARS, {
    put: ((key: string, value: ArrayBuffer) =>
      puts++ === 0 ? env.AVATARS.put(key, value) : Promise.reject(new Error("away"))) as never,
  });
  for (const changed of [
    { AVATARS: breakingAtOnce },
    { AVATARS: breakingHalfway },
    { DB: breakingDirectory("before") },
    { DB: breakingDirectory("after") },
  ]) {
    const ana = await makePerson();
    const form = { id: createUuid(), content: "Contre vents et marées" };
    const failed = await sendPostForm(ana, makePostForm(form, makePng(20, 20)), changed);
    expect(failed).toMatchObject(refusedAs(500, "internal"));
    expect(await publishPost(ana, form, makePng(20, 20))).toMatchObject(isPublished);
    expect(await rowsOf(ana.id)).toHaveLength(1);
    expect(await listPostPictures(ana.id)).toHaveLength(2);
    expect((await requestPostPicture(ana, ana.id, form.id)).status).toBe(200);
  }
  log.mockRestore();
});

test("a status deleted while its picture was being stored is not published, and leaves nothing", async () => {
  const ana = await makePerson();
  const id = createUuid();
  const AVATARS = changing(env.AVATARS, {
    put: (async (...given: Parameters<R2Bucket["put"]>) => {
      expect((await deletePost(ana, id)).status).toBe(204);
      return env.AVATARS.put(...given);
    }) as never,
  });
  const answer = await sendPostForm(ana, makePostForm({ id, content: "Trop tard" }, makePng(20, 20)), { AVATARS });
  expect(answer).toMatchObject(refusedAs(404, "post_not_found"));
  expect(await rowsOf(ana.id)).toEqual([]);
  expect(await listPostPictures(ana.id)).toEqual([]);
});

test("a person signed out during a request publishes nothing, until they send it again", async () => {
  const ana = await makePerson();
  const draft = { id: createUuid(), content: "Encore moi" };
  const session = (await env.DB.prepare("SELECT * FROM sessions WHERE user_id = ?").bind(ana.id).first()) ?? {};
  const AVATARS = changing(env.AVATARS, {
    put: (async (...given: Parameters<R2Bucket["put"]>) => {
      await env.DB.prepare("DELETE FROM sessions WHERE user_id = ?").bind(ana.id).run();
      return env.AVATARS.put(...given);
    }) as never,
  });
  const answer = await sendPostForm(ana, makePostForm(draft, makePng(20, 20)), { AVATARS });
  expect(answer).toMatchObject(refusedAs(401, "session_not_found"));
  expect(await rowsOf(ana.id)).toEqual([]);
  await env.DB.prepare(`INSERT INTO sessions (${Object.keys(session)}) VALUES (${Object.keys(session).map(() => "?")})`)
    .bind(...Object.values(session))
    .run();
  expect(await publishPost(ana, draft, makePng(20, 20))).toMatchObject(isPublished);
  expect(await listPostPictures(ana.id)).toHaveLength(2);
});

const family = "👨‍👩‍👧‍👦"; // 25 bytes that are one visible character
test("280 characters are counted as user-perceived characters, within the byte limit of a page", async () => {
  const ana = await makePerson();
  const fitting = [
    "é".repeat(postGraphemesMax),
    "e\u0301".repeat(postGraphemesMax),
    "👍🏾".repeat(210), // 8 bytes each
    family.repeat(Math.floor(postBytesMax / new TextEncoder().encode(family).length)),
  ];
  for (const content of fitting) {
    expect(await publishPost(ana, { content })).toMatchObject(isPublished);
    expect((await ofPerson(ana))[0]?.content).toBe(content);
  }
  const over = [
    "a".repeat(postGraphemesMax + 1),
    "👍🏾".repeat(211),
    family.repeat(postGraphemesMax),
    `a${"\u0301".repeat(postBytesMax)}`,
  ];
  for (const content of over) {
    expect(await publishPost(ana, { content })).toMatchObject(refusedAs(400, "post_too_long"));
  }
  expect(await rowsOf(ana.id)).toHaveLength(fitting.length);
});

test("the longest possible status is one page, and the feed continues after it", async () => {
  const ana = await makePerson();
  for (let i = 0; i < 9; i++) {
    const content = family.repeat(60) + '"'.repeat(postBytesMax - 60 * 25 - 20) + i;
    expect(await publishPost(ana, { content })).toMatchObject(isPublished);
  }
  const page = await readFeedPage(ana);
  expect(page.posts.length).toBeLessThan(9);
  expect(page.posts.length).toBeGreaterThanOrEqual(3);
  expect(page.before).toBe(page.posts.at(-1)?.[0]);
});

test.each([
  ["nothing", ""],
  ["spaces", "   "],
  ["line ends", "\n\n"],
  ["joiners", "\u200d\u200b\u2060"],
  ["an accent on nothing", "\u0301"],
])("%s without a picture is refused", async (_, content) => {
  const answer = await publishPost(await makePerson(), { content });
  expect(answer.status).toBe(400);
  expect(["empty_post", "invalid_text"]).toContain(answer.body.error_code);
});

test("an empty text without a picture is reported as empty", async () => {
  expect(await publishPost(await makePerson(), { content: "" })).toMatchObject(refusedAs(400, "empty_post"));
});

test.each([
  ["a NUL", "a\u0000b"],
  ["an escape", "a\u001b[31mb"],
  ["a C1 control", "a\u0085b"],
  ["half a letter", "a\ud800b"],
])("%s is refused as text", async (_, content) => {
  expect(await publishPost(await makePerson(), { content })).toMatchObject(refusedAs(400, "invalid_text"));
});

test("direction marks and markup are stored as plain text", async () => {
  const ana = await makePerson();
  const content = "\u202eabc\u202c <script>alert(1)</script> https://example.com \u2066שלום\u2069";
  expect(await publishPost(ana, { content })).toMatchObject(isPublished);
  expect((await ofPerson(ana))[0]?.content).toBe(content);
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>';
test.each([
  ["an SVG", svg, 415, "not_an_image"],
  ["HTML", "<!doctype html><script>alert(1)</script>".padEnd(64), 415, "not_an_image"],
  ["nothing", "", 415, "not_an_image"],
  ["half a PNG", makePngClaiming(100, 100).slice(0, 60), 415, "not_an_image"],
  ["50 megapixels and a line", makePngClaiming(10_000, 5_001), 400, "image_too_many_pixels"],
])("%s is refused as a picture, and leaves nothing", async (_, bytes, status, code) => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const ana = await makePerson();
  expect(await publishPost(ana, { content: "Voyez" }, bytes)).toMatchObject(refusedAs(status, code));
  expect(await rowsOf(ana.id)).toEqual([]);
  expect(await listPostPictures(ana.id)).toEqual([]);
  warn.mockRestore();
});

const padded = (length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length);
  bytes.set(makePng(20, 20)); // bytes after the end of the picture are ignored by decoders
  return bytes;
};
test("a picture of the maximum size is accepted, and one byte more is not, also without Content-Length", async () => {
  const ana = await makePerson();
  expect(await publishPost(ana, {}, padded(pictureMaxBytes))).toMatchObject(isPublished);
  const tooLarge = refusedAs(413, "file_too_large");
  expect(await publishPost(ana, {}, padded(pictureMaxBytes + 1))).toMatchObject(tooLarge);
  expect(await publishPost(ana, {}, padded(postFormMaxBytes))).toMatchObject(tooLarge);
  const form = new Response(makePostForm({}, padded(postFormMaxBytes)));
  const streamed = await site.fetch(`${site.origin}/api/tala`, {
    method: "POST",
    headers: { authorization: `Bearer ${ana.token}`, "content-type": form.headers.get("content-type") ?? "" },
    body: form.body,
  });
  expect(streamed.status).toBe(413);
  expect(await rowsOf(ana.id)).toHaveLength(1);
});

const post = (more: object = {}) => JSON.stringify({ id: createUuid(), content: "Mbote", ...more });
const formOf = (...parts: [string, string | Blob][]): FormData => {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  return form;
};
const png = () => new Blob([makePng(20, 20)], { type: "image/png" });
const picture = { width: 20, height: 20, thumb: "" };
test.each<[string, () => BodyInit]>([
  ["an empty form", () => formOf()],
  ["half a form", () => new Blob(["--x\r\nContent-Disp"], { type: "multipart/form-data; boundary=x" })],
  ["no JSON", () => formOf(["post", "{"])],
  ["a list", () => formOf(["post", "[]"])],
  ["a file for the words", () => formOf(["post", new Blob([post()])])],
  ["the words twice", () => formOf(["post", post()], ["post", post()])],
  ["a part that nobody knows", () => formOf(["post", post()], ["user_id", createUuid()])],
  ["a field of the server's", () => formOf(["post", post({ created_at: 0 })])],
  ["an author", () => formOf(["post", post({ user_id: createUuid() })])],
  ["no id", () => formOf(["post", JSON.stringify({ content: "Mbote" })])],
  ["an id that is none", () => formOf(["post", post({ id: "../../secret" })])],
  ["a megabyte of words", () => formOf(["post", post({ content: "a".repeat(1_000_000) })])],
  ["a picture that was not announced", () => formOf(["post", post()], ["picture", png()])],
  ["a picture that was announced and is not there", () => formOf(["post", post({ picture })])],
  ["words for the picture", () => formOf(["post", post({ picture })], ["picture", "no file"])],
  ["two pictures", () => formOf(["post", post({ picture })], ["picture", png()], ["picture", png()])],
  ["a size beyond all", () => formOf(["post", post({ picture: { ...picture, width: 1e9 } })], ["picture", png()])],
  [
    "a thumbhash that is none",
    () => formOf(["post", post({ picture: { ...picture, thumb: '"><script>' } })], ["picture", png()]),
  ],
  [
    "a thumbhash without end",
    () => formOf(["post", post({ picture: { ...picture, thumb: "A".repeat(49) } })], ["picture", png()]),
  ],
])("%s is refused and publishes nothing", async (_, makeForm) => {
  const ana = await makePerson();
  expect(await sendPostForm(ana, makeForm())).toMatchObject(refusedAs(400, "invalid_input"));
  expect(await rowsOf(ana.id)).toEqual([]);
});

test.each<[string, () => BodyInit]>([
  ["JSON by itself", () => new Blob([post()], { type: "application/json" })],
  ["text", () => post()],
  ["an address's form", () => new URLSearchParams({ post: post() })],
  ["a form without a name for what it is", () => new TextEncoder().encode(post())],
])("%s is not multipart: it is refused with that reason and publishes nothing", async (_, makeBody) => {
  const ana = await makePerson();
  expect(await sendPostForm(ana, makeBody())).toMatchObject(refusedAs(415, "unsupported_media"));
  expect(await rowsOf(ana.id)).toEqual([]);
});

test("a page of another origin publishes nothing with the person's cookie", async () => {
  const ana = await makePerson();
  const send = (origin: string) =>
    site.fetch(`${site.origin}/api/tala`, {
      method: "POST",
      headers: { ...cookieSite, origin, cookie: `__Host-lisolo-at=${ana.token}` },
      body: makePostForm({ content: "Volé" }),
    });
  expect((await send("https://evil.test")).status).toBe(403);
  expect(await rowsOf(ana.id)).toEqual([]);
  expect((await send(site.origin)).status).toBe(201);
});

test("publishing beyond the limit is refused, with the time to wait", async () => {
  const ana = await makePerson();
  const { burst } = rateLimitPolicies.post_by_user;
  for (let i = 0; i < burst; i++) expect(await publishPost(ana, { content: `${i}` })).toMatchObject(isPublished);
  const refused = await publishPost(ana, { content: "encore" }, makePng(20, 20));
  expect(refused).toMatchObject(refusedAs(429, "rate_limited"));
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
  expect(await rowsOf(ana.id)).toHaveLength(burst);
  expect(await listPostPictures(ana.id)).toEqual([]);
});

test("a person who has used up the day's pictures may still publish texts", async () => {
  const ana = await makePerson();
  await drainBucket("post_picture_by_user", ana.id);
  const refused = await publishPost(ana, { id: createUuid() }, makePng(60, 30));
  expect(refused).toMatchObject(refusedAs(429, "rate_limited"));
  expect(await publishPost(ana, { id: createUuid(), content: "Sans photo" })).toMatchObject(isPublished);
  expect(await ofPerson(ana)).toHaveLength(1);
});
