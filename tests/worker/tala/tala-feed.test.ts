import { env } from "cloudflare:workers";
import * as v from "valibot";
import { afterAll, expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { thumbMaxLength } from "#contract/limits/files.ts";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { feedFreshMs, feedOlderMs, postBytesMax, postPageBytes, postPageRows } from "#contract/limits/tala.ts";
import { PostPage } from "#contract/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import {
  deletePost,
  publishPost,
  readFeedPage,
  requestFeedPage,
  type SeededPost,
  seedPosts,
  toShownPosts,
} from "#tests/worker/support/posts.ts";
import { countDirectoryRows } from "#tests/worker/support/row-counter.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { FeedCache } from "#worker/lib/storage/feed-cache.ts";

const authenticating = 1; // row: the session

/** Advances the clock, which then moves only through this: no test depends on the machine's speed. */
const passes = (ms: number) => {
  const now = Date.now() + ms;
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["Date"], now });
};
afterAll(async () => {
  vi.useRealTimers();
  await publishPost(await makePerson(), { content: "Tout est oublié" });
});

/** Lets the lifetime of every cached page pass. */
const outlive = () => passes(feedOlderMs);

const avatarOf = (id: Uuid) => `${id}_1763800000000_AAAAAAAAAAAAAAAAAAAAAA.webp`;
const crowd = async (count: number, nameOf: (n: number) => string): Promise<Person[]> => {
  const people: Person[] = [];
  while (people.length < count) people.push(await seedPerson());
  for (const [n, { id }] of people.entries()) {
    await env.DB.prepare("UPDATE profiles SET username = ?, avatar_url = ? WHERE id = ?")
      .bind(nameOf(n), avatarOf(id), id)
      .run();
  }
  return people;
};

const names = ["Grâce Mbuyi", "Patrick Ilunga", "Béatrice Kabongo", "Jean-Pierre Tshibangu", "Divine Ngalula"];
const statuses = [
  "Bonne journée à tous, que Dieu vous bénisse 🙏",
  "Marché de la Liberté : le sac de riz est à 45 000 FC ce matin. Qui connaît moins cher ?",
  "Enfin diplômée ! Cinq ans à l'UNIKIN, merci papa, merci maman. Ce soir on fête ça à Lemba 🎉🎉",
  "Embouteillage monstre au rond-point Ngaba, prenez par Kalamu si vous pouvez.",
  "Le courant est revenu ! Jusqu'à quand ? 😂",
  "Ma grand-mère disait toujours : « Mbongo ezali mayi », l'argent coule comme l'eau, gardez-en un peu pour demain.",
];
const hash = "1QcSHQRnh493V4dIh4eXh1h4kJUI"; // of a real photograph

test("a page of 20 typical statuses, each with picture and author, fits in one small packet", async () => {
  const people = await crowd(postPageRows, (n) => names[n % names.length] ?? "");
  const posts = people.map(({ id }, n): SeededPost => {
    return { author: id, content: statuses[n % statuses.length] ?? "", thumb: hash };
  });
  await seedPosts(posts);
  outlive();
  const response = await requestFeedPage(people[0]);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const page = v.parse(PostPage, JSON.parse(new TextDecoder().decode(bytes)));
  expect(page.posts).toHaveLength(postPageRows);
  expect(page.authors).toHaveLength(postPageRows);
  expect(bytes.length).toBeLessThanOrEqual(postPageBytes);
});

test("with statuses, names and thumbhashes of maximum length pages are shorter and nothing is lost", async () => {
  const people = await crowd(30, () => "ሀ".repeat(displayNameMaxLength));
  const numbers = await seedPosts(
    people.map(({ id }) => ({
      author: id,
      content: `${"ሀ".repeat(280)}${"\u0301".repeat((postBytesMax - 840) / 2)}`,
      thumb: "A".repeat(thumbMaxLength),
    })),
  );
  outlive();
  const seen: number[] = [];
  const [reader] = people as [Person];
  let before: number | null | undefined;
  while (seen.length < numbers.length) {
    const text = await (await requestFeedPage(reader, before)).text();
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(postPageBytes);
    const page = v.parse(PostPage, JSON.parse(text));
    expect(page.posts.length).toBeGreaterThan(0);
    seen.push(...page.posts.map(([number]) => number));
    before = page.before;
  }
  expect(seen.slice(0, numbers.length)).toEqual([...numbers].reverse());
});

test("an author of many statuses is on a page once", async () => {
  const ana = await makePerson();
  await seedPosts(Array.from({ length: postPageRows }, (_, n) => ({ author: ana.id, content: `${n}` })));
  outlive();
  const page = await readFeedPage(ana);
  expect(page.posts).toHaveLength(postPageRows);
  expect(page.authors).toEqual([[expect.any(String), ana.username, null]]);
});

test("scrolling down during publications and deletions meets every status once and in order, to the end", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const numbers = await seedPosts(Array.from({ length: 110 }, (_, n) => ({ author: ana.id, content: `Numéro ${n}` })));
  outlive();
  const seen: number[] = [];
  const taken = new Set<number>();
  let page = await readFeedPage(ben);
  for (let turn = 0; ; turn++) {
    seen.push(...page.posts.map(([number]) => number));
    if (page.before === null) break;
    passes(1_000); // the statuses of all tests are more pages than a person may request at once
    // A status is published above the pages already read; below them, and exactly at their edge, one is deleted.
    const published = await publishPost(turn % 2 ? ana : ben, { content: `Nouveau ${turn}` });
    expect([201, 429]).toContain(published.status);
    const shown = toShownPosts(page);
    const edge = shown.at(-1);
    if (edge && numbers.includes(edge.number)) expect((await deletePost(ana, edge.id)).status).toBe(204);
    const below = numbers.find((number) => number < (page.before ?? 0) - 3 && !taken.has(number));
    if (below !== undefined) {
      const row = await env.DB.prepare("SELECT id FROM tala_posts WHERE number = ?").bind(below).first<{ id: Uuid }>();
      taken.add(below);
      await deletePost(ana, row?.id ?? "");
    }
    page = await readFeedPage(ben, page.before);
  }
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => b - a));
  for (const number of numbers)
    expect({ number, met: seen.includes(number) }).toEqual({ number, met: !taken.has(number) });
  const { results } = await env.DB.prepare("SELECT min(number) AS first FROM tala_posts").all<{ first: number }>();
  expect(seen.at(-1)).toBe(results[0]?.first);
});

test("numbers are never reused, so what was read is never hidden behind an old one", async () => {
  const ana = await makePerson();
  const id = createUuid();
  const first = await publishPost(ana, { id, content: "Le plus neuf" });
  await deletePost(ana, id);
  const next = await publishPost(ana, { content: "Plus neuf encore" });
  expect(next.body.number).toBeGreaterThan(first.body.number);
});

test("a client with the current page gets no bytes until something is published", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await publishPost(ana, { content: "Bonjour" });
  const first = await requestFeedPage(ben);
  expect(first.headers.get("cache-control")).toBe("private, no-cache");
  expect(first.headers.get("content-type")).toMatch(/^application\/json/);
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
  await first.text();
  for (const condition of [etag, `"x", ${etag}`, etag.slice(2)]) {
    const again = await requestFeedPage(ben, undefined, { "if-none-match": condition });
    expect(again.status).toBe(304);
    expect(again.headers.get("etag")).toBe(etag);
    expect(await again.text()).toBe("");
  }
  await publishPost(ana, { content: "Bonsoir" });
  const changed = await requestFeedPage(ben, undefined, { "if-none-match": etag });
  expect(changed.status).toBe(200);
  expect(changed.headers.get("etag")).not.toBe(etag);
  expect(toShownPosts((await changed.json()) as PostPage)[0]?.content).toBe("Bonsoir");
});

/** First page cached at this location. */
const newest = `${site.origin}/api/tala/kept/newest`;
const isKept = async () => (await caches.default.match(newest)) !== undefined;

/** Headers that may differ between two equal answers. */
const headersOf = (response: Response) => [...response.headers].filter(([name]) => name !== "date");

test("every user gets the same bytes, without personal data, and a visitor gets none", async () => {
  const [ana, ben, cal] = [await makePerson(), await makePerson(), await makePerson()];
  const author = await makePerson();
  await publishPost(author, { content: "Pour tous" });
  const pages = [await requestFeedPage(ana), await requestFeedPage(ben), await requestFeedPage(author)];
  const bodies = await Promise.all(pages.map((page) => page.text()));
  expect(new Set(bodies).size).toBe(1);
  for (const page of pages) expect(headersOf(page)).toEqual(headersOf(pages[0] as Response));
  await expect.poll(isKept).toBe(true);
  const stored = await caches.default.match(newest);
  const everything = JSON.stringify([bodies[0], stored && [...stored.headers], await stored?.text()]);
  for (const person of [ana, ben, cal, author]) {
    for (const secret of [person.token, person.phone, person.phone.slice(1)]) expect(everything).not.toContain(secret);
  }
  for (const person of [ana, ben]) expect(everything).not.toContain(person.id);
  expect([...(stored?.headers ?? [])].map(([name]) => name).filter((name) => /cookie|author/.test(name))).toEqual([]);
  const conditions: Record<string, string>[] = [
    {},
    { authorization: "Bearer x" },
    { "if-none-match": pages[0]?.headers.get("etag") ?? "" },
  ];
  for (const headers of conditions) {
    const refused = await requestFeedPage(undefined, undefined, headers);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("etag")).toBeNull();
    expect(refused.headers.get("cache-control")).toBe("no-store");
  }
});

test("the key of a cached page is not a URL that anybody can request", async () => {
  const ana = await makePerson();
  await readFeedPage(ana);
  for (const name of ["newest", "5"]) {
    const response = await site.fetch(`${site.origin}/api/tala/kept/${name}`, {
      headers: { authorization: `Bearer ${ana.token}` },
    });
    expect(response.status).toBe(404);
  }
});

test("an uncached page reads its statuses and authors, and every other opening reads no row of the feed", async () => {
  const people = await crowd(postPageRows + 1, (n) => names[n % names.length] ?? "");
  const [reader] = people as [Person];
  await seedPosts(people.map(({ id }) => ({ author: id, content: "Mbote" })));
  outlive();
  const first = await countDirectoryRows(() => readFeedPage(reader));
  expect(first.read).toBeLessThanOrEqual(authenticating + 2 * (postPageRows + 1) + 1);
  const { before } = await readFeedPage(reader);
  const older = await countDirectoryRows(() => readFeedPage(reader, before));
  expect(older.read).toBeLessThanOrEqual(authenticating + 2 * (postPageRows + 1) + 2);
  for (const page of [undefined, before]) {
    expect(await countDirectoryRows(() => readFeedPage(reader, page))).toEqual({ read: authenticating, written: 0 });
  }
});

test("simultaneous requests for an uncached page share one read", async () => {
  const reader = await seedPerson();
  await publishPost(await makePerson(), { content: "Ensemble" });
  outlive();
  const askers = 40;
  const bodies = new Set<string>();
  const { read } = await countDirectoryRows(() =>
    Promise.all(Array.from({ length: askers }, async () => bodies.add(await (await requestFeedPage(reader)).text()))),
  );
  expect(bodies.size).toBe(1);
  expect(read).toBeLessThanOrEqual(askers * authenticating + 2 * (postPageRows + 1) + 1);
});

test("a page is cached for its lifetime, and then read again", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await seedPosts(Array.from({ length: 50 }, (_, n) => ({ author: ana.id, content: `${n}` })));
  outlive();
  const { before } = await readFeedPage(ben);
  await readFeedPage(ben, before);
  // Published at another location: this location is not notified.
  const [number] = await seedPosts([{ author: ana.id, content: "D'ailleurs" }]);
  await env.DB.prepare("DELETE FROM tala_posts WHERE number = (SELECT max(number) FROM tala_posts WHERE number < ?)")
    .bind(before)
    .run();
  const isIn = (page: PostPage) => page.posts.some(([one]) => one === number);
  const older = await readFeedPage(ben, before);
  passes(feedFreshMs - 1_000);
  expect(isIn(await readFeedPage(ben))).toBe(false);
  passes(1_001);
  expect(isIn(await readFeedPage(ben))).toBe(true);
  expect(await readFeedPage(ben, before)).toEqual(older);
  passes(feedOlderMs - feedFreshMs);
  expect((await readFeedPage(ben, before)).posts[0]?.[0]).not.toBe(older.posts[0]?.[0]);
});

/** A runtime that starts now, at a location where others run. */
const startRuntime = (origin: string) => {
  const [feed, after] = [new FeedCache(), [] as Promise<unknown>[]];
  const place = { context: { waitUntil: (work: Promise<unknown>) => void after.push(work) }, origin };
  return {
    read: async (make: () => Promise<string>) =>
      (
        await feed.getPage(place, undefined, async () => ({
          body: await make(),
          isPast: true,
          next: null,
          hasOlderProfiles: false,
          head: 0,
          restricted: 0,
        }))
      ).body,
    forget: () => feed.invalidate(origin),
    settle: () => Promise.allSettled(after),
  };
};
const unreadable = () => Promise.reject(new Error("the directory is away"));

test("another isolate of the data centre answers from the same cache, and never with older data", async () => {
  const ana = await makePerson();
  await publishPost(ana, { content: "Au même endroit" });
  const body = await (await requestFeedPage(ana)).text();
  await expect.poll(isKept).toBe(true);
  const runtime = startRuntime(site.origin);
  expect(await runtime.read(unreadable)).toBe(body);
  passes(feedFreshMs);
  await expect(runtime.read(unreadable)).rejects.toThrow("away");
  // A failed read is repeated, and no request waits for it.
  expect(await runtime.read(async () => "anew")).toBe("anew");
  await runtime.forget();
});

test("a read that never ends because its isolate is gone delays nobody for long", async () => {
  const runtime = startRuntime("https://nowhere.test");
  const gone = runtime.read(() => new Promise(() => undefined));
  expect(await runtime.read(async () => "page")).toBe("page");
  expect(await Promise.race([gone, Promise.resolve("waits")])).toBe("waits");
});

test("a page read before a deletion that arrives after it is not cached", async () => {
  const runtime = startRuntime("https://slow.test");
  const slow = async () => {
    await runtime.forget();
    return "with what was taken back";
  };
  expect(await runtime.read(slow)).toBe("with what was taken back");
  await runtime.settle();
  expect(await runtime.read(async () => "without")).toBe("without");
  // If nothing was published meanwhile, the cached page is used, also by a runtime that starts now.
  expect(await runtime.read(unreadable)).toBe("without");
  await runtime.settle();
  expect(await startRuntime("https://slow.test").read(unreadable)).toBe("without");
});

test("a page before a number not yet assigned is not cached, so that later statuses are not missed", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const { body } = await publishPost(ana, { content: "Le dernier" });
  const future = body.number + 3;
  const first = await readFeedPage(ben, future);
  expect(first.posts[0]?.[0]).toBe(body.number);
  const numbers = await seedPosts([1, 2, 3].map((n) => ({ author: ana.id, content: `${n}` })));
  expect((await readFeedPage(ben, future)).posts[0]?.[0]).toBe(numbers[1]);
});

test("pages before positions that no page named are not cached, however many are requested", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const numbers = await seedPosts(Array.from({ length: 60 }, (_, n) => ({ author: ana.id, content: `${n}` })));
  outlive();
  const { before } = await readFeedPage(ben);
  const isPlaceKept = async (pageNumber: number | null) =>
    (await caches.default.match(`${site.origin}/api/tala/kept/${pageNumber}`)) !== undefined;
  for (const number of numbers) if (number !== before) await readFeedPage(ben, number);
  await readFeedPage(ben, before ?? 0);
  await expect.poll(() => isPlaceKept(before)).toBe(true);
  for (const number of numbers)
    if (number !== before) expect([number, await isPlaceKept(number)]).toEqual([number, false]);
});

test.each(["0", "0.0", "-1", "1.", ".5", "1.5.5", "x", "1e3", "9".repeat(16), "1;DROP TABLE tala_posts", "1&before=2"])(
  "there is no page before %s",
  async (before) => {
    const ana = await makePerson();
    const response = await site.fetch(`${site.origin}/api/tala?before=${before}`, {
      headers: { authorization: `Bearer ${ana.token}` },
    });
    expect(response.status).toBe(400);
  },
);

test("before the first status there is an empty page, which is the end", async () => {
  const page = await readFeedPage(await makePerson(), 1);
  expect(page).toEqual({ authors: [], posts: [], before: null });
});
