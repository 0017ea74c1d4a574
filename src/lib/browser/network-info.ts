type Connection = { saveData?: boolean; effectiveType?: string };

const connectionOf = (): Connection | undefined => (navigator as Navigator & { connection?: Connection }).connection;

/** Whether whoever uses this phone asked to save data. */
export const isSavingData = (): boolean => connectionOf()?.saveData === true;

/** Whether this phone asked to save data, or its network is too slow for what nobody asked for. */
export const isConnectionSlow = (): boolean => isSavingData() || /2g$/.test(connectionOf()?.effectiveType ?? "");
