import { type Uuid, unpackUuid } from "#contract/ids.ts";
import { feedFreshMs } from "#contract/limits/tala.ts";
import { type PictureSize, type PostPage, postPicturePath } from "#contract/tala.ts";
import type { LocalStore } from "#sync/store/database.ts";
import type { PostRow } from "#sync/store/post-rows.ts";

/**
 * Local copy of the Tala feed: the pages this device loaded, newest first. The last status of a page whose successor is
 * missing says in `below` where the missing page begins.
 */

const maxStoredPosts = 200;
/**
 * Greatest age of the newest page when it is requested, including differences between the servers' clocks. A status
 * that the page omits was deleted only if this device had it before that.
 */
const maxPageAgeMs = feedFreshMs + 2_000;
const tombstoneTtlMs = 10 * 60_000; // no page is older than this when it arrives

/** Key in `meta` of the ETag of the newest page. */
export const feedEtagKey = "feed";

/** URL of a status's picture. */
export const postPictureUrl = ({ author, id }: Pick<PostRow, "author" | "id">, size: PictureSize): string =>
  postPicturePath(author, id, size);

type ServerPost = Omit<PostRow, "heardAt" | "checkedAt">;

/** Statuses of a page, newest first. Those that not everybody may read stand between the others by their numbers. */
const toServerPosts = ({ authors, posts, restricted = [] }: PostPage): ServerPost[] =>
  [...posts.map((post) => [...post, undefined] as const), ...restricted]
    .sort(([one], [other]) => other - one)
    .flatMap(([number, id, authorIndex, at, content, picture, audience]) => {
      const author = authors[authorIndex];
      if (!author) return [];
      const [authorId, username, avatar] = author;
      const [width, height, thumb] = picture ?? [];
      const pictureInfo = width !== undefined && height !== undefined ? { width, height, thumb: thumb ?? "" } : null;
      return {
        number,
        id: unpackUuid(id),
        author: unpackUuid(authorId),
        username,
        avatar,
        at,
        content,
        picture: pictureInfo,
        ...(audience && { audience }),
      };
    });

const queryNewestFirst = (store: LocalStore) => store.posts.orderBy("number").reverse();

/** Whether a stored status that a page omits although it covers its number was deleted on the server. */
const isDeletedOnServer = (row: PostRow, upTo: number, requestedAt: number): boolean => {
  if (row.goneAt !== undefined) return row.goneAt < requestedAt - tombstoneTtlMs;
  return row.number < upTo || row.heardAt < requestedAt - maxPageAgeMs;
};

/**
 * Stores a page: the newest statuses, or the page `before` a number. `etag` of the newest page is kept only if the page
 * has all newest statuses of this device. `requestedAt` is when the page was requested. Resolves to the number of
 * statuses deleted here.
 */
export const storePostPage = (
  store: LocalStore,
  page: PostPage,
  now: number,
  { before, etag, requestedAt = now }: { before?: number; etag?: string | null; requestedAt?: number } = {},
): Promise<number> =>
  store.transaction("rw", [store.posts, store.meta], async () => {
    const posts = toServerPosts(page);
    const newest = posts[0]?.number ?? 0;
    const last = posts.at(-1);
    const storedRows = await store.posts.bulkGet(posts.map(({ number }) => number));
    const rows: PostRow[] = posts.map((post, index) => {
      const stored = storedRows[index];
      const row: PostRow = { ...post, heardAt: stored?.heardAt ?? now, checkedAt: now };
      if (stored?.here) row.here = 1;
      if (stored?.goneAt !== undefined) row.goneAt = stored.goneAt;
      // Only the last status of a page may have a missing page below it.
      if (post === last && page.before !== null) {
        const below = stored && !stored.loose ? stored.below : page.before;
        if (below !== undefined) row.below = below;
      }
      return row;
    });
    await store.posts.bulkPut(rows);
    if (before !== undefined)
      await store.posts.filter(({ below }) => below === before).modify((row) => void delete row.below);
    const named = new Set(posts.map(({ number }) => number));
    const from = page.before === null ? 0 : (last?.number ?? 0);
    const isCovered = ({ number }: PostRow) => number >= from && (before === undefined || number < before);
    const isDeleted = (row: PostRow) =>
      !named.has(row.number) && isCovered(row) && isDeletedOnServer(row, before ?? newest, requestedAt);
    const deleted = await store.posts.filter(isDeleted).delete();
    if (before !== undefined) return deleted;
    const hasNewest = (await store.posts.where("number").above(newest).count()) === 0;
    if (hasNewest && etag) await store.meta.put({ key: feedEtagKey, value: etag });
    else await store.meta.delete(feedEtagKey);
    return deleted;
  });

/** ETag of the newest page if that page is stored unchanged. */
export const readFeedEtag = async (store: LocalStore): Promise<string | undefined> => {
  const value = (await store.meta.get(feedEtagKey))?.value;
  return typeof value === "string" ? value : undefined;
};

/** Deletes the oldest statuses beyond `maxStoredPosts`. */
export const trimPosts = (store: LocalStore): Promise<void> =>
  store.transaction("rw", store.posts, async () => {
    const numbers = await queryNewestFirst(store).primaryKeys();
    const lowest = numbers[maxStoredPosts - 1];
    if (lowest === undefined || numbers.length === maxStoredPosts) return;
    await store.posts.where("number").below(lowest).delete();
    await store.posts.update(lowest, { below: lowest });
  });

/** Marks an own status as deleted, so that it stays hidden even if an older page still names it. */
export const markPostDeleted = (store: LocalStore, id: Uuid, now: number): Promise<unknown> =>
  store.transaction("rw", [store.posts, store.meta], async () => {
    await store.posts.where("id").equals(id).modify({ goneAt: now });
    await store.meta.delete(feedEtagKey);
  });

export type FeedPost = PostRow & { isHidden: boolean };

/** Authors whose statuses are hidden: blocked people, and deleted accounts that an older page still names. */
const readHiddenAuthors = async ({ people }: LocalStore): Promise<Set<Uuid>> => {
  const blocked = await people.where("blocked").equals(1).primaryKeys();
  const deleted = people
    .where("state")
    .equals("none")
    .filter(({ deleted }) => deleted === 1);
  return new Set([...blocked, ...(await deleted.primaryKeys())]);
};

/**
 * Stored statuses, newest first, with a flag for those to hide: own deleted ones, those of hidden authors, and those
 * for contacts whose author is none any more, which the server leaves out of the next page. Names and pictures of
 * people known to this device come from their local rows, as on every screen. The page's newer picture would reveal
 * that an author blocks this person, who is shown an old one elsewhere.
 */
export const readFeed = (store: LocalStore): Promise<FeedPost[]> =>
  store.transaction("r", [store.posts, store.people], async () => {
    const rows = await queryNewestFirst(store).toArray();
    const hidden = await readHiddenAuthors(store);
    const people = await store.people.bulkGet([...new Set(rows.map(({ author }) => author))]);
    const known = new Map(people.flatMap((person) => (person ? [[person.id, person] as const] : [])));
    return rows.map((row) => {
      const person = known.get(row.author);
      const { username = row.username, avatar = row.avatar } = person ?? {};
      const isForContacts = row.audience !== undefined && person !== undefined && person.state !== "contact";
      const isHidden = row.goneAt !== undefined || hidden.has(row.author) || isForContacts;
      return { ...row, username, avatar, isHidden };
    });
  });

export type FeedView = {
  posts: FeedPost[];
  /** Number of newer statuses above the view; `hasMoreNewer`: some of them are not loaded. */
  newer: number;
  hasMoreNewer: boolean;
  /** Source of older statuses: stored here, or the page `before` a number, or none. */
  older: "here" | { before: number } | undefined;
};

/**
 * Part of the feed on screen: `limit` statuses from number `top` downwards, up to the first missing page. Newer
 * statuses are only counted, so that the list does not move; statuses published on this device are shown at once.
 */
export const toFeedView = (rows: readonly FeedPost[], top: number, limit: number): FeedView => {
  const view: FeedView = { posts: [], newer: 0, hasMoreNewer: false, older: undefined };
  for (const row of rows) {
    const isAbove = row.number > top;
    if (!isAbove && view.posts.length >= limit) return { ...view, older: "here" };
    if (!row.isHidden && (!isAbove || row.here)) view.posts.push(row);
    else if (!row.isHidden) view.newer++;
    if (row.below === undefined) continue;
    if (!isAbove) return { ...view, older: { before: row.below } };
    view.hasMoreNewer = true;
  }
  return view;
};
