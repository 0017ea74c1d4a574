type Connection = { saveData?: boolean; effectiveType?: string };

/** Whether this phone asked to save data, or its network is too slow for what nobody asked for. */
export const isConnectionSlow = (): boolean => {
  const { connection } = navigator as Navigator & { connection?: Connection };
  return connection?.saveData === true || /2g$/.test(connection?.effectiveType ?? "");
};
