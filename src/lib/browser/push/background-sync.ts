import type { Uuid } from "#contract/ids.ts";

/** Beginning of the names of all databases; a person's local store has their id after it. */
export const storeNamePrefix = "lisolo-";

/** Name of the service worker's outbox of a person (`background-outbox.ts`). */
export const toBackgroundOutboxName = (user: Uuid): string => `${storeNamePrefix}${user}-background`;

/** Tag of the Background Sync event in which the service worker sends unsent messages. */
export const outboxSyncTag = "outbox";

/** Background Sync (W3C), which only Chromium has and which is missing in type libraries. */
type SyncRegistration = { sync?: { register(tag: string): Promise<void> } };

/**
 * Asks the browser to wake the service worker once there is a network, so that it sends unsent messages. Does nothing
 * where that is not possible.
 */
export const requestOutboxSync = async (registration: object | undefined): Promise<void> => {
  try {
    await (registration as SyncRegistration | undefined)?.sync?.register(outboxSyncTag);
  } catch {
    // The person or the browser forbids it.
  }
};
