import type { Uuid } from "#contract/ids.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { runInBackground } from "#sync/store/sync-context.ts";

/** Data used by calls on this device. Each side of a call has its own numbers; the server has none. */
const callDataUseKey = "call-use";
const maxStoredCalls = 200;

/** Bytes per call, the latest call last. */
type StoredDataUse = [Uuid, number][];

const readStoredDataUse = async (store: LocalStore): Promise<StoredDataUse> =>
  ((await store.meta.get(callDataUseKey))?.value as StoredDataUse | undefined) ?? [];

/** Saves the bytes of a call since its start. The greatest value counts: a reload during a call starts from zero. */
export const saveCallDataUse = (store: LocalStore, id: Uuid, bytes: number): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    const uses = await readStoredDataUse(store);
    const before = uses.find(([call]) => call === id)?.[1] ?? 0;
    const others = uses.filter(([call]) => call !== id);
    await store.meta.put({
      key: callDataUseKey,
      value: [...others, [id, Math.max(before, bytes)]].slice(-maxStoredCalls),
    });
  });

/** Bytes by call id. */
export type CallDataUse = Readonly<Partial<Record<Uuid, number>>>;

export const readCallDataUse = async (store: LocalStore): Promise<CallDataUse> =>
  Object.fromEntries(await readStoredDataUse(store));

/** Bytes of one call; 0 if unknown. */
export const findCallDataUse = async (id: Uuid): Promise<number> => {
  const store = currentEngine.get()?.client.context.get()?.store;
  return (store && (await readCallDataUse(store))[id]) ?? 0;
};

/** Records the bytes that a call of this device used since its start, sent and received. */
export const recordCallDataUse = (id: Uuid, bytes: number): void => {
  const context = currentEngine.get()?.client.context.get();
  if (context && bytes > 0) runInBackground(context, saveCallDataUse(context.store, id, bytes));
};
