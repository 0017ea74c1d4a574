import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import type { Platform } from "./platform.ts";

/** Where a browser gives no storage: IndexedDB in memory, so that everything else stays as it is. Loaded only then. */
export const createMemoryIndexedDb = (): NonNullable<Platform["indexedDb"]> => ({
  indexedDB: new IDBFactory(),
  IDBKeyRange,
});
