import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { postPageRows } from "#contract/limits/tala.ts";
import { isDataSaverOn } from "#lib/browser/network-info.ts";
import { FeedPoller, type FeedStatus, fetchOlderPosts } from "#sync/feed/feed-poller.ts";
import { type FeedView, readFeed, toFeedView } from "#sync/feed/feed-store.ts";
import { listPendingPosts, type PendingPost } from "#sync/feed/post-queue.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { requireContext } from "#sync/store/sync-port.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";

export { type FeedPost, postPictureUrl } from "#sync/feed/feed-store.ts";
export type { PendingPost } from "#sync/feed/post-queue.ts";

const recheckMs = 5 * 60_000; // older stored pages are fetched again when they are shown

const loadingStatus: FeedStatus = { at: "looking" };
const loadingSource = { get: () => loadingStatus, subscribe: () => () => {} };

export type UseFeedResult = {
  /** Statuses on screen; undefined until the store was read. */
  view: FeedView | undefined;
  /** Statuses not published yet, newest first. */
  pending: PendingPost[] | undefined;
  status: FeedStatus;
  /** Fetches the newest statuses and resolves to the resulting status of the feed. */
  refresh(): Promise<FeedStatus>;
  /** Freezes the top of the view: from now on newer statuses are only counted. */
  startReading(): void;
  /** Shows the newer statuses. */
  showNewest(): void;
  /** Shows one more page of older statuses. Rejects with a SyncError. */
  loadOlder(): Promise<void>;
};

/**
 * Lists the queue before the feed, so that a status published in between is in both and never missing; the queue's is
 * then left out. Both reads of the store begin before anything else is awaited, so that they are observed.
 */
const readFeedState = async (context: SyncContext) => {
  const queue = listPendingPosts(context);
  const rows = await readFeed(context.store);
  const published = new Set(rows.map(({ id }) => id));
  return { pending: (await queue).filter(({ id }) => !published.has(id)), rows };
};

/** The Tala feed on screen: stored statuses at once, then polled from the server. */
export const useFeed = (): UseFeedResult => {
  const engine = useEngine();
  const { rows, pending } = useLiveQuery("tala", readFeedState) ?? {};
  const [poller, setPoller] = useState<FeedPoller>();
  const [top, setTop] = useState<number>();
  const [limit, setLimit] = useState(postPageRows);
  const fetchedBefore = useRef<number>(undefined);
  useEffect(() => {
    if (!engine) return;
    const poller = new FeedPoller(engine.client, isDataSaverOn);
    setPoller(poller);
    return () => poller.stop();
  }, [engine]);
  const { get, subscribe } = poller?.status ?? loadingSource;
  const status = useSyncExternalStore(subscribe, get);

  // The newest status is the top until the first answer or until the person starts reading.
  const newest = rows?.[0]?.number;
  const [isOpened, setOpened] = useState(false);
  if (isOpened && top === undefined && newest !== undefined) setTop(newest);
  const isLoaded = status.at === "seen";
  useEffect(() => {
    if (!isLoaded || isOpened || !engine) return;
    let isCurrent = true;
    // Read from the store, which has the answer a moment before `rows`.
    const freezeTop = (first: number | undefined) => {
      if (!isCurrent) return;
      if (first !== undefined) setTop((before) => before ?? first);
      setOpened(true);
    };
    readFeed(requireContext(engine.client).store).then(
      ([first]) => freezeTop(first?.number),
      () => freezeTop(undefined),
    );
    return () => {
      isCurrent = false;
    };
  }, [isLoaded, isOpened, engine]);
  const startReading = useCallback(() => setOpened(true), []);
  const view = useMemo(() => rows && toFeedView(rows, top ?? newest ?? 0, limit), [rows, top, newest, limit]);

  const refresh = useCallback(async () => poller?.refresh() ?? loadingStatus, [poller]);
  const showNewest = useCallback(() => {
    setTop(newest);
    setLimit(postPageRows);
    fetchedBefore.current = undefined;
  }, [newest]);
  const loadOlder = useCallback(async () => {
    if (!engine || !view?.older) return;
    const context = requireContext(engine.client);
    const last = view.posts.at(-1);
    if (view.older !== "here") {
      const { before } = view.older;
      if (fetchedBefore.current === before) return; // the page was fetched and is about to show
      await fetchOlderPosts(context, before);
      fetchedBefore.current = before;
    } else if (last && last.checkedAt < engine.client.platform.now() - recheckMs)
      fetchOlderPosts(context, last.number).catch(() => undefined); // the stored page stays
    setLimit((before) => before + postPageRows);
  }, [engine, view]);
  return { view, pending, status, refresh, startReading, showNewest, loadOlder };
};
