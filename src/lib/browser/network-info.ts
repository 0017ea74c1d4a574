type NetworkInfo = { saveData?: boolean; effectiveType?: string };

const getNetworkInfo = (): NetworkInfo | undefined =>
  (navigator as Navigator & { connection?: NetworkInfo }).connection;

/** Whether whoever uses this phone asked to save data. */
export const isDataSaverOn = (): boolean => getNetworkInfo()?.saveData === true;

/** Whether this phone asked to save data, or its network is too slow for what nobody asked for. */
export const isConnectionSlow = (): boolean => isDataSaverOn() || /2g$/.test(getNetworkInfo()?.effectiveType ?? "");
