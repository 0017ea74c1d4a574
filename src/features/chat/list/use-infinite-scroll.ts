import { useCallback, useEffect, useRef, useState } from "react";
import { showToast } from "#components/overlays/toast.tsx";
import { type TextKey, t } from "#i18n/setup.ts";
import { useLinkState } from "#sync/hooks/use-live-query.ts";

const prefetchWithinRows = 15; // asked for before they are reached
const retryAfterMs = 5_000;

/**
 * Asks for the next page at one end of the list as the reader comes near it. After a failure it waits: for the
 * link when there is none, else a moment. The second value says that it waits.
 */
export const useInfiniteScroll = (
  isWanted: boolean,
  load: (() => Promise<void>) | undefined,
  /** What is said when it fails. */
  failed: TextKey,
): [reach: (rowsLeft: number | undefined) => void, isStuck: boolean] => {
  const isOnline = useLinkState() === "online";
  const [isStuck, setStuck] = useState(false);
  const isAsking = useRef(false);
  const hasTold = useRef(false);

  const wasOnline = useRef(isOnline);
  useEffect(() => {
    const isBack = isOnline && !wasOnline.current;
    wasOnline.current = isOnline;
    if (!isStuck || !isOnline) return;
    const timer = setTimeout(() => setStuck(false), isBack ? 0 : retryAfterMs);
    return () => clearTimeout(timer);
  }, [isStuck, isOnline]);

  const ask = useCallback(
    async (more: () => Promise<void>) => {
      isAsking.current = true;
      try {
        await more();
        hasTold.current = false;
      } catch {
        setStuck(true);
        if (isOnline && !hasTold.current) {
          hasTold.current = true;
          showToast({ tone: "danger", title: t("common.error"), message: t(failed) });
        }
      } finally {
        isAsking.current = false;
      }
    },
    [isOnline, failed],
  );
  const reach = useCallback(
    (rowsLeft: number | undefined) => {
      if (rowsLeft === undefined || rowsLeft > prefetchWithinRows || !isWanted || !load || isStuck || isAsking.current)
        return;
      void ask(load);
    },
    [isWanted, load, isStuck, ask],
  );
  return [reach, isStuck];
};
