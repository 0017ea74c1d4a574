import { useEffect, useState, useSyncExternalStore } from "react";
import { useT } from "../i18n/setup";
import { type LinkState, useLink, useStorageTrouble } from "../sync/hooks";

/** Connecting that lasts no longer is nothing to tell of. */
const connectingQuietMs = 2_500;

const subscribeNetwork = (listener: () => void): (() => void) => {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
};
const hasNetwork = (): boolean => navigator.onLine;

/** A link that works is believed before the browser, one that is being tried is not: the phone knows it has no network. */
const useShownLink = (): LinkState => {
  const link = useLink();
  const isConnected = useSyncExternalStore(subscribeNetwork, hasNetwork);
  return link === "connecting" && !isConnected ? "offline" : link;
};

/** Whether this has been so for a while. */
const useLasting = (isSo: boolean, ms: number): boolean => {
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

/** One quiet line when the network or the phone's storage cannot be relied on; no room is taken without one. */
export function LinkBanner() {
  const t = useT();
  const link = useShownLink();
  const trouble = useStorageTrouble();
  const isConnecting = useLasting(link === "connecting", connectingQuietMs);
  const line = trouble
    ? { icon: "i-ph-warning", text: t(`shell.storage.${trouble}`), look: "bg-danger-soft text-danger" }
    : link === "offline"
      ? { icon: "i-ph-cloud-slash", text: t("shell.link.offline"), look: "bg-raised text-text" }
      : isConnecting
        ? { icon: "i-ph-arrows-clockwise", text: t("shell.link.connecting"), look: "bg-raised text-text" }
        : undefined;
  return (
    <div role="status" className="shrink-0">
      {line && (
        <p
          key={line.icon}
          className={`flex min-h-8 items-center justify-center gap-2 px-4 py-1 text-center text-sm ${line.look}`}
        >
          <span className={`${line.icon} shrink-0 text-base`} aria-hidden="true" />
          {line.text}
        </p>
      )}
    </div>
  );
}
