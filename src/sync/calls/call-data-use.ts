import type { Uuid } from "#contract/ids.ts";
import { activeEngine } from "#sync/engine.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { runInBackground } from "#sync/store/sync-context.ts";

/** What calls cost this phone, kept here alone: each side has numbers of its own, and the server has none. */
const callDataUseKey = "call-use";
const maxStoredCalls = 200; // calls

/** Bytes by call, the latest call last. */
type StoredDataUse = [Uuid, number][];

const readStoredDataUse = async (store: LocalStore): Promise<StoredDataUse> =>
  ((await store.meta.get(callDataUseKey))?.value as StoredDataUse | undefined) ?? [];

/** So many since it began. Told again, as after a reload in the middle of a call, the most counts. */
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

/** By call. */
export type CallDataUse = Readonly<Partial<Record<Uuid, number>>>;

export const readCallDataUse = async (store: LocalStore): Promise<CallDataUse> =>
  Object.fromEntries(await readStoredDataUse(store));

/** What is known of one call. */
export const findCallDataUse = async (id: Uuid): Promise<number> => {
  const store = activeEngine.get()?.tab.context.get()?.store;
  return (store && (await readCallDataUse(store))[id]) ?? 0;
};

/** A call of this phone used so many bytes, both ways, since it began. */
export const recordCallDataUse = (id: Uuid, bytes: number): void => {
  const context = activeEngine.get()?.tab.context.get();
  if (context && bytes > 0) runInBackground(context, saveCallDataUse(context.store, id, bytes));
};
