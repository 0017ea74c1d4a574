import { packUuid } from "#contract/ids.ts";
import { postPageBytes, postPageRows } from "#contract/limits.ts";
import type { PostPage } from "#contract/tala.ts";
import type { FeedRow } from "./queries.ts";

type Author = PostPage["authors"][number];
type Post = PostPage["posts"][number];

const toAuthor = ({ author: { id, username, avatar_url } }: FeedRow): Author => [packUuid(id), username, avatar_url];

const toPost = ({ number, id, created_at, content, width, height, thumb }: FeedRow, author: number): Post => {
  const picture: Post[5] = width === null || height === null ? null : [width, height, thumb ?? ""];
  return [number, packUuid(id), author, created_at, content, picture];
};

const bytesOf = (part: unknown): number => new TextEncoder().encode(JSON.stringify(part)).length;

/** As many of these as a page holds, each author once. One status always fits. */
export const toPostPage = (rows: readonly FeedRow[]): PostPage => {
  const page: PostPage = { authors: [], posts: [], before: null };
  const places = new Map<string, number>();
  let bytes = bytesOf({ ...page, before: Number.MAX_SAFE_INTEGER });
  for (const row of rows.slice(0, postPageRows)) {
    const known = places.get(row.author.id);
    const author = toAuthor(row);
    const post = toPost(row, known ?? page.authors.length);
    bytes += bytesOf(post) + 1 + (known === undefined ? bytesOf(author) + 1 : 0); // each with its comma
    if (bytes > postPageBytes) break;
    if (known === undefined) places.set(row.author.id, page.authors.push(author) - 1);
    page.posts.push(post);
  }
  const last = page.posts.at(-1);
  return last && page.posts.length < rows.length ? { ...page, before: last[0] } : page;
};
