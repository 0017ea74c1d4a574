import { useEffect, useEffectEvent, useRef } from "react";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { useHasNetwork } from "./use-connection.ts";
import { useLinkState } from "./use-live-query.ts";

/**
 * Asks again, ever more seldom, while the link says that there is a way: a question may get lost just as the network
 * comes back or is exchanged for another, and nothing tells of that afterwards. `unanswered` is what became of the last
 * try, a new value for each, and undefined when there is nothing to ask again.
 */
export const useRetry = (unanswered: unknown, again: () => void): void => {
  const hasNetwork = useHasNetwork();
  // The link takes a moment to notice that the network is gone.
  const isLinked = useLinkState() === "online" && hasNetwork;
  const attempt = useRef(0);
  const retry = useEffectEvent(again);
  useEffect(() => {
    if (isLinked) attempt.current = 0;
  }, [isLinked]);
  useEffect(() => {
    if (!isLinked || !unanswered) return;
    const timer = setTimeout(() => retry(), retryDelayMs(attempt.current++));
    return () => clearTimeout(timer);
  }, [isLinked, unanswered]);
};
