import { env } from "cloudflare:workers";

export const seededAuthors = 1_000;
const chunk = 100_000;

/** SQL expression for a random UUID. */
const uuidSql =
  "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-' || hex(randomblob(2)) || '-' || hex(randomblob(2)) || '-' || hex(randomblob(6)))";

/** Inserts statuses directly into the feed, by people whose profile numbers start at `firstAuthor`. */
export async function seedFeed(count: number, firstAuthor: number): Promise<void> {
  for (let done = 0; done < count; done += chunk) {
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO tala_posts (id, user_id, content, width, height, thumb, created_at)
       SELECT ${uuidSql}, profiles.id, 'Bonne journée à tous, que Dieu vous bénisse', 1280, 960, hex(randomblob(14)), ?2 + i
       FROM n JOIN profiles ON profiles.number = ?3 + (i * 7919) % ${seededAuthors}`,
    )
      .bind(Math.min(chunk, count - done), 1_763_000_000_000 + done, firstAuthor)
      .run();
  }
}

/** Inserts statuses of one author for their contacts above the newest status, as publishing numbers them. */
export async function seedRestrictedPosts(count: number, author: string): Promise<void> {
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     INSERT INTO tala_restricted_posts (number, id, user_id, audience, content, created_at)
     SELECT max((SELECT max(number) FROM tala_posts), ifnull((SELECT max(number) FROM tala_restricted_posts), 0))
       + i / 524288.0, ${uuidSql}, ?2, 'contacts', 'Bonne journée à vous', ?3 FROM n`,
  )
    .bind(count, author, Date.now())
    .run();
}
