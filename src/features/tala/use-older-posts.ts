import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { UseFeedResult } from "#sync/hooks/use-feed.ts";
import { useLinkState } from "#sync/hooks/use-live-query.ts";

const preloadDistancePx = 1_200; // it is asked for before it is reached

/** Shows what is further down as its end comes near. What fails waits for the link, or to be asked for. */
export const useOlderPosts = (end: RefObject<HTMLElement | null>, { view, loadOlder }: UseFeedResult) => {
  const [isNear, setNear] = useState(false);
  const [isStuck, setStuck] = useState(false);
  const isAsking = useRef(false);
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
    if (isOnline) setStuck(false);
  }, [isOnline]);

  const ask = useCallback(() => {
    if (isAsking.current) return;
    isAsking.current = true;
    setStuck(false);
    loadOlder()
      .catch(() => setStuck(true))
      .finally(() => {
        isAsking.current = false;
      });
  }, [loadOlder]);

  const hasOlder = view?.older !== undefined;
  useEffect(() => {
    if (isNear && hasOlder && !isStuck) ask();
  }, [isNear, hasOlder, isStuck, ask]);
  return { isStuck, ask };
};
