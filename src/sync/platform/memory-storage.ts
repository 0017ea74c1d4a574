import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import type { Platform } from "./platform.ts";

/** IndexedDB in memory, for browsers without storage. Loaded only when needed. */
export const createMemoryIndexedDb = (): NonNullable<Platform["indexedDb"]> => ({
  indexedDB: new IDBFactory(),
  IDBKeyRange,
});
