import { packUuid } from "#contract/ids.ts";
import { postPageBytes, postPageRows } from "#contract/limits/tala.ts";
import type { PostPage } from "#contract/tala.ts";
import type { FeedPostRow } from "./queries.ts";

type AuthorTuple = PostPage["authors"][number];
type PostTuple = PostPage["posts"][number];

const toAuthorTuple = ({ author: { id, username, avatar_url } }: FeedPostRow): AuthorTuple => [
  packUuid(id),
  username,
  avatar_url,
];

/** Size and thumbhash of a status's picture. */
export const toPicture = ({ width, height, thumb }: Pick<FeedPostRow, "width" | "height" | "thumb">): PostTuple[5] =>
  width === null || height === null ? null : [width, height, thumb ?? ""];

const toPostTuple = (row: FeedPostRow, author: number): PostTuple => {
  const { number, id, created_at, content } = row;
  return [number, packUuid(id), author, created_at, content, toPicture(row)];
};

export const countJsonBytes = (part: unknown): number => new TextEncoder().encode(JSON.stringify(part)).length;

/** Page of the feed with each author listed once, limited by rows and bytes. One status always fits. */
export const toPostPage = (rows: readonly FeedPostRow[]): PostPage => {
  const page: PostPage = { authors: [], posts: [], before: null };
  const places = new Map<string, number>();
  let bytes = countJsonBytes({ ...page, before: Number.MAX_SAFE_INTEGER });
  for (const row of rows.slice(0, postPageRows)) {
    const known = places.get(row.author.id);
    const author = toAuthorTuple(row);
    const post = toPostTuple(row, known ?? page.authors.length);
    bytes += countJsonBytes(post) + 1 + (known === undefined ? countJsonBytes(author) + 1 : 0); // plus a comma each
    if (bytes > postPageBytes) break;
    if (known === undefined) places.set(row.author.id, page.authors.push(author) - 1);
    page.posts.push(post);
  }
  const last = page.posts.at(-1);
  return last && page.posts.length < rows.length ? { ...page, before: last[0] } : page;
};
