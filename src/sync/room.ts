import type { ConversationId } from "../../contract/ids";
import { messagePageRows } from "../../contract/limits";
import type { Store } from "./store";

/** Dexie wraps what the browser threw, sometimes twice. */
export const isQuotaError = (error: unknown): boolean => {
  for (let cause: unknown = error; typeof cause === "object" && cause !== null; ) {
    if ("name" in cause && cause.name === "QuotaExceededError") return true;
    cause = "inner" in cause ? cause.inner : undefined;
  }
  return false;
};

/** Drops the oldest cached messages of every conversation that holds more than a screenful; they can be fetched again. */
export const trimMessages = async (store: Store): Promise<void> => {
  const big: { id: ConversationId; count: number }[] = [];
  await store.conversations.each(({ id, lo, hi }) => {
    if (hi - lo + 1 > messagePageRows) big.push({ id, count: hi - lo + 1 });
  });
  big.sort((a, b) => b.count - a.count);
  // One transaction each: a deletion of everything at once would itself need much room.
  for (const { id } of big) {
    await store.transaction("rw", [store.conversations, store.messages], async () => {
      const row = await store.conversations.get(id);
      if (!row) return;
      row.lo = Math.max(row.lo, row.hi - messagePageRows + 1);
      await store.range(id, 0, row.lo - 1).delete();
      await store.conversations.put(row);
    });
  }
};
