import type { SyncContext } from "./sync-context.ts";

const persistenceKey = "persistenceAsked";
const askedContexts = new WeakSet<SyncContext>();

/** Requests persistent storage from the browser, once per device. */
export const requestPersistenceOnce = async (context: SyncContext): Promise<void> => {
  if (askedContexts.has(context)) return;
  askedContexts.add(context);
  const { store, platform } = context;
  if (await store.meta.get(persistenceKey)) return;
  await store.meta.put({ key: persistenceKey, value: true });
  await platform.requestPersistentStorage();
};
