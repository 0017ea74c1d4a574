import { type Uuid, unpackUuid } from "#contract/ids.ts";
import { feedFreshMs } from "#contract/limits.ts";
import { type PictureSize, type PostPage, postPicturePath } from "#contract/tala.ts";
import type { LocalStore, PostRow } from "#sync/store/database.ts";

/**
 * What this device holds of Tala's feed: the pages it read, one below the other. Where a page ends and what stands below
 * it is not here, its last status says where that begins.
 */

const maxStoredPosts = 200;
/**
 * The newest page says what was so at most that long before it was asked for, the servers' clocks' differences included:
 * what it does not name is gone only if it was here before that.
 */
const maxPageAgeMs = feedFreshMs + 2_000;
const tombstoneTtlMs = 10 * 60_000; // no page that is asked for was made so long ago

/** Which page was last told to be the newest, by the server's mark of it. */
export const feedEtagKey = "feed";

export const postPictureUrl = ({ author, id }: Pick<PostRow, "author" | "id">, size: PictureSize): string =>
  postPicturePath(author, id, size);

type ServerPost = Omit<PostRow, "heardAt" | "checkedAt">;

const toServerPosts = ({ authors, posts }: PostPage): ServerPost[] =>
  posts.flatMap(([number, id, place, at, content, picture]) => {
    const author = authors[place];
    if (!author) return [];
    const [packed, username, avatar] = author;
    const [width, height, thumb] = picture ?? [];
    const shown = width !== undefined && height !== undefined ? { width, height, thumb: thumb ?? "" } : null;
    return { number, id: unpackUuid(id), author: unpackUuid(packed), username, avatar, at, content, picture: shown };
  });

const queryNewestFirst = (store: LocalStore) => store.posts.orderBy("number").reverse();

/** Whether a row that a page does not name, though it speaks of that place, is there no more. */
const isDeletedOnServer = (row: PostRow, upTo: number, askedAt: number): boolean => {
  if (row.goneAt !== undefined) return row.goneAt < askedAt - tombstoneTtlMs;
  return row.number < upTo || row.heardAt < askedAt - maxPageAgeMs;
};

/**
 * Takes in a page: that of the newest statuses, or the one that begins `before`. `mark` is the server's of the newest
 * page, kept only when that page has all that is here; `askedAt` is when the page was asked for. Resolves with how many
 * statuses are gone.
 */
export const storePostPage = (
  store: LocalStore,
  page: PostPage,
  now: number,
  { before, mark, askedAt = now }: { before?: number; mark?: string | null; askedAt?: number } = {},
): Promise<number> =>
  store.transaction("rw", [store.posts, store.meta], async () => {
    const told = toServerPosts(page);
    const newest = told[0]?.number ?? 0;
    const last = told.at(-1);
    const held = await store.posts.bulkGet(told.map(({ number }) => number));
    const rows: PostRow[] = told.map((one, index) => {
      const known = held[index];
      const row: PostRow = { ...one, heardAt: known?.heardAt ?? now, checkedAt: now };
      if (known?.here) row.here = 1;
      if (known?.goneAt !== undefined) row.goneAt = known.goneAt;
      // Only its last one may have something below that is not here.
      if (one === last && page.before !== null) {
        const below = known && !known.loose ? known.below : page.before;
        if (below !== undefined) row.below = below;
      }
      return row;
    });
    await store.posts.bulkPut(rows);
    if (before !== undefined)
      await store.posts.filter(({ below }) => below === before).modify((row) => void delete row.below);
    const named = new Set(told.map(({ number }) => number));
    const from = page.before === null ? 0 : (last?.number ?? 0);
    const speaksOf = ({ number }: PostRow) => number >= from && (before === undefined || number < before);
    const isGone = (row: PostRow) =>
      !named.has(row.number) && speaksOf(row) && isDeletedOnServer(row, before ?? newest, askedAt);
    const gone = await store.posts.filter(isGone).delete();
    if (before !== undefined) return gone;
    const isAll = (await store.posts.where("number").above(newest).count()) === 0;
    if (isAll && mark) await store.meta.put({ key: feedEtagKey, value: mark });
    else await store.meta.delete(feedEtagKey);
    return gone;
  });

/** The server's mark of the newest page, when it is here as it was told. */
export const readFeedEtag = async (store: LocalStore): Promise<string | undefined> => {
  const value = (await store.meta.get(feedEtagKey))?.value;
  return typeof value === "string" ? value : undefined;
};

/** Forgets what is furthest down. */
export const trimPosts = (store: LocalStore): Promise<void> =>
  store.transaction("rw", store.posts, async () => {
    const numbers = await queryNewestFirst(store).primaryKeys();
    const lowest = numbers[maxStoredPosts - 1];
    if (lowest === undefined || numbers.length === maxStoredPosts) return;
    await store.posts.where("number").below(lowest).delete();
    await store.posts.update(lowest, { below: lowest });
  });

/** One's own status is deleted: it is not shown again, whatever a page says. */
export const markPostDeleted = (store: LocalStore, id: Uuid, now: number): Promise<unknown> =>
  store.transaction("rw", [store.posts, store.meta], async () => {
    await store.posts.where("id").equals(id).modify({ goneAt: now });
    await store.meta.delete(feedEtagKey);
  });

export type FeedPost = PostRow & { isHidden: boolean };

/** Whose statuses are not shown: whom I have blocked, and who deleted their account while an older page still names them. */
const readHiddenAuthors = async ({ people }: LocalStore): Promise<Set<Uuid>> => {
  const blocked = await people.where("blocked").equals(1).primaryKeys();
  const gone = people
    .where("state")
    .equals("none")
    .filter(({ deleted }) => deleted === 1);
  return new Set([...blocked, ...(await gone.primaryKeys())]);
};

/**
 * All that is here, newest first, and which of it is not shown: what I deleted, and all of some authors. Whoever is known
 * here looks as everywhere: the page's newer picture would tell that its author blocks me, who am shown an old one.
 */
export const readFeed = (store: LocalStore): Promise<FeedPost[]> =>
  store.transaction("r", [store.posts, store.people], async () => {
    const rows = await queryNewestFirst(store).toArray();
    const hidden = await readHiddenAuthors(store);
    const people = await store.people.bulkGet([...new Set(rows.map(({ author }) => author))]);
    const known = new Map(people.flatMap((person) => (person ? [[person.id, person] as const] : [])));
    return rows.map((row) => {
      const { username = row.username, avatar = row.avatar } = known.get(row.author) ?? {};
      return { ...row, username, avatar, isHidden: row.goneAt !== undefined || hidden.has(row.author) };
    });
  });

export type FeedView = {
  posts: FeedPost[];
  /** How many came since, and whether there are more of them than are here. */
  newer: number;
  hasMoreNewer: boolean;
  /** What is further down: here, or where a page begins that has it. */
  older: "here" | { before: number } | undefined;
};

/**
 * What one looks at: `limit` statuses from the `top` one down, as far as nothing is missing between them. Those above are
 * counted only, so that nothing moves under the eyes; but what was published here shows at once.
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
