type NetworkInformation = EventTarget & { type?: string };

type NetworkEvents = {
  /** The network is there again, or is another one. */
  changed(): void;
  /** It may be: how fast it is was guessed anew. */
  maybeChanged(): void;
  /** This page goes, for good or to be loaded again. */
  pageHiding(): void;
};

/** Tells of this device's network until it is told not to. */
export const watchNetwork = ({ changed, maybeChanged, pageHiding }: NetworkEvents): (() => void) => {
  const network = (navigator as Navigator & { connection?: NetworkInformation }).connection;
  let type = network?.type;
  // Fires for every new guess at how fast the network is; only another kind of network is a reason by itself.
  const onChange = () => {
    const isOther = network?.type !== type && network?.type !== "none";
    type = network?.type;
    if (isOther) changed();
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
