import { type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { postPageRows } from "#contract/limits/tala.ts";
import type { RestrictedAudience } from "#contract/tala.ts";
import type { Db } from "#worker/db/client.ts";
import { tala_restricted_posts } from "#worker/db/tala-schema.ts";
import { selectIsExcepted } from "#worker/lib/exceptions.ts";
import { type FeedPostRow, showsPicture } from "./queries.ts";

/** Statuses that only some people may read, read for one of them (docs/decisions/status-audience.md). */

/** Part of the feed: numbers above `from` and below `to`. */
export type FeedRange = { from: number; to: number };

const isInRange = ({ from, to }: FeedRange): SQL => sql`post.number > ${from} AND post.number < ${to}`;

/**
 * SQL: a person may read the status `post`: its author, and contacts whom the author neither blocks nor excepts now.
 * Exceptions apply to every status for contacts, also to those published before.
 */
const isVisibleTo = (me: Uuid): SQL => sql`(post.user_id = ${me} OR (post.audience <> 'nobody'
  AND EXISTS (SELECT 1 FROM connections
    WHERE conversation_id = min(post.user_id, ${me}) || '.' || max(post.user_id, ${me}))
  AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.user_id = post.user_id AND blocks.blocked_user_id = ${me})
  AND NOT EXISTS (SELECT 1 FROM settings WHERE settings.user_id = post.user_id AND ${selectIsExcepted("statusesTo", me)})))`;

/** More statuses than this in a range are found by the reader's contacts instead. */
export const scannedPostsMax = 100;

/** Number of restricted statuses of all authors in a range, at most one more than `scannedPostsMax`. */
export const countRestrictedPosts = async (db: Db, range: FeedRange): Promise<number> => {
  const row = await db.get<{ count: number } | undefined>(
    sql`SELECT count(*) AS count FROM (SELECT 1 FROM tala_restricted_posts AS post
      WHERE ${isInRange(range)} LIMIT ${scannedPostsMax + 1})`,
  );
  return row?.count ?? 0;
};

export type RestrictedPostRow = Omit<FeedPostRow, "hasOlderProfile" | "author"> & {
  audience: RestrictedAudience;
  user_id: Uuid;
  username: string;
  avatar_url: string | null;
};

/**
 * The newest restricted statuses of a range that a person may read, plus one that indicates more. `count`: number of
 * all in the range. Few are read by their numbers, many by the person's contacts, so that both are bounded.
 */
export const listRestrictedPosts = (
  db: Db,
  me: Uuid,
  range: FeedRange,
  count: number,
): Promise<RestrictedPostRow[]> => {
  const candidates =
    count <= scannedPostsMax
      ? sql`tala_restricted_posts AS post INDEXED BY tala_restricted_posts_by_number`
      : sql`(SELECT user2_id AS id FROM connections WHERE user1_id = ${me}
          UNION ALL SELECT user1_id FROM connections WHERE user2_id = ${me} UNION ALL SELECT ${me}) AS author
        CROSS JOIN tala_restricted_posts AS post ON post.user_id = author.id`;
  return db.all<RestrictedPostRow>(
    sql`SELECT post.number, post.id, post.user_id, post.content, post.width, post.height, post.thumb, post.created_at,
        CASE WHEN post.user_id = ${me} THEN post.audience ELSE 'contacts' END AS audience, profiles.username,
        CASE WHEN post.user_id = ${me} OR ${showsPicture(sql`post.user_id`)} THEN profiles.avatar_url END AS avatar_url
      FROM ${candidates} CROSS JOIN profiles ON profiles.id = post.user_id
      WHERE ${isInRange(range)} AND ${isVisibleTo(me)}
      ORDER BY post.number DESC LIMIT ${postPageRows + 1}`,
  );
};

/** Whether a person may see the picture of a status, and whether everybody may. */
export const findPictureAccess = async (
  db: Db,
  me: Uuid,
  author: Uuid,
  id: Uuid,
): Promise<"everyone" | "restricted" | undefined> => {
  const row = await db.get<{ access: "everyone" | "restricted" } | undefined>(
    sql`SELECT 'everyone' AS access FROM tala_posts WHERE id = ${id} AND user_id = ${author}
      UNION ALL SELECT 'restricted' FROM ${tala_restricted_posts} AS post
        WHERE post.user_id = ${author} AND post.id = ${id} AND ${isVisibleTo(me)} LIMIT 1`,
  );
  return row?.access;
};
