import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { toPendingEditKey } from "./pending-edits.ts";

const pendingDeletionPrefix = "withdrawn:";

/** Message deleted by its author before the server could be told; kept until the server confirms the deletion. */
export type PendingDeletion = { cid: Uuid; conversation: ConversationId };

/** Whether a `meta` key belongs to a pending deletion. */
export const isPendingDeletionKey = (key: string): boolean => key.startsWith(pendingDeletionPrefix);

const queryPendingDeletions = ({ meta }: LocalStore) => meta.where("key").startsWith(pendingDeletionPrefix);

/** A pending edit of the message ends. Requires a transaction over `meta`. */
export const insertPendingDeletion = async (store: LocalStore, deletion: PendingDeletion): Promise<void> => {
  await store.meta.delete(toPendingEditKey({ ...deletion, target: deletion.cid }));
  await store.meta.put({ key: pendingDeletionPrefix + deletion.cid, value: deletion });
};

export const listPendingDeletions = async (store: LocalStore): Promise<PendingDeletion[]> =>
  (await queryPendingDeletions(store).toArray()).map(({ value }) => value as PendingDeletion);

export const removePendingDeletion = async ({ meta }: LocalStore, cid: Uuid): Promise<void> =>
  meta.delete(pendingDeletionPrefix + cid);
