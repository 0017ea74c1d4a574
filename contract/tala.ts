import * as v from "valibot";
import { PackedUuid, Uuid } from "./ids.ts";
import { pictureEdgePx, postBytesMax, postGraphemesMax, thumbMaxLength } from "./limits.ts";
import { cleanText, isBlank, MessageText } from "./text.ts";

/**
 * Tala: short public statuses. Everybody who is signed in reads the same feed, newest first, so that one answer serves
 * all of a place; who one blocks is left out by the device, which alone knows.
 */

// Browsers that cannot tell what a person takes for one character count code points: never fewer.
const graphemeSegmenter =
  typeof Intl.Segmenter === "function" ? new Intl.Segmenter("fr", { granularity: "grapheme" }) : undefined;

/** How many characters a person sees. */
export const countGraphemes = (text: string): number => [...(graphemeSegmenter?.segment(text) ?? text)].length;

/** What a status says, made storable; empty where there is nothing to see in it. */
export const cleanPost = (text: string): string => (isBlank(text) ? "" : cleanText(text));

/** A status's text; empty where a picture speaks for itself. */
const PostText = v.pipe(
  v.string(),
  v.check((text) => text === "" || v.is(MessageText, text), "invalid_text"),
  // Nobody's megabyte is taken apart into characters.
  v.check(
    (text) => new TextEncoder().encode(text).length <= postBytesMax && countGraphemes(text) <= postGraphemesMax,
    "post_too_long",
  ),
);

const Pixels = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(pictureEdgePx));

/** A picture's size and thumbhash, as the phone that made it says. The feed tells the size that the server found. */
export const PostPicture = v.strictObject({
  width: Pixels,
  height: Pixels,
  thumb: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]*$/), v.maxLength(thumbMaxLength)),
});
export type PostPicture = v.InferOutput<typeof PostPicture>;

/**
 * What is published: the part `post`, as JSON, of a form whose other part, `picture`, is the picture's bytes if it has one.
 * `id` is the phone's own, so that the same status sent again is stored once.
 */
export const NewPost = v.pipe(
  v.strictObject({ id: Uuid, content: PostText, picture: v.optional(PostPicture) }),
  v.check(({ content, picture }) => picture !== undefined || !isBlank(content), "empty_post"),
);
export type NewPost = v.InferOutput<typeof NewPost>;

/** A status as the feed tells it. `author` is its place among the page's authors. */
const PagePost = v.strictTuple([
  v.number(), // number: grows with every status of the feed
  PackedUuid,
  v.number(), // author
  v.number(), // when, epoch milliseconds
  v.string(), // content
  v.nullable(v.strictTuple([Pixels, Pixels, v.string()])), // picture: width, height, thumbhash
]);
const PageAuthor = v.strictTuple([PackedUuid, v.string(), v.nullable(v.string())]); // id, username, avatar

/** A page of the feed, newest first: at most `postPageRows` statuses in `postPageBytes`. `before` is where the next begins. */
export const PostPage = v.strictObject({
  authors: v.array(PageAuthor),
  posts: v.array(PagePost),
  before: v.nullable(v.number()),
});
export type PostPage = v.InferOutput<typeof PostPage>;

/** What became of a published status. */
export const Published = v.object({ id: Uuid, number: v.number(), created_at: v.number() });
export type Published = v.InferOutput<typeof Published>;

export const pictureSizes = ["small", "large"] as const;
export type PictureSize = (typeof pictureSizes)[number];

/** Where the picture of somebody's status is: a WebP inside `pictureSmallPx`, or inside `pictureEdgePx`. */
export const postPicturePath = (author: Uuid, post: Uuid, size: PictureSize): string =>
  `/api/tala/pictures/${author}_${post}?size=${size}`;
