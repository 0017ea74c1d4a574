import { running } from "../../sync/engine";

/** How many messages exist on this device only. */
export const countUnsent = async (): Promise<number> => {
  const context = running.get()?.tab.context.get();
  return context ? context.store.outbox.count() : 0;
};
