import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { postPageRows } from "#contract/limits.ts";
import { isSavingData } from "#lib/browser/network-info.ts";
import { running } from "#sync/engine.ts";
import { bringOlder, FeedLooker, type Looking } from "#sync/feed/feed-poller.ts";
import { type FeedView, readFeed, toFeedView } from "#sync/feed/feed-store.ts";
import { readPostbox, type WaitingPost } from "#sync/feed/post-queue.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import type { Context } from "#sync/store/context.ts";
import { useLive } from "./use-live-query.ts";

export { type FeedRow, picturePath } from "#sync/feed/feed-store.ts";
export type { WaitingPost } from "#sync/feed/post-queue.ts";

const recheckMs = 5 * 60_000; // what was asked for longer ago is asked for again when somebody comes to it

const asking: Looking = { at: "looking" };
const silent = { get: () => asking, subscribe: () => () => {} };

export type Feed = {
  /** Undefined until the store was read. */
  view: FeedView | undefined;
  /** What waits to be published, the newest first; some of it may be in view already. */
  waiting: WaitingPost[] | undefined;
  looking: Looking;
  /** Asks now for the newest, and says how it stands then. */
  again(): Promise<Looking>;
  /** Somebody reads: from now on what comes waits above what is shown. */
  begin(): void;
  /** Shows what came since. */
  showNewest(): void;
  /** Shows what is further down; rejects with a SyncError when that cannot be had. */
  loadOlder(): Promise<void>;
};

/** What waits is read first: what is published meanwhile stands in both of the two for a moment, and never in neither. */
const readTala = async (context: Context) => {
  const waiting = await readPostbox(context);
  return { waiting, rows: await readFeed(context.store) };
};

/** The feed while somebody looks at it: from this phone at once, and asked for again and again. */
export const useFeed = (): Feed => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const { rows, waiting } = useLive("tala", readTala) ?? {};
  const [looker, setLooker] = useState<FeedLooker>();
  const [top, setTop] = useState<number>();
  const [limit, setLimit] = useState(postPageRows);
  const broughtBefore = useRef<number>(undefined);
  useEffect(() => {
    if (!sync) return;
    const looker = new FeedLooker(sync.tab, isSavingData);
    setLooker(looker);
    return () => looker.stop();
  }, [sync]);
  const { get, subscribe } = looker?.looking ?? silent;
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

  const again = useCallback(async () => looker?.again() ?? asking, [looker]);
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
      await bringOlder(context, before);
      broughtBefore.current = before;
    } else if (last && last.checkedAt < sync.tab.platform.now() - recheckMs)
      bringOlder(context, last.number).catch(() => undefined); // what is here stays
    setLimit((before) => before + postPageRows);
  }, [sync, view]);
  return { view, waiting, looking, again, begin, showNewest, loadOlder };
};
