type NetworkInformation = EventTarget & { type?: string };

type NetworkEvents = {
  /** The network is there again, or is another one. */
  changed(): void;
  /** It may be: how fast it is was guessed anew. */
  doubted(): void;
  /** This page goes, for good or to be loaded again. */
  leaving(): void;
};

/** Tells of this device's network until it is told not to. */
export const watchNetwork = ({ changed, doubted, leaving }: NetworkEvents): (() => void) => {
  const network = (navigator as Navigator & { connection?: NetworkInformation }).connection;
  let type = network?.type;
  // Fires for every new guess at how fast the network is; only another kind of network is a reason by itself.
  const onChange = () => {
    const isOther = network?.type !== type && network?.type !== "none";
    type = network?.type;
    if (isOther) changed();
    else doubted();
  };
  addEventListener("online", changed);
  addEventListener("pagehide", leaving);
  network?.addEventListener("change", onChange);
  return () => {
    removeEventListener("online", changed);
    removeEventListener("pagehide", leaving);
    network?.removeEventListener("change", onChange);
  };
};
