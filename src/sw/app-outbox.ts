import * as v from "valibot";
import { ConversationId, type Uuid } from "#contract/ids.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import { AppOutboxRow } from "./select-messages.ts";

type AppOutbox = {
  rows: AppOutboxRow[];
  /** Conversations whose log the app compares with a restored server before it sends to them. */
  held: ReadonlySet<ConversationId>;
};

const HeldConversation = v.object({ id: ConversationId, forked: v.object({}) });

const toPromise = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * Reads the app's outbox in the local store without Dexie. Undefined if it cannot be read now: the app rebuilds or
 * creates its database, and its messages must not be overtaken.
 */
export const readAppOutbox = async (user: Uuid): Promise<AppOutbox | undefined> => {
  const name = storeNamePrefix + user;
  const databases = new Set((await indexedDB.databases()).map((database) => database.name));
  if (databases.has(`${name}-backup`)) return undefined;
  if (!databases.has(name)) return { rows: [], held: new Set() };
  let database: IDBDatabase | undefined;
  try {
    const opening = indexedDB.open(name);
    opening.onupgradeneeded = () => opening.transaction?.abort(); // deleted just now: only the app creates it
    database = await toPromise(opening);
    const transaction = database.transaction(["outbox", "conversations"]);
    const stored: unknown[] = await toPromise(transaction.objectStore("outbox").getAll());
    const rows = stored.map((row) => v.parse(AppOutboxRow, row));
    const held = new Set<ConversationId>();
    for (const id of new Set(rows.map(({ conversation }) => conversation))) {
      if (v.is(HeldConversation, await toPromise(transaction.objectStore("conversations").get(id)))) held.add(id);
    }
    return { rows, held };
  } catch {
    return undefined; // of another version
  } finally {
    database?.close();
  }
};

/** People who have a local store or an outbox of the service worker on this device. */
export const listStoreOwners = async (): Promise<Uuid[]> => {
  const pattern = new RegExp(`^${storeNamePrefix}([0-9a-f-]{36})(-background)?$`);
  const names = (await indexedDB.databases()).map(({ name = "" }) => pattern.exec(name)?.[1]);
  return [...new Set(names.filter((id) => id !== undefined))];
};
