import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Store } from "./database.ts";

const prefix = "withdrawn:";

/** A message that its author deleted when the server could not be told, until it knows. */
export type Withdrawn = { cid: Uuid; conversation: ConversationId };

/** Whether a row of `meta` under this key is one. */
export const isNoteOfWithdrawn = (key: string): boolean => key.startsWith(prefix);

const all = ({ meta }: Store) => meta.where("key").startsWith(prefix);

/** Within a transaction over `meta`. */
export const noteWithdrawn = async (store: Store, withdrawn: Withdrawn): Promise<void> => {
  await store.meta.put({ key: prefix + withdrawn.cid, value: withdrawn });
};

export const listWithdrawn = async (store: Store): Promise<Withdrawn[]> =>
  (await all(store).toArray()).map(({ value }) => value as Withdrawn);

export const forgetWithdrawn = async ({ meta }: Store, cid: Uuid): Promise<void> => meta.delete(prefix + cid);
