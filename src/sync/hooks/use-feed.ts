import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { postPageRows } from "#contract/limits.ts";
import { isDataSaverOn } from "#lib/browser/network-info.ts";
import { activeEngine } from "#sync/engine.ts";
import { FeedPoller, type FeedStatus, fetchOlderPosts } from "#sync/feed/feed-poller.ts";
import { type FeedView, readFeed, toFeedView } from "#sync/feed/feed-store.ts";
import { listPendingPosts, type PendingPost } from "#sync/feed/post-queue.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { useLiveQuery } from "./use-live-query.ts";

export { type FeedPost, postPictureUrl } from "#sync/feed/feed-store.ts";
export type { PendingPost } from "#sync/feed/post-queue.ts";

const recheckMs = 5 * 60_000; // what was asked for longer ago is asked for again when somebody comes to it

const loadingStatus: FeedStatus = { at: "looking" };
const loadingSource = { get: () => loadingStatus, subscribe: () => () => {} };

export type UseFeedResult = {
  /** Undefined until the store was read. */
  view: FeedView | undefined;
  /** What waits to be published, the newest first; some of it may be in view already. */
  pending: PendingPost[] | undefined;
  status: FeedStatus;
  /** Asks now for the newest, and says how it stands then. */
  refresh(): Promise<FeedStatus>;
  /** Somebody reads: from now on what comes waits above what is shown. */
  startReading(): void;
  /** Shows what came since. */
  showNewest(): void;
  /** Shows what is further down; rejects with a SyncError when that cannot be had. */
  loadOlder(): Promise<void>;
};

/** What waits is read first: what is published meanwhile stands in both of the two for a moment, and never in neither. */
const readFeedState = async (context: SyncContext) => {
  const waiting = await listPendingPosts(context);
  return { waiting, rows: await readFeed(context.store) };
};

/** The feed while somebody looks at it: from this phone at once, and asked for again and again. */
export const useFeed = (): UseFeedResult => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const { rows, waiting } = useLiveQuery("tala", readFeedState) ?? {};
  const [looker, setLooker] = useState<FeedPoller>();
  const [top, setTop] = useState<number>();
  const [limit, setLimit] = useState(postPageRows);
  const broughtBefore = useRef<number>(undefined);
  useEffect(() => {
    if (!sync) return;
    const looker = new FeedPoller(sync.tab, isDataSaverOn);
    setLooker(looker);
    return () => looker.stop();
  }, [sync]);
  const { get, subscribe } = looker?.status ?? loadingSource;
  const looking = useSyncExternalStore(subscribe, get);

  // Until the first answer, or until somebody begins to read, the newest is what one reads.
  const newest = rows?.[0]?.number;
  const [isOpened, setOpened] = useState(false);
  if (isOpened && top === undefined && newest !== undefined) setTop(newest);
  const isSeen = looking.at === "seen";
  useEffect(() => {
    if (!isSeen || isOpened || !sync) return;
    let isCurrent = true;
    // The answer stands in the store a moment before it does in `rows`.
    const settle = (first: number | undefined) => {
      if (!isCurrent) return;
      if (first !== undefined) setTop((before) => before ?? first);
      setOpened(true);
    };
    readFeed(getContext(sync.tab).store).then(
      ([first]) => settle(first?.number),
      () => settle(undefined),
    );
    return () => {
      isCurrent = false;
    };
  }, [isSeen, isOpened, sync]);
  const begin = useCallback(() => setOpened(true), []);
  const view = useMemo(() => rows && toFeedView(rows, top ?? newest ?? 0, limit), [rows, top, newest, limit]);

  const again = useCallback(async () => looker?.refresh() ?? loadingStatus, [looker]);
  const showNewest = useCallback(() => {
    setTop(newest);
    setLimit(postPageRows);
    broughtBefore.current = undefined;
  }, [newest]);
  const loadOlder = useCallback(async () => {
    if (!sync || !view?.older) return;
    const context = getContext(sync.tab);
    const last = view.posts.at(-1);
    if (view.older !== "here") {
      const { before } = view.older;
      if (broughtBefore.current === before) return; // it is here, and about to show
      await fetchOlderPosts(context, before);
      broughtBefore.current = before;
    } else if (last && last.checkedAt < sync.tab.platform.now() - recheckMs)
      fetchOlderPosts(context, last.number).catch(() => undefined); // what is here stays
    setLimit((before) => before + postPageRows);
  }, [sync, view]);
  return { view, pending: waiting, status: looking, refresh: again, startReading: begin, showNewest, loadOlder };
};
