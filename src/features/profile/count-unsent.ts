import type { Uuid } from "../../../contract/ids";
import { Store, storeName } from "../../sync/store";

/** How many messages exist on this device only. */
export const countUnsent = async (userId: Uuid): Promise<number> => {
  const store = new Store(storeName(userId), "relaxed", {});
  try {
    return await store.outbox.count();
  } finally {
    store.close();
  }
};
