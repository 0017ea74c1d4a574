import * as v from "valibot";
import { PackedUuid, Uuid } from "./ids.ts";
import { thumbMaxLength } from "./limits/files.ts";
import { pictureEdgePx, postBytesMax, postGraphemesMax } from "./limits/tala.ts";
import { audiences, contactAudiences } from "./settings/settings.ts";
import { cleanText, isBlank, MessageText } from "./text.ts";

/**
 * Tala: short statuses. All signed-in users read the same feed of those for everyone, newest first, so that one cached
 * response serves everybody; statuses for fewer people are added for each reader. Devices hide the statuses of blocked
 * people themselves.
 */

// Browsers without Intl.Segmenter count code points, which are never fewer than graphemes.
const graphemeSegmenter =
  typeof Intl.Segmenter === "function" ? new Intl.Segmenter("fr", { granularity: "grapheme" }) : undefined;

/** Number of user-perceived characters. */
export const countGraphemes = (text: string): number => [...(graphemeSegmenter?.segment(text) ?? text)].length;

/** Text of a status in storable form, empty if nothing is visible. */
export const cleanPost = (text: string): string => (isBlank(text) ? "" : cleanText(text));

/** Text of a status, empty if it only has a picture. */
const PostText = v.pipe(
  v.string(),
  v.check((text) => text === "" || v.is(MessageText, text), "invalid_text"),
  // The size is checked first, so that no huge text is segmented.
  v.check(
    (text) => new TextEncoder().encode(text).length <= postBytesMax && countGraphemes(text) <= postGraphemesMax,
    "post_too_long",
  ),
);

const Pixels = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(pictureEdgePx));

/** Size and thumbhash of a picture as sent by the device. The feed shows the size measured by the server. */
export const PostPicture = v.strictObject({
  width: Pixels,
  height: Pixels,
  thumb: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]*$/), v.maxLength(thumbMaxLength)),
});
export type PostPicture = v.InferOutput<typeof PostPicture>;

/**
 * New status: the JSON part `post` of a form with an optional part `picture` with the image bytes. `id` is chosen by
 * the device, so that publishing is idempotent. Without an
 * audience, as earlier versions send it, the setting applies.
 */
export const NewPost = v.pipe(
  v.strictObject({
    id: Uuid,
    content: PostText,
    picture: v.optional(PostPicture),
    audience: v.optional(v.picklist(audiences)),
  }),
  v.check(({ content, picture }) => picture !== undefined || !isBlank(content), "empty_post"),
);
export type NewPost = v.InferOutput<typeof NewPost>;

const pagePostFields = [
  v.number(), // number: increases with every status of the feed
  PackedUuid,
  v.number(), // author
  v.number(), // time, epoch milliseconds
  v.string(), // content
  v.nullable(v.strictTuple([Pixels, Pixels, v.string()])), // picture: width, height, thumbhash
] as const;
/** A status in the feed. `author` is the index into the page's authors. */
const PagePost = v.strictTuple([...pagePostFields]);
/** People who may read a status that is not for everyone, by the contacts, exceptions and blocks of the moment. */
export type RestrictedAudience = (typeof contactAudiences)[number];
/**
 * A status that this reader may read and not everybody. Its number is a fraction above that of the newest status for
 * everyone at its publication. Only the author learns of exceptions.
 */
const RestrictedPagePost = v.strictTuple([...pagePostFields, v.picklist(contactAudiences)]);
const PageAuthor = v.strictTuple([PackedUuid, v.string(), v.nullable(v.string())]); // id, username, avatar

/**
 * Page of the feed, newest first: at most `postPageRows` statuses in `postPageBytes`, and at most as many again in
 * `restricted`, which belong between them by their numbers. `before` is where the next page begins.
 */
export const PostPage = v.strictObject({
  authors: v.array(PageAuthor),
  posts: v.array(PagePost),
  restricted: v.optional(v.array(RestrictedPagePost)),
  before: v.nullable(v.number()),
});
export type PostPage = v.InferOutput<typeof PostPage>;

/** Result of publishing a status. */
export const Published = v.object({ id: Uuid, number: v.number(), created_at: v.number() });
export type Published = v.InferOutput<typeof Published>;

export const pictureSizes = ["small", "large"] as const;
export type PictureSize = (typeof pictureSizes)[number];

/** Path of a status picture: a WebP image within `pictureSmallPx` or `pictureEdgePx`. */
export const postPicturePath = (author: Uuid, post: Uuid, size: PictureSize): string =>
  `/api/tala/pictures/${author}_${post}?size=${size}`;
