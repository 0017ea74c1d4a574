import { SyncError } from "#sync/platform/sync-error.ts";

/** Rejects with the SyncError "offline" if code cannot be loaded. */
export const rejectAsOffline = <T>(loading: Promise<T>): Promise<T> =>
  loading.catch(() => {
    throw new SyncError("offline");
  });

// Code that the first pages do not need.
export const loadServerCode = () => rejectAsOffline(import("#sync/engine/server-code.ts"));

export const loadMulticast = () => rejectAsOffline(import("#sync/sending/multicast.ts"));
