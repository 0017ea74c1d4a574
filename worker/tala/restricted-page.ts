import { packUuid } from "#contract/ids.ts";
import { postPageBytes, postPageRows } from "#contract/limits/tala.ts";
import type { PostPage } from "#contract/tala.ts";
import { countJsonBytes, toPicture } from "./feed-page.ts";
import type { RestrictedPostRow } from "./restricted-queries.ts";

type RestrictedPost = NonNullable<PostPage["restricted"]>[number];

/**
 * Adds the restricted statuses of a page's range that its reader may read, at most `postPageRows` in `postPageBytes`.
 * If there are more, the page ends with the last one that fits, and the next page begins there.
 */
export const addRestrictedPosts = (page: PostPage, rows: readonly RestrictedPostRow[]): PostPage => {
  const authors = [...page.authors];
  const places = new Map(authors.map(([id], place) => [id, place]));
  const restricted: RestrictedPost[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, postPageRows)) {
    const author: PostPage["authors"][number] = [packUuid(row.user_id), row.username, row.avatar_url];
    const known = places.get(author[0]);
    const { number, id, created_at, content, audience } = row;
    const place = known ?? authors.length;
    const post: RestrictedPost = [number, packUuid(id), place, created_at, content, toPicture(row), audience];
    bytes += countJsonBytes(post) + 1 + (known === undefined ? countJsonBytes(author) + 1 : 0);
    if (bytes > postPageBytes) break;
    if (known === undefined) places.set(author[0], authors.push(author) - 1);
    restricted.push(post);
  }
  const end = restricted.at(-1)?.[0];
  if (end === undefined || restricted.length === rows.length) return { ...page, authors, restricted };
  return { authors, posts: page.posts.filter(([number]) => number > end), restricted, before: end };
};
