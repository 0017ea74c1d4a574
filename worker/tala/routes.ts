import * as v from "valibot";
import { Uuid, unpackUuid } from "#contract/ids.ts";
import { pictureMaxBytes, postJsonMaxLength } from "#contract/limits/tala.ts";
import { NewPost, PostPage, Published, pictureSizes } from "#contract/tala.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { matchesEtag } from "#worker/lib/http/etag.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { can } from "#worker/lib/permissions.ts";
import { createPageEtag, feedCache, type LoadedPage } from "#worker/lib/storage/feed-cache.ts";
import {
  createPostPicture,
  deletePostPicture,
  findPostPicture,
  storePostPicture,
} from "#worker/lib/storage/post-pictures.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { takeTierToken } from "#worker/people/trust.ts";
import { getUserSettings } from "#worker/settings/queries.ts";
import { toPostPage } from "./feed-page.ts";
import {
  deleteOwnPost,
  findPost,
  insertPost,
  isPostDeleted,
  listFeedPosts,
  listOlderProfiles,
  type StoredPost,
} from "./queries.ts";
import { addRestrictedPosts } from "./restricted-page.ts";
import { countRestrictedPosts, type FeedRange, findPictureAccess, listRestrictedPosts } from "./restricted-queries.ts";

// Numbers of statuses that are not for everyone have a fraction.
const BeforeParam = v.pipe(
  v.string(),
  v.regex(/^\d{1,15}(\.\d{1,20})?$/),
  v.transform(Number),
  v.check((number) => number > 0),
);

const PostForm = v.pipe(
  v.strictObject({
    post: v.pipe(v.string(), v.maxLength(postJsonMaxLength), v.parseJson(), NewPost),
    picture: v.optional(v.instance(File)),
  }),
  v.check(({ post, picture }) => (post.picture === undefined) === (picture === undefined)),
);

const pictureKeyPattern = /^([0-9a-f-]{36})_([0-9a-f-]{36})$/;
const PictureKey = v.pipe(
  v.string(),
  v.regex(pictureKeyPattern),
  v.transform((key) => key.split("_")),
  v.strictTuple([Uuid, Uuid]),
);

const toPublished = ({ id, number, created_at }: StoredPost): Published => ({ id, number, created_at });

/**
 * Range of a page. It ends below the first whole number that was not in use when the page was read: of two statuses, a
 * page never shows the newer one alone.
 */
const toFeedRange = (before: number | undefined, { next, head }: Pick<LoadedPage, "next" | "head">): FeedRange => ({
  from: next ?? 0,
  to: Math.min(before ?? head + 1, head + 1),
});

const loadFeedPage = async (db: Db, before: number | undefined): Promise<LoadedPage> => {
  const { rows, isPast, head, newestRestricted } = await listFeedPosts(db, before);
  const page = toPostPage(rows);
  const next = page.before;
  const range = toFeedRange(before, { next, head });
  const hasOlderProfiles = rows.some(({ hasOlderProfile }) => hasOlderProfile);
  const restricted = newestRestricted > range.from ? await countRestrictedPosts(db, range) : 0;
  return { body: JSON.stringify(page), isPast, next, hasOlderProfiles, head, restricted };
};

type SharedPage = Omit<LoadedPage, "isPast"> & { etag: string };

const parsePage = ({ body }: SharedPage): PostPage => v.parse(PostPage, JSON.parse(body));

/** Page with the names and pictures that authors who block this reader show in their profile; undefined if the same. */
const showOlderProfiles = async (db: Db, me: Uuid, page: SharedPage): Promise<PostPage | undefined> => {
  if (!page.hasOlderProfiles) return undefined;
  const feed = parsePage(page);
  const olderProfiles = await listOlderProfiles(
    db,
    me,
    feed.authors.map(([author]) => unpackUuid(author)),
  );
  if (olderProfiles.size === 0) return undefined;
  const authors = feed.authors.map((author): PostPage["authors"][number] => {
    const older = olderProfiles.get(unpackUuid(author[0]));
    return older ? [author[0], older.username, older.avatar_url] : author;
  });
  return { ...feed, authors };
};

/**
 * Page of the feed for this reader: with the restricted statuses that they may read, and the names and pictures of
 * authors who block them. If there are neither, it is the shared page byte for byte.
 */
const personalizePage = async (
  db: Db,
  me: Uuid,
  before: number | undefined,
  page: SharedPage,
): Promise<{ body: string; etag: string }> => {
  const [feed, restricted] = await Promise.all([
    showOlderProfiles(db, me, page),
    page.restricted === 0 ? [] : listRestrictedPosts(db, me, toFeedRange(before, page), page.restricted),
  ]);
  if (!feed && restricted.length === 0) return page;
  const own = feed ?? parsePage(page);
  const body = JSON.stringify(restricted.length === 0 ? own : addRestrictedPosts(own, restricted));
  return { body, etag: await createPageEtag(body) };
};

export const talaRoutes = createRoutes()
  .get(
    "/tala",
    describeOperation({
      tag: "tala",
      summary:
        "A page of the feed of statuses, newest first: cached for some seconds and equal for everybody, except statuses for fewer people and the profiles of authors who block the reader",
      ok: { status: 200, body: PostPage },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", v.object({ before: v.optional(BeforeParam) })),
    async (c) => {
      const place = { context: c.executionCtx, origin: new URL(c.req.url).origin };
      const { before } = c.req.valid("query");
      const db = openDb(c.env);
      const { body, etag } = await personalizePage(
        db,
        c.var.caller.user,
        before,
        await feedCache.getPage(place, before, () => loadFeedPage(db, before)),
      );
      c.header("etag", etag);
      c.header("cache-control", "private, no-cache");
      if (matchesEtag(c.req.header("if-none-match"), etag)) return c.body(null, 304);
      return c.body(body, 200, { "content-type": "application/json" });
    },
  )
  .post(
    "/tala",
    describeOperation({
      tag: "tala",
      summary: "Publish a status, with a picture of at most 1.5 MB and 50 megapixels. Idempotent by id",
      ok: { status: 201, body: Published },
      refusals: [
        "invalid_input",
        "invalid_text",
        "empty_post",
        "post_too_long",
        "post_not_found",
        "posts_used_up",
        "file_too_large",
        "not_an_image",
        "image_too_many_pixels",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("form", PostForm),
    async (c) => {
      const { post, picture } = c.req.valid("form");
      const me = c.var.caller.user;
      const db = openDb(c.env);
      if (picture && picture.size > pictureMaxBytes) return refuse(c, "file_too_large");
      const existing = await findPost(db, me, post.id);
      if (existing) return existing.user_id === me ? c.json(toPublished(existing), 201) : refuse(c, "invalid_input");
      const taken = await takeToken(db, me, "post_by_user");
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      const audience = post.audience ?? (await getUserSettings(db, me)).settings.statusesTo;
      // Tiers limit how many new people somebody reaches; other statuses reach contacts only.
      const allowed = audience === "everyone" ? await takeTierToken(c.env, db, me, "post") : taken;
      if (!allowed.ok) return refuse(c, "posts_used_up", allowed);
      const pictureTaken = picture ? await takeToken(db, me, "post_picture_by_user") : taken;
      if (!pictureTaken.ok) return refuse(c, "rate_limited", pictureTaken);
      const encoded = picture && (await createPostPicture(c.env, new Uint8Array(await picture.arrayBuffer())));
      if (typeof encoded === "string") return refuse(c, encoded);
      if (encoded) await storePostPicture(c.env, me, post.id, encoded);
      const published = await insertPost(db, c.var.caller, post, audience, encoded?.dimensions);
      if (published) {
        await feedCache.invalidate(new URL(c.req.url).origin);
        return c.json(toPublished(published), 201);
      }
      const other = await findPost(db, me, post.id);
      if (other?.user_id === me) return c.json(toPublished(other), 201); // concurrent duplicate
      const isDeleted = other === undefined && (await isPostDeleted(db, me, post.id));
      // Signed out meanwhile: the status may be sent again, and its picture is kept for it.
      if (!other && !isDeleted) return refuse(c, "session_not_found");
      if (encoded) await deletePostPicture(c.env, me, post.id);
      return refuse(c, isDeleted ? "post_not_found" : "invalid_input");
    },
  )
  .delete(
    "/tala/:id",
    describeOperation({
      tag: "tala",
      summary: "Delete one's own status, also one that has not arrived yet. Idempotent",
      ok: { status: 204, body: null },
      refusals: ["invalid_input", "not_your_post", "forbidden_origin"],
    }),
    authenticate,
    validate("param", v.object({ id: Uuid })),
    limitCaller("post_deletion_by_user"),
    async (c) => {
      const { id } = c.req.valid("param");
      const me = c.var.caller.user;
      const db = openDb(c.env);
      const post = await findPost(db, me, id);
      if (post && !can.deletePost(me, post)) return refuse(c, "not_your_post");
      await deleteOwnPost(db, me, id);
      if (post)
        runAfterResponse(
          c.executionCtx,
          "push a deleted status to own devices",
          getUserChannelStub(c.env, me).notifyPostDeleted(id),
        );
      await Promise.all([deletePostPicture(c.env, me, id), post && feedCache.invalidate(new URL(c.req.url).origin)]);
      return c.body(null, 204);
    },
  )
  .get(
    "/tala/pictures/:key",
    describeOperation({
      tag: "tala",
      summary: "The picture of a status, by author and status id, within 200 or 1,280 pixels",
      ok: { status: 200, body: "image/webp" },
      refusals: ["invalid_input", "not_found"],
    }),
    authenticate,
    validate("param", v.object({ key: PictureKey }), "not_found"),
    validate("query", v.object({ size: v.optional(v.picklist(pictureSizes), "large") })),
    async (c) => {
      const [author, post] = c.req.valid("param").key;
      const [access, picture] = await Promise.all([
        findPictureAccess(openDb(c.env), c.var.caller.user, author, post),
        findPostPicture(c.env, author, post, c.req.valid("query").size, c.req.raw.headers),
      ]);
      if (!access || !picture) {
        if (picture && "body" in picture) await picture.body.cancel();
        return refuse(c, "not_found");
      }
      // The content of a key never changes. Shared caches must not store it, and a browser must ask again for a picture
      // that its reader may not see any more later.
      c.header("cache-control", access === "everyone" ? "private, max-age=31536000, immutable" : "private, no-cache");
      c.header("etag", picture.httpEtag);
      c.header("content-type", "image/webp");
      return "body" in picture ? c.body(picture.body, 200) : c.body(null, 304);
    },
  );
