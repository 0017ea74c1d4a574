import { useEffect, useState, useSyncExternalStore } from "react";
import type { LinkState } from "#sync/store/view-models.ts";
import { emptySource, useEngine } from "./use-live-query.ts";

export type { LinkState } from "#sync/store/view-models.ts";

const disconnectedLink = { get: (): LinkState => "connecting", subscribe: emptySource.subscribe };

/** State of the connection to the server. */
export const useLinkState = (): LinkState => {
  const engine = useEngine();
  const link = engine?.client.link ?? disconnectedLink;
  return useSyncExternalStore<LinkState>(link.subscribe, link.get, () => "connecting");
};

/** Reconnections shorter than this are not shown. */
const connectingGraceMs = 2_500;
/** Same for the first connection, which begins once the first screen is drawn. */
const firstConnectingGraceMs = 6_000;
/** If the link stays up this long although the browser reports no network, a ping has been answered since. */
const linkTrustMs = 6_000;

const subscribeNetwork = (listener: () => void): (() => void) => {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
};
const hasNetwork = (): boolean => navigator.onLine;

/** Whether a condition has been true for `ms`. */
const useHasLasted = (isTrue: boolean, ms: number): boolean => {
  const [hasLasted, setLasted] = useState(false);
  useEffect(() => {
    if (!isTrue) return;
    const timer = setTimeout(() => setLasted(true), ms);
    return () => {
      clearTimeout(timer);
      setLasted(false);
    };
  }, [isTrue, ms]);
  return isTrue && hasLasted;
};

/** Whether the browser reports a network. */
export const useHasNetwork = (): boolean => useSyncExternalStore(subscribeNetwork, hasNetwork);

/**
 * Whether requests to the server would fail. The browser's report of no network counts at once, until the link has
 * stayed up for `linkTrustMs` in spite of it.
 */
export const useIsOffline = (): boolean => {
  const link = useLinkState();
  const isConnected = useHasNetwork();
  const isProven = useHasLasted(link === "online" && !isConnected, linkTrustMs);
  return link === "offline" || (!isConnected && !isProven);
};

/** Connection state for display: short reconnects are shown as online. */
export const useShownLink = (): LinkState => {
  const link = useLinkState();
  const isOffline = useIsOffline();
  const graceMs = useEngine()?.client.wasOnline ? connectingGraceMs : firstConnectingGraceMs;
  const isLasting = useHasLasted(link === "connecting" && !isOffline, graceMs);
  if (isOffline) return "offline";
  if (link !== "connecting") return link;
  return isLasting ? "connecting" : "online";
};
