import { useEffect, useState, useSyncExternalStore } from "react";
import { type LinkState, useLinkState } from "./use-live-query.ts";

/** Connecting that lasts no longer is nothing to tell of. */
const connectingGraceMs = 2_500;
/** A link that works this long after the browser said that there is no network has been asked meanwhile, and has answered. */
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

/** Whether this has been so for a while. */
const useHasLasted = (isSo: boolean, ms: number): boolean => {
  const [hasLasted, setLasted] = useState(false);
  useEffect(() => {
    if (!isSo) return;
    const timer = setTimeout(() => setLasted(true), ms);
    return () => {
      clearTimeout(timer);
      setLasted(false);
    };
  }, [isSo, ms]);
  return isSo && hasLasted;
};

/** Whether the phone says that it has a network. */
export const useHasNetwork = (): boolean => useSyncExternalStore(subscribeNetwork, hasNetwork);

/**
 * Whether there is no use in asking the server for anything. The browser's word that there is no network counts at once; a
 * link that goes on working is believed more than the browser after a while.
 */
export const useIsOffline = (): boolean => {
  const link = useLinkState();
  const isConnected = useHasNetwork();
  const isProven = useHasLasted(link === "online" && !isConnected, linkTrustMs);
  return link === "offline" || (!isConnected && !isProven);
};

/** The way to the server as a person is told of it. */
export const useShownLink = (): LinkState => {
  const link = useLinkState();
  const isOffline = useIsOffline();
  const isLasting = useHasLasted(link === "connecting" && !isOffline, connectingGraceMs);
  if (isOffline) return "offline";
  if (link !== "connecting") return link;
  return isLasting ? "connecting" : "online";
};
