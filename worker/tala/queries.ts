import { and, desc, eq, inArray, lt, max, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { postGoneMax as goneMax, postPageRows } from "#contract/limits/tala.ts";
import type { Audience } from "#contract/settings/settings.ts";
import type { NewPost } from "#contract/tala.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks } from "#worker/db/relation-schema.ts";
import { profiles } from "#worker/db/schema.ts";
import { tala_gone, tala_posts, tala_restricted_posts } from "#worker/db/tala-schema.ts";
import { runInBatches } from "#worker/lib/deletion/run-in-batches.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import type { PictureDimensions } from "#worker/lib/storage/post-pictures.ts";

export type FeedAuthor = { id: Uuid; username: string; avatar_url: string | null };

export type FeedPostRow = {
  number: number;
  id: Uuid;
  content: string;
  width: number | null;
  height: number | null;
  thumb: string | null;
  created_at: number;
  author: FeedAuthor;
  /** A person blocked by the author still sees an older name or picture. */
  hasOlderProfile: boolean;
};

/** SQL: this person shows their picture to everybody. */
export const showsPicture = (user: SQLiteColumn | SQL) =>
  sql`NOT EXISTS (SELECT 1 FROM settings WHERE settings.user_id = ${user} AND settings.picture_to <> 'everyone')`;

/** SQL: picture that the author of a block showed to everybody at its start. */
const shownAtBlock = sql`CASE ${blocks.picture_to} WHEN 'everyone' THEN ${blocks.avatar_url} END`;

/**
 * Newest statuses for everyone before a number, plus one that indicates a further page. `isPast`: no status can be
 * added to this page any more, only removed. `head`: greatest whole number in use at the same moment, or that of the
 * page. `newestRestricted`: number of the newest status that is not for everyone, or 0.
 */
export const listFeedPosts = async (
  db: Db,
  before: number | undefined,
): Promise<{ rows: FeedPostRow[]; isPast: boolean; head: number; newestRestricted: number }> => {
  const isPast =
    before === undefined
      ? sql<number>`1`
      : sql<number>`(SELECT ${before} <= number FROM tala_posts ORDER BY number DESC LIMIT 1)`;
  const selectPage = db
    .select({
      number: tala_posts.number,
      id: tala_posts.id,
      content: tala_posts.content,
      width: tala_posts.width,
      height: tala_posts.height,
      thumb: tala_posts.thumb,
      created_at: tala_posts.created_at,
      author: {
        id: tala_posts.user_id,
        username: profiles.username,
        // The page is the same for all readers, so contacts do not see a picture that is for contacts only.
        avatar_url: sql<string | null>`CASE WHEN ${showsPicture(tala_posts.user_id)} THEN ${profiles.avatar_url} END`,
      },
      hasOlderProfile: sql`EXISTS (SELECT 1 FROM blocks WHERE blocks.user_id = ${tala_posts.user_id}
        AND (blocks.username <> ${profiles.username} OR (${showsPicture(tala_posts.user_id)}
          AND ${shownAtBlock} IS NOT ${profiles.avatar_url})))`.mapWith(Boolean),
      isPast: isPast.as("is_past"),
    })
    .from(tala_posts)
    .innerJoin(profiles, eq(profiles.id, tala_posts.user_id))
    .where(before === undefined ? undefined : lt(tala_posts.number, before))
    .orderBy(desc(tala_posts.number))
    .limit(postPageRows + 1);
  const selectRestricted = db.select({ newest: max(tala_restricted_posts.number) }).from(tala_restricted_posts);
  const [rows, [restricted]] = await db.batch([selectPage, selectRestricted]);
  const newestRestricted = restricted?.newest ?? 0;
  if (before !== undefined && rows[0]?.isPast === 1) return { rows, isPast: true, head: before, newestRestricted };
  const head = Math.max(rows[0]?.number ?? 0, Math.floor(newestRestricted));
  return { rows, isPast: before === undefined, head, newestRestricted };
};

/** Names and pictures that these authors show to this reader, whom they block: those from the start of the block. */
export const listOlderProfiles = async (db: Db, me: Uuid, authors: Uuid[]): Promise<Map<Uuid, FeedAuthor>> => {
  const rows = await db
    .select({
      id: blocks.user_id,
      username: blocks.username,
      avatar_url: sql<string | null>`CASE WHEN ${showsPicture(blocks.user_id)} THEN ${shownAtBlock} END`,
    })
    .from(blocks)
    .where(and(eq(blocks.blocked_user_id, me), inArray(blocks.user_id, authors)));
  return new Map(rows.map((author) => [author.id, author]));
};

export type StoredPost = { id: Uuid; user_id: Uuid; number: number; created_at: number };
const storedPostColumns = {
  id: tala_posts.id,
  user_id: tala_posts.user_id,
  number: tala_posts.number,
  created_at: tala_posts.created_at,
};

const restrictedPostColumns = {
  id: tala_restricted_posts.id,
  user_id: tala_restricted_posts.user_id,
  number: tala_restricted_posts.number,
  created_at: tala_restricted_posts.created_at,
};

const isOwnRestricted = (me: Uuid, id: Uuid) =>
  and(eq(tala_restricted_posts.user_id, me), eq(tala_restricted_posts.id, id));

/** Status with this id: for everyone, or one's own. Nobody learns whether another person's restricted status exists. */
export const findPost = async (db: Db, me: Uuid, id: Uuid): Promise<StoredPost | undefined> => {
  const [[shared], [restricted]] = await db.batch([
    db.select(storedPostColumns).from(tala_posts).where(eq(tala_posts.id, id)),
    db.select(restrictedPostColumns).from(tala_restricted_posts).where(isOwnRestricted(me, id)),
  ]);
  return restricted ?? shared;
};

/**
 * Distance between the numbers of statuses that are not for everyone. More than half a million fit between two for
 * everyone. Smaller numbers would be written with an exponent.
 */
const restrictedStep = 2 ** -19;

/**
 * Publishes a status unless its id is taken, its author deleted it meanwhile, or the session has ended (the account may
 * be deleted). One statement decides.
 */
export const insertPost = async (
  db: Db,
  { user, session }: Caller,
  { id, content, picture }: NewPost,
  audience: Audience,
  dimensions: PictureDimensions | undefined,
): Promise<StoredPost | undefined> => {
  const fields = sql`${content}, ${dimensions?.width ?? null}, ${dimensions?.height ?? null}, ${(dimensions && picture?.thumb) ?? null}, ${Date.now()}`;
  const mayPublish = sql`FROM sessions WHERE id = ${session} AND user_id = ${user}
    AND NOT EXISTS (SELECT 1 FROM tala_gone WHERE user_id = ${user} AND id = ${id})`;
  if (audience === "everyone") {
    const isRestricted = sql`EXISTS (SELECT 1 FROM tala_restricted_posts WHERE user_id = ${user} AND id = ${id})`;
    const [row] = await db
      .insert(tala_posts)
      .select(sql`SELECT NULL, ${id}, user_id, ${fields} ${mayPublish} AND NOT ${isRestricted}`)
      .onConflictDoNothing()
      .returning(storedPostColumns);
    return row;
  }
  const isShared = sql`EXISTS (SELECT 1 FROM tala_posts WHERE user_id = ${user} AND id = ${id})`;
  const [row] = await db
    .insert(tala_restricted_posts)
    .select(
      sql`SELECT max(ifnull((SELECT max(number) FROM tala_posts), 0),
          ifnull((SELECT max(number) FROM tala_restricted_posts), 0)) + ${restrictedStep}, ${id}, user_id, ${audience}, ${fields} ${mayPublish} AND NOT ${isShared}`,
    )
    .onConflictDoNothing()
    .returning(restrictedPostColumns);
  return row;
};

/** Tests whether the author deleted this status, possibly before it arrived. */
export const isPostDeleted = async (db: Db, user: Uuid, id: Uuid): Promise<boolean> =>
  (await db
    .select({ id: tala_gone.id })
    .from(tala_gone)
    .where(and(eq(tala_gone.user_id, user), eq(tala_gone.id, id)))
    .get()) !== undefined;

/** Deletes an own status, also one that has not arrived yet. Only the newest such deletions are remembered. */
export const deleteOwnPost = async (db: Db, user: Uuid, id: Uuid): Promise<void> => {
  await db.batch([
    db.insert(tala_gone).values({ user_id: user, id, gone_at: Date.now() }).onConflictDoNothing(),
    db
      .delete(tala_gone)
      .where(
        and(
          eq(tala_gone.user_id, user),
          sql`rowid IN (SELECT rowid FROM tala_gone WHERE user_id = ${user} ORDER BY gone_at DESC, rowid DESC LIMIT -1 OFFSET ${goneMax})`,
        ),
      ),
    db.delete(tala_posts).where(and(eq(tala_posts.id, id), eq(tala_posts.user_id, user))),
    db.delete(tala_restricted_posts).where(isOwnRestricted(user, id)),
  ]);
};

const deletedPostsKeptMs = 30 * dayMs; // longer than any device keeps a deleted status in its queue
const deletedPostsBatch = 1_000;
const deletedPostsBatchesMax = 100;

/** Purges old records of deleted statuses. */
export const purgeDeletedPosts = (db: Db, now: number): Promise<void> =>
  runInBatches(deletedPostsBatch, deletedPostsBatchesMax, async () => {
    const { meta } = await db.run(
      sql`DELETE FROM tala_gone WHERE rowid IN (SELECT rowid FROM tala_gone WHERE gone_at < ${now - deletedPostsKeptMs} LIMIT ${deletedPostsBatch})`,
    );
    return meta.changes;
  });
