import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import type { UseFeedResult } from "#sync/hooks/use-feed.ts";

const preloadDistancePx = 1_200; // distance to the end at which loading starts

/** Loads older posts when the end of the list is near. After a failure it waits for the connection or for `load`. */
export const useOlderPosts = (end: RefObject<HTMLElement | null>, { view, loadOlder }: UseFeedResult) => {
  const [isNear, setNear] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const isLoading = useRef(false);
  const isOnline = useLinkState() === "online";

  useEffect(() => {
    if (!end.current) return;
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting ?? false), {
      root: end.current.closest("[data-scroller]"),
      rootMargin: `${preloadDistancePx}px 0px`,
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [end]);

  useEffect(() => {
    if (isOnline) setFailed(false);
  }, [isOnline]);

  const load = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    setFailed(false);
    loadOlder()
      .catch(() => setFailed(true))
      .finally(() => {
        isLoading.current = false;
      });
  }, [loadOlder]);

  const hasOlder = view?.older !== undefined;
  useEffect(() => {
    if (isNear && hasOlder && !hasFailed) load();
  }, [isNear, hasOlder, hasFailed, load]);
  return { hasFailed, load };
};
