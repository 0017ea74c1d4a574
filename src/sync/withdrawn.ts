import type { ConversationId, Uuid } from "../../contract/ids";
import type { ConversationRow, Store } from "./store";

const prefix = "withdrawn:";
const keptMs = 30 * 24 * 3_600_000;

/** A message that its author deleted while it may have been on its way: should it arrive, it is deleted there. */
export type Withdrawn = {
  cid: Uuid;
  conversation: ConversationId;
  at: number;
  /** Where it arrived, and in which log. */
  place?: { seq: number; epoch: string };
};

/** Whether a row of `meta` under this key is one. */
export const isNoteOfWithdrawn = (key: string): boolean => key.startsWith(prefix);

const all = ({ meta }: Store) => meta.where("key").startsWith(prefix);

/** Within a transaction over `meta`. */
export const noteWithdrawn = async (store: Store, withdrawn: Withdrawn): Promise<void> => {
  await all(store)
    .filter(({ value }) => (value as Withdrawn).at < withdrawn.at - keptMs)
    .delete();
  await store.meta.put({ key: prefix + withdrawn.cid, value: withdrawn });
};

export const listWithdrawn = async (store: Store): Promise<Withdrawn[]> =>
  (await all(store).toArray()).map(({ value }) => value as Withdrawn);

export const forgetWithdrawn = async ({ meta }: Store, cid: Uuid): Promise<void> => meta.delete(prefix + cid);

/** Where messages of one's own turned out to stand. */
export type Places = ReadonlyMap<Uuid, { row: ConversationRow; seq: number }>;

/** Within a transaction over `meta`: true when one of them had been withdrawn. */
export const placeWithdrawn = async (store: Store, places: Places): Promise<boolean> => {
  if (places.size === 0) return false;
  let isOne = false;
  for (const withdrawn of await listWithdrawn(store)) {
    const { cid, place } = withdrawn;
    const found = places.get(cid);
    // Of a log that is not known yet it is found again when that is.
    if (!found || place || found.row.epoch === "") continue;
    const value: Withdrawn = { ...withdrawn, place: { seq: found.seq, epoch: found.row.epoch } };
    await store.meta.put({ key: prefix + cid, value });
    isOne = true;
  }
  return isOne;
};
