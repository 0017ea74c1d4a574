import { hourMs } from "#contract/limits/durations.ts";

/** Beginning of the names of all databases; a person's local store has their id after it. */
export const storeNamePrefix = "lisolo-";

/** Tag of the Background Sync event in which the service worker sends unsent messages. */
export const outboxSyncTag = "outbox";

/** Background Sync and Periodic Background Sync (W3C), which only Chromium has and which type libraries lack. */
type SyncRegistration = {
  sync?: { register(tag: string): Promise<void> };
  periodicSync?: {
    register(tag: string, options: { minInterval: number }): Promise<void>;
    unregister(tag: string): Promise<void>;
  };
};

const periodMs = 12 * hourMs; // browsers allow no shorter one

/**
 * Asks the browser to wake the service worker once there is a network, so that it sends unsent messages, and for an
 * installed app also periodically, because it gives up after a few attempts. Does nothing where that is not possible.
 */
export const requestOutboxSync = async (registration: object | undefined): Promise<void> => {
  const { sync, periodicSync } = (registration ?? {}) as SyncRegistration;
  // The person or the browser may forbid it.
  await sync?.register(outboxSyncTag).catch(() => {});
  await periodicSync?.register(outboxSyncTag, { minInterval: periodMs }).catch(() => {});
};

/** Ends the periodic attempts, because nothing is unsent any more. */
export const endPeriodicOutboxSync = async (registration: object): Promise<void> =>
  (registration as SyncRegistration).periodicSync?.unregister(outboxSyncTag).catch(() => {});
