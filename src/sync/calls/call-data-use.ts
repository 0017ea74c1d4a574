import type { Uuid } from "#contract/ids.ts";
import { running } from "#sync/engine.ts";
import { inBackground } from "#sync/store/context.ts";
import type { Store } from "#sync/store/database.ts";

/** What calls cost this phone, kept here alone: each side has numbers of its own, and the server has none. */
const useKey = "call-use";
const keptMax = 200; // calls

/** Bytes by call, the latest call last. */
type Uses = [Uuid, number][];

const readUses = async (store: Store): Promise<Uses> =>
  ((await store.meta.get(useKey))?.value as Uses | undefined) ?? [];

/** So many since it began. Told again, as after a reload in the middle of a call, the most counts. */
export const keepUse = (store: Store, id: Uuid, bytes: number): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    const uses = await readUses(store);
    const before = uses.find(([call]) => call === id)?.[1] ?? 0;
    const others = uses.filter(([call]) => call !== id);
    await store.meta.put({ key: useKey, value: [...others, [id, Math.max(before, bytes)]].slice(-keptMax) });
  });

/** By call. */
export type CallUses = Readonly<Partial<Record<Uuid, number>>>;

export const readCallUses = async (store: Store): Promise<CallUses> => Object.fromEntries(await readUses(store));

/** What is known of one call. */
export const findCallUse = async (id: Uuid): Promise<number> => {
  const store = running.get()?.tab.context.get()?.store;
  return (store && (await readCallUses(store))[id]) ?? 0;
};

/** A call of this phone used so many bytes, both ways, since it began. */
export const rememberUse = (id: Uuid, bytes: number): void => {
  const context = running.get()?.tab.context.get();
  if (context && bytes > 0) inBackground(context, keepUse(context.store, id, bytes));
};
