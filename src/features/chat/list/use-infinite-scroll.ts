import { useCallback, useEffect, useRef, useState } from "react";
import { showToast } from "#components/overlays/toast.tsx";
import { type TextKey, t } from "#i18n/setup.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";

const prefetchWithinRows = 15; // a page is requested this many rows before the end of the list
const retryAfterMs = 5_000;

/**
 * Loads the next page at one end of the list when the visible rows come near it. After a failure it waits for the
 * connection, or `retryAfterMs` while online. Returns the scroll callback and whether it waits to retry.
 */
export const useInfiniteScroll = (
  isEnabled: boolean,
  load: (() => Promise<void>) | undefined,
  /** Toast message after a failure. */
  failureText: TextKey,
): [onRowsLeft: (rowsLeft: number | undefined) => void, isWaitingToRetry: boolean] => {
  const isOnline = useLinkState() === "online";
  const [isWaitingToRetry, setWaitingToRetry] = useState(false);
  const isLoading = useRef(false);
  const hasShownToast = useRef(false);

  const wasOnline = useRef(isOnline);
  useEffect(() => {
    const isReconnected = isOnline && !wasOnline.current;
    wasOnline.current = isOnline;
    if (!isWaitingToRetry || !isOnline) return;
    const timer = setTimeout(() => setWaitingToRetry(false), isReconnected ? 0 : retryAfterMs);
    return () => clearTimeout(timer);
  }, [isWaitingToRetry, isOnline]);

  const loadPage = useCallback(
    async (loadNext: () => Promise<void>) => {
      isLoading.current = true;
      try {
        await loadNext();
        hasShownToast.current = false;
      } catch {
        setWaitingToRetry(true);
        if (isOnline && !hasShownToast.current) {
          hasShownToast.current = true;
          showToast({ tone: "danger", title: t("common.error"), message: t(failureText) });
        }
      } finally {
        isLoading.current = false;
      }
    },
    [isOnline, failureText],
  );
  const onRowsLeft = useCallback(
    (rowsLeft: number | undefined) => {
      if (
        rowsLeft === undefined ||
        rowsLeft > prefetchWithinRows ||
        !isEnabled ||
        !load ||
        isWaitingToRetry ||
        isLoading.current
      )
        return;
      void loadPage(load);
    },
    [isEnabled, load, isWaitingToRetry, loadPage],
  );
  return [onRowsLeft, isWaitingToRetry];
};
