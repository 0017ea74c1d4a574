import type { ConversationId, Uuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { listUnsentFiles } from "#sync/unsent/messages.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import type { LocalStore } from "./database.ts";

/** The local store with the unsent messages, whose files must stay. */
type FileScope = { store: LocalStore; unsent: Pick<UnsentStore, "list"> };

/** Deletes cached files, except those that unsent messages reference. */
export const deleteCachedFiles = ({ store, unsent }: FileScope, files: readonly Uuid[]): Promise<void> =>
  store.transaction("rw", [store.files, store.blobs], async () => {
    const needed = listUnsentFiles(unsent);
    const cached = (await store.files.bulkGet([...files])).flatMap((row) => row?.file ?? []);
    const removable = cached.filter((file) => !needed.has(file));
    await Promise.all([store.files.bulkDelete(removable), store.blobs.bulkDelete(removable)]);
  });

/** Evicts the least recently used cached files until at most `maxBytes` remain. Files of unsent messages are kept. */
export const evictCachedFiles = async (scope: FileScope, maxBytes: number): Promise<void> => {
  const { store } = scope;
  const rows = await store.files.toArray();
  let bytes = rows.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= maxBytes) return;
  const needed = listUnsentFiles(scope.unsent);
  rows.sort((a, b) => a.usedAt - b.usedAt);
  for (const { file, size } of rows) {
    if (bytes <= maxBytes) return;
    if (needed.has(file)) continue;
    await deleteCachedFiles(scope, [file]); // one transaction each: a full device has no space for a large one
    bytes -= size;
  }
};

/** Evicts all but the newest page of messages of every conversation. They can be fetched again. */
export const evictCachedMessages = async (store: LocalStore): Promise<void> => {
  const large: { id: ConversationId; count: number }[] = [];
  await store.conversations.each(({ id, storedFrom, storedTo }) => {
    if (storedTo - storedFrom + 1 > messagePageRows) large.push({ id, count: storedTo - storedFrom + 1 });
  });
  large.sort((a, b) => b.count - a.count);
  // One transaction each: deleting everything at once would itself need much space.
  for (const { id } of large) {
    await store.transaction("rw", [store.conversations, store.messages], async () => {
      const row = await store.conversations.get(id);
      if (!row) return;
      row.storedFrom = Math.max(row.storedFrom, row.storedTo - messagePageRows + 1);
      await store.queryMessages(id, 0, row.storedFrom - 1).delete();
      await store.conversations.put(row);
    });
  }
};

const persistenceKey = "persistenceAsked";
const checkedStores = new WeakSet<LocalStore>();

/** Requests persistent storage from the browser, once per device. */
export const requestPersistenceOnce = async ({
  store,
  platform,
}: {
  store: LocalStore;
  platform: Platform;
}): Promise<void> => {
  if (checkedStores.has(store)) return;
  checkedStores.add(store);
  if (await store.meta.get(persistenceKey)) return;
  await store.meta.put({ key: persistenceKey, value: true });
  await platform.requestPersistentStorage();
};
