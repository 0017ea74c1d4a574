type NetworkInformation = EventTarget & { type?: string };

type NetworkEvents = {
  /** The network is back, or it is a different one. */
  changed(): void;
  /** The network may have changed: the browser has a new speed estimate. */
  maybeChanged(): void;
  /** The page is being closed or reloaded. */
  pageHiding(): void;
};

/** Observes the network of this device. Returns a function that stops it. */
export const watchNetwork = ({ changed, maybeChanged, pageHiding }: NetworkEvents): (() => void) => {
  const network = (navigator as Navigator & { connection?: NetworkInformation }).connection;
  let type = network?.type;
  // Fires for every new speed estimate; only another network type counts as a change.
  const onChange = () => {
    const isOtherType = network?.type !== type && network?.type !== "none";
    type = network?.type;
    if (isOtherType) changed();
    else maybeChanged();
  };
  addEventListener("online", changed);
  addEventListener("pagehide", pageHiding);
  network?.addEventListener("change", onChange);
  return () => {
    removeEventListener("online", changed);
    removeEventListener("pagehide", pageHiding);
    network?.removeEventListener("change", onChange);
  };
};
