import type { Uuid } from "../../contract/ids";

/** The running synchronisation of one person in this tab. */
export type Sync = { readonly userId: Uuid };

/** Opens the person's local store and keeps it level with the server. Once per tab; again for the same person is the same. */
export const startSync = (_userId: Uuid): Promise<Sync> => Promise.reject(new Error("not built yet"));
export const stopSync = (): Promise<void> => Promise.resolve();
/** Sign-out: deletes the person's local data, in this tab and under the others. */
export const wipeLocalData = (_userId: Uuid): Promise<void> => Promise.resolve();
