import { env } from "cloudflare:workers";
import { createUuid, packUuid, type Uuid, unpackUuid } from "#contract/ids.ts";
import type { Audience } from "#contract/settings/settings.ts";
import { type PictureSize, type PostPage, type Published, postPicturePath } from "#contract/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import { site } from "./site.ts";
import { callRawWith } from "./wrapped-site.ts";

/** Tala statuses, published and read as a device does. */

export type Draft = {
  id?: Uuid;
  content?: string;
  picture?: { width: number; height: number; thumb: string };
  audience?: Audience;
};
type Answered = { status: number; body: Published & { error_code?: string }; headers: Headers };

/** Form of a new status. A picture's size and thumbhash are invented if the draft has none. */
export const makePostForm = (
  { id = createUuid(), content = "", ...draft }: Draft,
  bytes?: string | Uint8Array<ArrayBuffer>,
): FormData => {
  const form = new FormData();
  const picture = draft.picture ?? (bytes === undefined ? undefined : { width: 20, height: 20, thumb: "1QcSHQRnh4" });
  const { audience } = draft;
  form.set("post", JSON.stringify({ id, content, ...(picture && { picture }), ...(audience && { audience }) }));
  if (bytes !== undefined) form.set("picture", new Blob([bytes], { type: "image/png" }), "picture");
  return form;
};

export const sendPostForm = async (
  by: Person,
  form: BodyInit,
  changed: Parameters<typeof callRawWith>[0] = {},
): Promise<Answered> => {
  const init = { method: "POST", headers: { authorization: `Bearer ${by.token}` }, body: form };
  const response = await callRawWith(changed, "/api/tala", init);
  return { status: response.status, body: (await response.json()) as Answered["body"], headers: response.headers };
};

export const publishPost = (by: Person, draft: Draft, bytes?: string | Uint8Array<ArrayBuffer>): Promise<Answered> =>
  sendPostForm(by, makePostForm(draft, bytes));

export const readFeedPage = async (by: Person, before?: number | null): Promise<PostPage> => {
  const response = await requestFeedPage(by, before);
  if (response.status !== 200) throw new Error(`no page: ${response.status} ${await response.text()}`);
  return (await response.json()) as PostPage;
};
export const requestFeedPage = (by: Person | undefined, before?: number | null, headers: Record<string, string> = {}) =>
  site.fetch(`${site.origin}/api/tala${before ? `?before=${before}` : ""}`, {
    headers: { ...(by && { authorization: `Bearer ${by.token}` }), ...headers },
  });

export type ShownPost = {
  id: Uuid;
  number: number;
  content: string;
  author: string;
  picture: PostPage["posts"][number][5];
  audience: Audience;
};
/** Statuses of a page, newest first, as a device shows them. */
export const toShownPosts = ({ posts, restricted = [], authors }: PostPage): ShownPost[] =>
  [...posts.map((post) => [...post, "everyone"] as const), ...restricted]
    .map(([number, id, author, , content, picture, audience]) => ({
      id: unpackUuid(id),
      number,
      content,
      author: unpackUuid(authors[author]?.[0] ?? packUuid(createUuid())),
      picture,
      audience,
    }))
    .sort((a, b) => b.number - a.number);

export const deletePost = async (by: Person, id: Uuid) => {
  const response = await site.fetch(`${site.origin}/api/tala/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${by.token}` },
  });
  const text = await response.text();
  return { status: response.status, error: text && (JSON.parse(text) as { error_code: string }).error_code };
};

export const requestPostPicture = (by: Person | undefined, author: Uuid, post: Uuid, size: PictureSize = "large") =>
  site.fetch(site.origin + postPicturePath(author, post, size), {
    headers: by ? { authorization: `Bearer ${by.token}` } : {},
  });

/** Keys of a person's stored pictures. */
export const listPostPictures = async (author: Uuid): Promise<string[]> =>
  (await env.AVATARS.list({ prefix: `tala/${author}/` })).objects.map(({ key }) => key);

export type SeededPost = { author: Uuid; content: string; thumb?: string };

/**
 * Inserts statuses directly into the feed in this order, and returns their numbers. Cached pages do not show them yet.
 */
export const seedPosts = async (posts: readonly SeededPost[]): Promise<number[]> => {
  const rows = posts.map(({ author, content, thumb }) => ({ id: createUuid(), author, content, thumb: thumb ?? null }));
  const { results } = await env.DB.prepare(
    `INSERT INTO tala_posts (id, user_id, content, width, height, thumb, created_at)
     SELECT value->>'id', value->>'author', value->>'content', iif(value->>'thumb' IS NULL, NULL, 1280),
       iif(value->>'thumb' IS NULL, NULL, 1280), value->>'thumb', ?2 FROM json_each(?1) RETURNING number`,
  )
    .bind(JSON.stringify(rows), Date.now())
    .all<{ number: number }>();
  return results.map(({ number }) => number);
};
