import Dexie from "dexie";
import * as v from "valibot";
import { Body } from "../../contract/conversations";
import { errorCodes } from "../../contract/errors";
import { ConversationId, Uuid } from "../../contract/ids";
import { dropAside, keepAside, readAside } from "./aside";
import type { Platform } from "./platform";
import { blankRow, placeInList } from "./rows";
import { type OutboxRow, Store, storeName } from "./store";

export type Stores = { store: Store; strict: Store };
type Where = NonNullable<Platform["storage"]>;

export type Opened = Stores & {
  /** "memory": nothing here outlives this page. */
  trouble: "memory" | undefined;
};

const Rescued = v.object({
  cid: Uuid,
  conversation: ConversationId,
  order: v.number(),
  body: Body,
  createdAt: v.number(),
  state: v.picklist(["queued", "failed"]),
  error: v.optional(v.picklist(errorCodes)),
  attempts: v.number(),
});

/** A store that answers neither yes nor no: it may be sound, and what is in it is not to be given up. */
class StuckStoreError extends Error {}

const withTimeout = <T>(platform: Platform, work: Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const cancel = platform.after(platform.openTimeoutMs, () =>
      reject(new StuckStoreError("the local store does not open")),
    );
    work.then(resolve, reject).finally(cancel);
  });

export const closeStores = ({ store, strict }: Stores): void => {
  store.close();
  strict.close();
};

/**
 * A page that is left while it makes its store can be frozen with the store half made, and then no page can open
 * it. A page that holds a lock is not frozen: leaving it ends it, and what it had begun is undone.
 */
const unfrozen = async <T>({ locks }: Platform, name: string, work: () => Promise<T>): Promise<T> =>
  locks ? locks.request(`${name}-opening`, { mode: "shared" }, work) : work();

const openPlainly = async (platform: Platform, name: string, where: Partial<Where>): Promise<Stores> => {
  const stores = { store: new Store(name, "relaxed", where), strict: new Store(name, "strict", where) };
  try {
    await unfrozen(platform, name, () =>
      withTimeout(platform, Promise.all([stores.store.open(), stores.strict.open()])),
    );
    // A store that opens is not yet one that can be read.
    await stores.store.conversations.limit(1).toArray();
    await stores.store.outbox.limit(1).toArray();
    return stores;
  } catch (error) {
    closeStores(stores);
    throw error;
  }
};

/** Reads what is unsent out of a store that this version cannot use, by the plainest way there is. */
const rescueOutbox = async (platform: Platform, name: string): Promise<OutboxRow[]> => {
  const old = new Dexie(name, { ...platform.storage, autoOpen: false });
  try {
    await withTimeout(platform, old.open());
    const rows: unknown[] = await old.table("outbox").toArray();
    return rows.flatMap((row) => {
      const parsed = v.safeParse(Rescued, row);
      return parsed.success ? [parsed.output as OutboxRow] : [];
    });
  } catch (error) {
    if (error instanceof StuckStoreError) throw error;
    return []; // nothing of it can be read
  } finally {
    old.close();
  }
};

const putBack = async ({ strict }: Stores, me: Uuid, rows: OutboxRow[]): Promise<void> => {
  await strict.transaction("rw", [strict.outbox, strict.conversations], async () => {
    await strict.outbox.bulkPut(rows);
    for (const { conversation, createdAt } of rows) {
      const row = (await strict.conversations.get(conversation)) ?? blankRow(conversation, me);
      placeInList(row, Math.max(createdAt, row.lastAt));
      await strict.conversations.put(row);
    }
  });
};

/**
 * Makes the store anew, keeping what is unsent; everything else comes from the server again. A store that is
 * only stuck stays as it is, and this page works from memory.
 */
const recreate = async (platform: Platform, me: Uuid): Promise<Opened> => {
  const name = storeName(me);
  let unsent: OutboxRow[] = [];
  try {
    unsent = await rescueOutbox(platform, name);
    await keepAside(platform, name, unsent);
    await withTimeout(platform, new Dexie(name, { ...platform.storage, autoOpen: false }).delete());
    const stores = await openPlainly(platform, name, platform.storage ?? {});
    await takeBack(stores, platform, me);
    return { ...stores, trouble: undefined };
  } catch {
    return openInMemory(platform, me, unsent);
  }
};

/** Puts back what stands aside, from this page or from one that died before it could. */
const takeBack = async (stores: Stores, platform: Platform, me: Uuid): Promise<void> => {
  await putBack(stores, me, await readAside(platform, storeName(me)));
  await dropAside(platform, storeName(me));
};

const openInMemory = async (platform: Platform, me: Uuid, unsent: OutboxRow[]): Promise<Opened> => {
  const where = await platform.loadMemoryStorage();
  // Live queries do nothing while Dexie believes that there is no IndexedDB.
  Dexie.dependencies.indexedDB ??= where.indexedDB;
  const stores = await openPlainly(platform, storeName(me), where);
  await putBack(stores, me, unsent);
  return { ...stores, trouble: "memory" };
};

/** Opens a person's store; `isSuspect` when it opened before and could not be worked with. */
export const openStores = async (platform: Platform, me: Uuid, isSuspect: boolean): Promise<Opened> => {
  if (isSuspect) return recreate(platform, me);
  try {
    const stores = await openPlainly(platform, storeName(me), platform.storage ?? {});
    const isNew = (await stores.store.meta.get("cursor")) === undefined;
    if (isNew) await takeBack(stores, platform, me);
    return { ...stores, trouble: undefined };
  } catch {
    return recreate(platform, me);
  }
};

export const deleteStore = async (platform: Platform, name: string): Promise<void> => {
  await new Dexie(name, { ...platform.storage, autoOpen: false }).delete();
  await dropAside(platform, name);
};

/** After a session that ended without a sign-out: only what nobody else has stays, unsent messages and drafts. */
export const keepUnsentOnly = async (platform: Platform, me: Uuid): Promise<void> => {
  const { store, strict } = await openPlainly(platform, storeName(me), platform.storage ?? {});
  const drafts = await store.drafts().toArray();
  const isWorthKeeping = drafts.length > 0 || (await store.outbox.count()) > 0;
  if (isWorthKeeping) {
    await store.transaction("rw", [store.people, store.conversations, store.messages, store.meta], async () => {
      await Promise.all([store.people, store.conversations, store.messages, store.meta].map((table) => table.clear()));
      await store.meta.bulkPut(drafts);
    });
  }
  closeStores({ store, strict });
  if (!isWorthKeeping) await deleteStore(platform, storeName(me));
};
