import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalStore } from "./database.ts";

const pendingDeletionPrefix = "withdrawn:";

/** A message that its author deleted when the server could not be told, until it knows. */
export type PendingDeletion = { cid: Uuid; conversation: ConversationId };

/** Whether a row of `meta` under this key is one. */
export const isPendingDeletionKey = (key: string): boolean => key.startsWith(pendingDeletionPrefix);

const queryPendingDeletions = ({ meta }: LocalStore) => meta.where("key").startsWith(pendingDeletionPrefix);

/** Within a transaction over `meta`. */
export const insertPendingDeletion = async (store: LocalStore, withdrawn: PendingDeletion): Promise<void> => {
  await store.meta.put({ key: pendingDeletionPrefix + withdrawn.cid, value: withdrawn });
};

export const listPendingDeletions = async (store: LocalStore): Promise<PendingDeletion[]> =>
  (await queryPendingDeletions(store).toArray()).map(({ value }) => value as PendingDeletion);

export const removePendingDeletion = async ({ meta }: LocalStore, cid: Uuid): Promise<void> =>
  meta.delete(pendingDeletionPrefix + cid);
