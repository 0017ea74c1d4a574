import type { Context } from "./context.ts";

const key = "persistenceAsked";
const asked = new WeakSet<Context>();

/** Asks for storage that lasts, once on a device. */
export const askPersistenceOnce = async (context: Context): Promise<void> => {
  if (asked.has(context)) return;
  asked.add(context);
  const { store, platform } = context;
  if (await store.meta.get(key)) return;
  await store.meta.put({ key, value: true });
  await platform.askPersistence();
};
