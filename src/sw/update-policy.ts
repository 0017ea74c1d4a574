import { dayMs } from "#contract/limits/durations.ts";
import { findCached, saveToCache } from "./safe-cache.ts";

const cacheName = "shell";
const installedAtKey = "/sw-installed-at";
/** Written by a page whose version the server no longer accepts (`src/lib/browser/service-worker.ts`). */
const updateRequiredKey = "/sw-update-required";

const updateMaxAgeMs = 7 * dayMs;

export type UpdateSituation = {
  /** Whether an installed version would go on serving the app. */
  hasActiveWorker: boolean;
  isRequired: boolean;
  /** Time of the last installation, epoch milliseconds; undefined if unknown. */
  installedAt: number | undefined;
  /** Network Information of the browser, if it has any. */
  connection: { saveData?: boolean; type?: string; effectiveType?: string } | undefined;
  now: number;
};

/**
 * Whether a new version is downloaded now. Data is bought by the megabyte: on a slow or metered link an update waits
 * for a better one, for seven days at most, unless the server requires it.
 */
export const shouldInstallUpdate = ({
  hasActiveWorker,
  isRequired,
  installedAt,
  connection,
  now,
}: UpdateSituation): boolean => {
  if (!hasActiveWorker || isRequired || installedAt === undefined || !connection) return true;
  // A time in the future was written before the clock was set back.
  if (now - installedAt > updateMaxAgeMs || installedAt > now) return true;
  if (connection.saveData) return false;
  return connection.type === "wifi" || connection.type === "ethernet" || connection.effectiveType === "4g";
};

/** Situation of the worker that is being installed. */
export const readUpdateSituation = async (hasActiveWorker: boolean): Promise<UpdateSituation> => {
  const [installed, required] = await Promise.all([
    findCached(cacheName, installedAtKey),
    findCached(cacheName, updateRequiredKey),
  ]);
  const installedAt = Number(await installed?.text());
  return {
    hasActiveWorker,
    isRequired: required !== undefined,
    installedAt: Number.isFinite(installedAt) ? installedAt : undefined,
    connection: Reflect.get(navigator, "connection") as UpdateSituation["connection"],
    now: Date.now(),
  };
};

/** Records the installation, also as the answer to a required update. */
export const recordInstallation = async (): Promise<void> => {
  await saveToCache(cacheName, installedAtKey, new Response(String(Date.now())));
  await (await caches.open(cacheName)).delete(updateRequiredKey).catch(() => false);
};

/** Keys of this module in the cache of the app's files. */
export const updatePolicyKeys: readonly string[] = [installedAtKey, updateRequiredKey];
