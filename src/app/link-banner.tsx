import { useSyncExternalStore } from "react";
import { useT } from "../i18n/setup";
import { type LinkState, useLink, useStorageTrouble } from "../sync/hooks";

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

/** One quiet line when the network or the phone's storage cannot be relied on. "Connecting" waits before it shows. */
export function LinkBanner() {
  const t = useT();
  const link = useShownLink();
  const trouble = useStorageTrouble();
  const line = trouble
    ? { icon: "i-ph-warning", text: t(`shell.storage.${trouble}`), look: "bg-danger-soft text-danger" }
    : link === "offline"
      ? { icon: "i-ph-cloud-slash", text: t("shell.link.offline"), look: "bg-raised text-text" }
      : link === "connecting"
        ? { icon: "i-ph-arrows-clockwise", text: t("shell.link.connecting"), look: "bg-raised text-text later" }
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
