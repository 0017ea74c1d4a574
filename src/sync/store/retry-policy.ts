import { dayMs } from "#contract/limits/durations.ts";
import type { SyncContext } from "./sync-context.ts";
import { readSyncCursor } from "./sync-cursor.ts";

/** Age at which a message, file or status that the server still cannot take is marked as failed: 7 days. */
const sendGiveUpMs = 7 * dayMs;

/** Attempts before a message is given up by age, because the device's clock may have been set since. */
export const sendGiveUpAttempts = 10;

/** Creation time, by the server's clock, before which unsent data is given up. */
export const readGiveUpTime = async ({ store, platform }: SyncContext): Promise<number> => {
  const { skew } = await readSyncCursor(store);
  return platform.now() + skew - sendGiveUpMs;
};
