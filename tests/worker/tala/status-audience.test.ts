import { env } from "cloudflare:workers";
import * as v from "valibot";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { feedOlderMs, postPageBytes, postPageRows } from "#contract/limits/tala.ts";
import type { Audience, SettingsChange } from "#contract/settings/settings.ts";
import { PostPage, postPicturePath } from "#contract/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import {
  deletePost,
  listPostPictures,
  publishPost,
  readFeedPage,
  requestFeedPage,
  requestPostPicture,
  seedPosts,
  toShownPosts,
} from "#tests/worker/support/posts.ts";
import { countDirectoryRows } from "#tests/worker/support/row-counter.ts";
import { befriend, seedContacts, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { makeRandom } from "#tests/worker/support/seeded-random.ts";
import { call, site } from "#tests/worker/support/site.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";
import { feedCache } from "#worker/lib/storage/feed-cache.ts";
import { scannedPostsMax } from "#worker/tala/restricted-queries.ts";

/** Statuses for contacts, for contacts except some, and for their author alone. */

afterEach(async () => {
  vi.restoreAllMocks();
  await feedCache.invalidate(site.origin); // pages of a later time
});

const choose = async (by: Person, body: SettingsChange) =>
  expect(await call("PATCH", "/api/settings", { token: by.token, body })).toMatchObject({ status: 200 });
const block = (by: Person, other: Person, method = "PUT") =>
  call(method, `/api/blocks/${other.id}`, { token: by.token });
const removeContact = (one: Person, other: Person) =>
  env.DB.prepare("DELETE FROM connections WHERE ? IN (user1_id, user2_id) AND ? IN (user1_id, user2_id)")
    .bind(one.id, other.id)
    .run();
const publish = async (by: Person, audience: Audience, content = createUuid(), hasPicture = false) => {
  const id = createUuid();
  const { status, body } = await publishPost(by, { id, content, audience }, hasPicture ? makePng(20, 20) : undefined);
  expect(status).toBe(201);
  return { ...body, content };
};
const readOf = async (reader: Person, author: Person) =>
  toShownPosts(await readFeedPage(reader))
    .filter((post) => post.author === author.id)
    .map(({ content, audience }) => [content, audience]);
/** Everything an answer says. */
const readAnswer = async (reader: Person) => {
  const response = await requestFeedPage(reader);
  const headers = [...response.headers].filter(([name]) => name !== "date");
  return JSON.stringify([response.status, headers, await response.text()]);
};
const people = async <const Count extends number>(count: Count): Promise<Record<number, Person> & Person[]> =>
  Promise.all(Array.from({ length: count }, () => seedPerson()));

test("contacts see a status for contacts, only the author one for nobody, and others neither", async () => {
  const [ana, ben, cleo] = (await people(3)) as [Person, Person, Person];
  await befriend(ana, ben);
  const shared = await publish(ana, "everyone");
  const [own, contacts] = [await publish(ana, "nobody"), await publish(ana, "contacts")];
  const sharedShown = [shared.content, "everyone"];
  expect(await readOf(ana, ana)).toEqual([[contacts.content, "contacts"], [own.content, "nobody"], sharedShown]);
  expect(await readOf(ben, ana)).toEqual([[contacts.content, "contacts"], sharedShown]);
  expect(await readOf(cleo, ana)).toEqual([sharedShown]);
  // The same runtime, the author first: what is cached is for everybody.
  const stored = await caches.default.match(`${site.origin}/api/tala/kept/newest`);
  const cached = JSON.stringify([...(stored?.headers ?? []), await stored?.text()]);
  expect(cached).toContain(shared.content);
  for (const { content, id } of [own, contacts])
    expect([cached.includes(content), cached.includes(id)]).toEqual([false, false]);
});

test("to a stranger, an excepted, a blocked and a former contact the author published nothing: same bytes, same ETag", async () => {
  const [ana, ben, stranger, excepted, blocked, former] = (await people(6)) as [
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  for (const contact of [ben, excepted, blocked, former]) await befriend(ana, contact);
  await removeContact(ana, former);
  await block(ana, blocked);
  await choose(ana, { statusesTo: "contacts_except", exceptions: { statusesTo: [excepted.id] } });
  await publish(await seedPerson(), "everyone");
  const outsiders = [stranger, excepted, blocked, former];
  const before = await Promise.all(outsiders.map(readAnswer));
  expect(new Set(before).size).toBe(1);
  const etag = (await requestFeedPage(stranger)).headers.get("etag") ?? "";
  for (const audience of ["contacts_except", "contacts", "nobody"] as const) await publish(ana, audience);
  expect(await readOf(ben, ana)).toHaveLength(2);
  for (const outsider of outsiders) {
    expect(await readAnswer(outsider)).toBe(before[0]);
    expect((await requestFeedPage(outsider, undefined, { "if-none-match": etag })).status).toBe(304);
  }
  // Neither do the numbers of later statuses tell.
  const [first, second] = [await publish(stranger, "everyone"), await publish(stranger, "everyone")];
  const next = await publish(ana, "contacts");
  const third = await publish(stranger, "everyone");
  expect([second.number - first.number, third.number - second.number]).toEqual([1, 1]);
  expect(next.number).toBeGreaterThan(second.number);
  expect(next.number).toBeLessThan(third.number);
});

test("what makes somebody a reader counts when they read: contact, block and exception", async () => {
  const [ana, ben] = (await people(2)) as [Person, Person];
  const { content } = await publish(ana, "contacts");
  const isRead = async () => (await readOf(ben, ana)).length === 1;
  expect(await isRead()).toBe(false);
  await befriend(ana, ben);
  expect(await isRead()).toBe(true);
  expect(await readOf(ben, ana)).toEqual([[content, "contacts"]]);
  await block(ana, ben);
  expect(await isRead()).toBe(false);
  await block(ana, ben, "DELETE");
  expect(await isRead()).toBe(true);
  // Exceptions apply to earlier statuses, whatever new ones begin with.
  await choose(ana, { statusesTo: "contacts_except", exceptions: { statusesTo: [ben.id] } });
  expect(await isRead()).toBe(false);
  await choose(ana, { statusesTo: "everyone" });
  expect(await isRead()).toBe(false);
  const excepted = await publish(ana, "contacts_except");
  expect(await isRead()).toBe(false);
  // A reader does not learn of exceptions of others.
  await choose(ana, { exceptions: { statusesTo: [createUuid()] } });
  expect(await readOf(ben, ana)).toEqual([
    [excepted.content, "contacts"],
    [content, "contacts"],
  ]);
  expect((await readOf(ana, ana))[0]).toEqual([excepted.content, "contacts_except"]);
  await removeContact(ana, ben);
  expect(await isRead()).toBe(false);
});

test("a picture follows its status at its direct address, and no cache answers for the server", async () => {
  const [ana, ben, cleo] = (await people(3)) as [Person, Person, Person];
  await befriend(ana, ben);
  const [contacts, own, shared] = [
    await publish(ana, "contacts", "Photo", true),
    await publish(ana, "nobody", "À moi", true),
    await publish(ana, "everyone", "À tous", true),
  ];
  const statusOf = async (reader: Person, post: Uuid, size?: "small" | "large") => {
    const response = await requestPostPicture(reader, ana.id, post, size);
    await response.arrayBuffer();
    return response.status;
  };
  for (const size of ["small", "large"] as const) {
    expect([await statusOf(ana, contacts.id, size), await statusOf(ana, own.id, size)]).toEqual([200, 200]);
    expect([await statusOf(ben, contacts.id, size), await statusOf(ben, own.id, size)]).toEqual([200, 404]);
    expect([await statusOf(cleo, contacts.id, size), await statusOf(cleo, own.id, size)]).toEqual([404, 404]);
    expect(await statusOf(cleo, shared.id, size)).toBe(200);
  }
  const answer = await requestPostPicture(ben, ana.id, contacts.id);
  const etag = answer.headers.get("etag") ?? "";
  expect(answer.headers.get("cache-control")).toBe("private, no-cache");
  await answer.arrayBuffer();
  const repeat = async (reader: Person) => {
    const headers = { authorization: `Bearer ${reader.token}`, "if-none-match": etag };
    const response = await site.fetch(site.origin + postPicturePath(ana.id, contacts.id, "large"), { headers });
    return [response.status, await response.text()];
  };
  expect(await repeat(ben)).toEqual([304, ""]);
  // The refusal is that of a picture that does not exist.
  const missing = await requestPostPicture(cleo, ana.id, createUuid());
  expect(await repeat(cleo)).toEqual([404, await missing.text()]);
  await choose(ana, { statusesTo: "contacts_except", exceptions: { statusesTo: [ben.id] } });
  expect((await repeat(ben))[0]).toBe(404);
  await choose(ana, { exceptions: { statusesTo: [] } });
  expect((await repeat(ben))[0]).toBe(304);
  await block(ana, ben);
  expect((await repeat(ben))[0]).toBe(404);
});

test("its id tells others nothing: neither by deleting nor by publishing", async () => {
  const [ana, ben] = (await people(2)) as [Person, Person];
  await befriend(ana, ben);
  const { id } = await publish(ana, "contacts", "À nous", true);
  const [known, unknown] = [await deletePost(ben, id), await deletePost(ben, createUuid())];
  expect(known).toEqual(unknown);
  expect(await readOf(ana, ana)).toHaveLength(1);
  expect(await listPostPictures(ana.id)).toHaveLength(2);
  for (const audience of ["everyone", "contacts"] as const) {
    const cleo = await seedPerson();
    const copied = await publishPost(cleo, { id, content: "Copié", audience });
    expect(copied.status).toBe(201);
    await deletePost(cleo, id);
  }
  expect((await readOf(ben, ana)).map(([content]) => content)).toEqual(["À nous"]);
});

test("it is published exactly once, whatever audience a repetition names, and deleted as any other", async () => {
  const ana = await seedPerson();
  const id = createUuid();
  const first = await publishPost(ana, { id, content: "Une fois", audience: "contacts" }, makePng(20, 20));
  for (const audience of ["contacts", "everyone", "nobody"] as const) {
    const again = await publishPost(ana, { id, content: "Une fois", audience }, makePng(20, 20));
    expect(again).toMatchObject({ status: 201, body: first.body });
  }
  const twin = createUuid();
  const both = await Promise.all(
    (["everyone", "contacts", "nobody"] as const).map((audience) =>
      publishPost(ana, { id: twin, content: "Deux", audience }),
    ),
  );
  expect(both.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(both.map(({ body }) => body.number)).size).toBe(1);
  expect(await readOf(ana, ana)).toHaveLength(2);
  for (const post of [id, twin]) expect(await deletePost(ana, post)).toMatchObject({ status: 204 });
  expect(await readOf(ana, ana)).toEqual([]);
  expect(await listPostPictures(ana.id)).toEqual([]);
  for (const audience of ["everyone", "nobody"] as const) {
    const late = await publishPost(ana, { id, content: "Trop tard", audience });
    expect(late).toMatchObject({ status: 404, body: { error_code: "post_not_found" } });
  }
});

test("without an audience, as earlier versions send it, the setting applies", async () => {
  const ana = await seedPerson();
  const shown = async () => (await readOf(ana, ana))[0]?.[1];
  await publishPost(ana, { content: "Bonjour" });
  expect(await shown()).toBe("everyone");
  for (const statusesTo of ["contacts", "nobody", "contacts_except"] as const) {
    await choose(ana, { statusesTo });
    await publishPost(ana, { content: statusesTo });
    expect(await shown()).toBe(statusesTo);
  }
  const refused = await publishPost(ana, { content: "Amis", audience: "friends" as Audience });
  expect(refused).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
});

test("the common limit counts it", async () => {
  const ana = await seedPerson();
  for (let i = 0; i < rateLimitPolicies.post_by_user.burst; i++) await publish(ana, "contacts");
  const refused = await publishPost(ana, { content: "encore", audience: "nobody" });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
});

test("it is shown also above the newest status for everyone, after that one is deleted, and without any", async () => {
  const [ana, ben] = (await people(2)) as [Person, Person];
  await befriend(ana, ben);
  const newest = await publish(ana, "everyone");
  const { content } = await publish(ana, "contacts");
  await deletePost(ana, newest.id);
  const second = await publish(ana, "contacts");
  const expected = [second.content, content].map((one) => [one, "contacts"]);
  expect(await readOf(ben, ana)).toEqual(expected);
  await env.DB.prepare("DELETE FROM tala_posts").run();
  await feedCache.invalidate(site.origin);
  const third = await publish(ana, "contacts");
  expect(await readOf(ben, ana)).toEqual([[third.content, "contacts"], ...expected]);
  await publish(ben, "everyone");
  expect(await readOf(ben, ana)).toHaveLength(3);
});

test("a status for contacts that is newer than a cached page waits for it, so that no page names only the newer of two", async () => {
  const [ana, ben] = (await people(2)) as [Person, Person];
  await befriend(ana, ben);
  await publish(ana, "contacts");
  const page = await readFeedPage(ben);
  // Published at another location, whose caches are others: first one for everyone, then one for contacts.
  const [shared] = await seedPosts([{ author: ana.id, content: "Pour tous" }]);
  vi.spyOn(feedCache, "invalidate").mockResolvedValueOnce();
  await publish(ana, "contacts", "Pour vous");
  expect(await readFeedPage(ben)).toEqual(page);
  advanceClock(feedOlderMs);
  const shown = toShownPosts(await readFeedPage(ben));
  expect(shown.slice(0, 2).map(({ content }) => content)).toEqual(["Pour vous", "Pour tous"]);
  expect(shown[1]?.number).toBe(shared);
});

/** Inserts restricted statuses directly, with numbers as publishing assigns them. */
const seedRestricted = (author: Uuid, audience: Audience, count: number, content = "") =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)
     INSERT INTO tala_restricted_posts (number, id, user_id, audience, content, created_at)
     SELECT max(ifnull((SELECT max(number) FROM tala_posts), 0), ifnull((SELECT max(number) FROM tala_restricted_posts), 0))
       + i / 524288.0, ?1 || printf('%012x', i), ?2, ?3, ?5 || i, ?6 FROM n`,
  )
    .bind(createUuid().slice(0, 24), author, audience, count, content, Date.now())
    .run();

test("paging down shows every reader exactly the statuses they may see, once and in order", async () => {
  await env.DB.batch(["tala_posts", "tala_restricted_posts"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  const random = makeRandom(21);
  const crowd = await people(6);
  const contacts = new Set<string>();
  for (const [i, one] of crowd.entries())
    for (const [j, other] of crowd.entries())
      if (i < j && random() < 0.6) {
        await befriend(one, other);
        contacts.add(`${i}${j}`).add(`${j}${i}`);
      }
  const written: { author: number; audience: Audience; content: string }[] = [];
  const audiences = ["contacts", "nobody", "contacts", "contacts_except"] as const;
  // Stretches of many restricted statuses, some longer than a page, between stretches of shared ones.
  for (let stretch = 0; stretch < 14; stretch++) {
    const isShared = stretch % 2 === 1;
    const count = 1 + Math.floor(random() ** 2 * (isShared ? 30 : 70));
    for (let i = 0; i < count; i++) {
      const author = Math.floor(random() * crowd.length);
      const audience = isShared ? "everyone" : (audiences[Math.floor(random() * audiences.length)] ?? "nobody");
      const content = `${written.length} ${"a".repeat(random() < 0.1 ? 1_000 : 10)} `;
      written.push({ author, audience, content });
      const id = crowd[author]?.id ?? "";
      if (audience === "everyone") await seedPosts([{ author: id, content }]);
      else await seedRestricted(id, audience, 1, content);
    }
  }
  await feedCache.invalidate(site.origin);
  for (const [reader, person] of crowd.entries()) {
    const seen: string[] = [];
    const numbers: number[] = [];
    let before: number | null | undefined;
    do {
      const text = await (await requestFeedPage(person, before)).text();
      expect(text.length).toBeLessThan(2 * postPageBytes + 200);
      const page = v.parse(PostPage, JSON.parse(text));
      expect(page.restricted?.length ?? 0).toBeLessThanOrEqual(postPageRows);
      const shown = toShownPosts(page);
      if (page.before !== null) expect(shown.at(-1)?.number).toBe(page.before);
      seen.push(...shown.map(({ content }) => content.split(" ")[0] ?? ""));
      numbers.push(...shown.map(({ number }) => number));
      before = page.before;
      advanceClock(1_000); // pages of a request per second are not limited
    } while (before !== null);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => b - a));
    const visible = written.flatMap(({ author, audience }, n) =>
      audience === "everyone" || author === reader || (audience !== "nobody" && contacts.has(`${author}${reader}`))
        ? [String(n)]
        : [],
    );
    expect(seen).toEqual(visible.reverse());
  }
}, 60_000);

test("a reader reads no row more where nobody published one, and few where others did", async () => {
  await env.DB.batch(["tala_posts", "tala_restricted_posts"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  const [ana, reader] = (await people(2)) as [Person, Person];
  await seedContacts(reader, 150);
  await seedPosts(Array.from({ length: 2 * postPageRows }, (_, n) => ({ author: ana.id, content: `${n}` })));
  const countRead = async () => {
    await readFeedPage(reader);
    return (await countDirectoryRows(() => readFeedPage(reader))).read;
  };
  await feedCache.invalidate(site.origin);
  expect(await countRead()).toBe(1);
  await seedRestricted(ana.id, "contacts", scannedPostsMax);
  await feedCache.invalidate(site.origin);
  expect(await countRead()).toBeLessThanOrEqual(1 + scannedPostsMax + 1);
  await seedRestricted(ana.id, "contacts", 50 * scannedPostsMax);
  await feedCache.invalidate(site.origin);
  expect(await countRead()).toBeLessThanOrEqual(1 + 2 * 150 + 10);
});
