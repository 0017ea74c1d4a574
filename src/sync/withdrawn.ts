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
  const arrived = (await listWithdrawn(store)).filter(({ cid, place }) => places.has(cid) && !place);
  for (const withdrawn of arrived) {
    const { row, seq } = places.get(withdrawn.cid) as { row: ConversationRow; seq: number };
    const value: Withdrawn = { ...withdrawn, place: { seq, epoch: row.epoch } };
    await store.meta.put({ key: prefix + withdrawn.cid, value });
  }
  return arrived.length > 0;
};
