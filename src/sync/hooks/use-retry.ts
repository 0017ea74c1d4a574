import { useEffect, useEffectEvent, useRef } from "react";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { useHasNetwork, useLinkState } from "./use-connection.ts";

/**
 * Repeats a failed request with exponential backoff while the device is connected to the server. Waiting for the next
 * reconnection is not enough: a request can also fail just after one, and then no other event would repeat it.
 * `failure` is the result of the last attempt: undefined if nothing has to be repeated, otherwise a new value for each
 * failed attempt.
 */
export const useRetry = (failure: unknown, repeat: () => void): void => {
  const hasNetwork = useHasNetwork();
  // The browser reports the loss of the network a moment before the link state changes.
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
