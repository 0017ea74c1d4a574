type NetworkInfo = { saveData?: boolean; effectiveType?: string };

const getNetworkInfo = (): NetworkInfo | undefined =>
  (navigator as Navigator & { connection?: NetworkInfo }).connection;

/** Whether the device's data saver is on. */
export const isDataSaverOn = (): boolean => getNetworkInfo()?.saveData === true;

/** Whether the data saver is on, or the network is too slow for optional downloads. */
export const isConnectionSlow = (): boolean => isDataSaverOn() || /2g$/.test(getNetworkInfo()?.effectiveType ?? "");
