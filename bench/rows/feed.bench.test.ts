import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { postPageRows } from "#contract/limits/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { deletePost, publishPost, readFeedPage } from "#tests/worker/support/posts.ts";
import { seedContacts } from "#tests/worker/support/seeded-people.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { openDb } from "#worker/db/client.ts";
import { feedCache } from "#worker/lib/storage/feed-cache.ts";
import { listFeedPosts } from "#worker/tala/queries.ts";
import { consumeCounts, startCounting } from "./counters.ts";
import { seededAuthors, seedFeed, seedRestrictedPosts } from "./feed-seed.ts";
import { report, reportTimes } from "./report.ts";

const posts = 1_000_000;
const rounds = 15;
const perRound = 10; // the runtime's clock has a resolution of one millisecond
const deepPages = [1, 500, posts / postPageRows];

let reader: Person;
beforeAll(async () => {
  await startCounting();
  reader = await makePerson();
  await seedContacts(reader, seededAuthors);
  const first = await env.DB.prepare("SELECT max(number) - ? + 1 AS number FROM profiles")
    .bind(seededAuthors)
    .first<{ number: number }>();
  await seedFeed(posts, first?.number ?? 0);
}, 300_000);

/** The product's page as one plain statement. */
const readByNumber = (before: number) =>
  env.DB.prepare(
    `SELECT post.*, profiles.username, profiles.avatar_url
     FROM tala_posts AS post JOIN profiles ON profiles.id = post.user_id
     WHERE post.number < ? ORDER BY post.number DESC LIMIT ${postPageRows + 1}`,
  )
    .bind(before)
    .raw();

/** The same page by OFFSET; names are joined only for the rows shown. */
const readByOffset = (page: number) =>
  env.DB.prepare(
    `SELECT post.*, profiles.username, profiles.avatar_url
     FROM (SELECT * FROM tala_posts ORDER BY number DESC LIMIT ${postPageRows + 1} OFFSET ?) AS post
     JOIN profiles ON profiles.id = post.user_id ORDER BY post.number DESC`,
  )
    .bind((page - 1) * postPageRows)
    .raw();

test("what a deed costs in rows, with a million statuses", async () => {
  const measure = async (name: string, action: () => Promise<unknown>): Promise<void> => {
    consumeCounts();
    await action();
    report(name, 1, consumeCounts());
  };
  await measure("open: nobody has read lately", () => readFeedPage(reader));
  await measure("open: somebody has", () => readFeedPage(reader));
  const { before } = await readFeedPage(reader);
  await measure("one page further: nobody has read it lately", () => readFeedPage(reader, before));
  await measure("one page further: somebody has", () => readFeedPage(reader, before));
  const id = createUuid();
  await measure("publish a text", () => publishPost(reader, { content: "Mbote" }));
  await measure("publish a picture", () => publishPost(reader, { id }, makePng(40, 40)));
  await measure("the same once more", () => publishPost(reader, { id }, makePng(40, 40)));
  await measure("take it back", () => deletePost(reader, id));
  const restricted = createUuid();
  await measure("publish for contacts", () =>
    publishPost(reader, { id: restricted, content: "Mbote", audience: "contacts" }),
  );
  await deletePost(reader, restricted);
  // Statuses of strangers for their contacts, in the range of the first page; then also one of a contact.
  const [[stranger], [friend]] = [await seedContacts(await makePerson(), 1), await seedContacts(reader, 1)];
  if (!stranger || !friend) throw new Error("nobody");
  for (const [count, author, whose] of [
    [20, stranger, "20 of strangers"],
    [1, friend, "20 of strangers and one of a contact"],
    [1_000, stranger, "1,000 of strangers and one of a contact"],
  ] as const) {
    await seedRestrictedPosts(count, author);
    await feedCache.invalidate(site.origin);
    await measure(`open, ${whose} for contacts: nobody has read lately`, () => readFeedPage(reader));
    await measure(`open, ${whose} for contacts: somebody has`, () => readFeedPage(reader));
  }
});

test("a page by its number against one by its distance from the top", async () => {
  const db = openDb(env);
  const last = await env.DB.prepare("SELECT max(number) AS number FROM tala_posts").first<{ number: number }>();
  const head = last?.number ?? 0;
  const timed = async (action: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    for (let i = 0; i < perRound; i++) await action();
    return (performance.now() - started) / perRound;
  };
  for (const page of deepPages) {
    const before = head + 1 - (page - 1) * postPageRows;
    const byNumber = () => listFeedPosts(db, page === 1 ? undefined : before);
    const byOffset = () => readByOffset(page);
    consumeCounts();
    const { rows } = await byNumber();
    const rowsByNumber = consumeCounts().d1RowsRead;
    const same = await byOffset();
    const rowsByOffset = consumeCounts().d1RowsRead;
    expect(rows.map(({ number }) => number)).toEqual(same.map(([number]) => number));
    const times = { byNumber: [] as number[], byBareNumber: [] as number[], byOffset: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      times.byNumber.push(await timed(byNumber));
      times.byBareNumber.push(await timed(() => readByNumber(before)));
      times.byOffset.push(await timed(byOffset));
    }
    reportTimes({ page, rowsByNumber, rowsByOffset, ...times });
  }
});
