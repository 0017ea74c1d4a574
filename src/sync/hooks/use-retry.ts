import { useEffect, useEffectEvent, useRef } from "react";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { useHasNetwork, useLinkState } from "./use-connection.ts";

/**
 * Repeats a failed request with exponential back-off while the connection is up. A request may get lost while the network
 * returns or changes, and no later event reports it. `failure` is the result of the last try, a new value for each, and
 * undefined if there is nothing to repeat.
 */
export const useRetry = (failure: unknown, repeat: () => void): void => {
  const hasNetwork = useHasNetwork();
  // The link state notices a lost network a moment later than the browser.
  const isConnected = useLinkState() === "online" && hasNetwork;
  const attempt = useRef(0);
  const retry = useEffectEvent(repeat);
  useEffect(() => {
    if (isConnected) attempt.current = 0;
  }, [isConnected]);
  useEffect(() => {
    if (!isConnected || !failure) return;
    const timer = setTimeout(() => retry(), retryDelayMs(attempt.current++));
    return () => clearTimeout(timer);
  }, [isConnected, failure]);
};
